// SPDX-License-Identifier: GPL-2.0-or-later
#include "traffic-gen/profiles/connections.hpp"
#include "traffic-gen/profiles/exchanges.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace ipoib::traffic {
using namespace wire;

namespace {

/// A port of one parent, which takes no connections, and children that do.
struct Family {
    build::Node parent;
    std::vector<build::Node> children;
};

/// The families of one link.
class Village {
public:
    /// `next`: the number of the next connection of all.
    Village(Stage& stage, std::size_t number, std::uint32_t& next)
        : stage_(stage), net_(stage.scene().nets()[number]), number_(number), next_(next) {
        constexpr std::size_t most_families = 16, most_children = 7;
        const auto count = std::min(net_.hosts.size(), most_families);
        for (std::size_t i = 0; i < count; ++i) {
            auto& family = families_.emplace_back(Family{net_.hosts[i], {}});
            const auto children = 1 + (i + stage.options().seed) % most_children;
            for (std::size_t n = 0; n < children; ++n) {
                family.children.push_back(child_of(family.parent, stage.scene(), i * most_children + n, number));
                family.children.back().link_flags = n % 2 == 0 ? flag_rc : flag_rc | flag_uc;
            }
        }
    }

    /// Of interfaces that were there before the capture nothing but this is seen.
    void old_friends() {
        constexpr std::size_t first_old = 0x800, olds = 0x400;
        const auto index = first_old + stage_.any(olds);
        const auto [from, to] = two();
        auto one = child_of(families_[from].parent, stage_.scene(), index, number_);
        auto other = child_of(families_[to].parent, stage_.scene(), index + 1, number_);
        one.link_flags = other.link_flags = flag_rc;
        Connection connection{stage_, net_.link, one, other, next_++};
        connection.begin();
        connection.echo(1, stage_.size());
        connection.close();
    }
    /// A child finds a child of another port, unless it still knows its address; both at once may ask.
    void connect() {
        const auto [from, to] = two();
        const auto &one = any_child(from), &other = any_child(to);
        Connection connection{stage_, net_.link, one, other, next_++};
        if (resolved_.emplace(one.qpn, other.qpn).second) connection.resolve();
        stage_.any(2) == 0 ? connection.begin_crossing() : connection.begin();
        for (std::uint16_t i = 0; i < 2; ++i) connection.echo(i, stage_.size());
        connection.close();
    }
    /// A child comes up anew; who has not heard of it asks at the Service-ID of the queue pair that is gone.
    void asks_in_vain() {
        const auto [from, to] = two();
        auto& child = families_[to].children[stage_.any(families_[to].children.size())];
        const auto& asker = any_child(from);
        const auto before = child;
        Connection{stage_, net_.link, asker, before, next_++}.resolve();
        child.qpn = first_new_qpn + next_;
        Connection{stage_, net_.link, asker, before, next_++}.finds_no_service();
        Connection again{stage_, net_.link, asker, child, next_++};
        again.resolve();
        again.begin();
        again.echo(1, stage_.size());
        again.close();
    }
    /// A parent had taken connections, and is set to datagrams: who has its old address asks once more.
    void asks_parent() {
        const auto [from, to] = two();
        auto connected = families_[to].parent;
        connected.link_flags = flag_rc;
        Connection connection{stage_, net_.link, any_child(from), connected, next_++};
        connection.resolve();
        connection.finds_no_service();
        announce4(stage_, families_[to].parent, net_.link);
        datagrams(any_child(from), families_[to].parent);
    }
    void parents_speak() {
        const auto [from, to] = two();
        datagrams(families_[from].parent, stage_.any(2) == 0 ? families_[to].parent : any_child(to));
    }

private:
    static constexpr std::uint32_t first_new_qpn = 0x400000;

    [[nodiscard]] std::pair<std::size_t, std::size_t> two() {
        const auto first = stage_.any(families_.size());
        return {first, (first + 1 + stage_.any(families_.size() - 1)) % families_.size()};
    }
    [[nodiscard]] const build::Node& any_child(std::size_t family) {
        const auto& children = families_[family].children;
        return children[stage_.any(children.size())];
    }
    /// What one of the two cannot have over a connection goes over UD. RFC 4755, 2.
    void datagrams(const build::Node& from, const build::Node& to) {
        const Net pair{net_.link, {from, to}};
        resolve(stage_, pair, 0, 1);
        const auto size = stage_.size();
        stage_.send(build::echo_request(from, to, net_.link, 1, size));
        stage_.send(build::echo_reply(to, from, net_.link, 1, size));
    }

    Stage& stage_;
    Net net_;
    std::size_t number_;
    std::uint32_t& next_;
    std::vector<Family> families_;
    std::set<std::pair<std::uint32_t, std::uint32_t>> resolved_{};  ///< queue pairs that know each other
};

}  // namespace

/// RFC 4755, 2 and 3: connected mode is a property of an interface.
const Profile mixed_modes{
    .name = "mixed-modes",
    .what = "parents for datagrams beside connected children, REQs at Service-IDs that are gone",
    .impact = Impact::link,
    .no_fabric = "there are no queue pairs behind its connections",
    .prepare = bring_up_senders,
    .play =
        [](Stage& stage) {
            std::uint32_t next = 0;
            std::vector<Village> links;
            for (std::size_t i = 0; i < stage.scene().nets().size(); ++i) links.emplace_back(stage, i, next);
            constexpr std::array what{&Village::old_friends, &Village::connect, &Village::asks_in_vain,
                                      &Village::asks_parent, &Village::parents_speak};
            while (stage.goes_on()) (links[stage.any(links.size())].*what[stage.any(what.size())])();
        },
};

}  // namespace ipoib::traffic
