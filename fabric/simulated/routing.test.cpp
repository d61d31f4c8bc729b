// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/simulated/routing.hpp"

#include "catch2.hpp"

#include <random>

namespace ipoib::fabric::simulated {
namespace {

using namespace wire;

constexpr std::uint16_t mlid = 0xc021;
constexpr std::uint8_t up = 1;

/// Three levels: the top, `left` at its port 30 and `right` at its port 31, `far` at port 30 of `right`.
struct Tree {
    Tree() {
        top = routing.add({.ports = 36});
        left = routing.add({.parent = top, .parent_port = 30, .uplink = up, .ports = 36});
        right = routing.add({.parent = top, .parent_port = 31, .uplink = up, .ports = 36});
        far = routing.add({.parent = right, .parent_port = 30, .uplink = up, .ports = 36});
        routing.place(0x10, top, 10);
        routing.place(0x11, left, 11);
        routing.place(0x12, right, 12);
        routing.place(0x13, far, 20);
        (void)routing.take_changes();
    }
    [[nodiscard]] unsigned port(Routing::Index at, std::uint16_t lid) const {
        OctetArray<64> data{};
        routing.fill({at, smp_attribute::linear_forwarding_table, std::uint32_t{lid} / 64}, data);
        return LinearBlock::read(data, lid % 64);
    }
    /// The ports that a switch copies the group's packets to.
    [[nodiscard]] std::vector<unsigned> copies(Routing::Index at) const {
        std::vector<unsigned> found;
        for (std::uint8_t position = 0; position < 3; ++position) {
            OctetArray<64> data{};
            const MulticastModifier where{.block = (mlid - 0xc000) / 32, .position = position};
            routing.fill({at, smp_attribute::multicast_forwarding_table, where.value()}, data);
            const unsigned mask = MulticastBlock::read(data, (mlid - 0xc000) % 32);
            for (unsigned i = 0; i < 16; ++i)
                if (mask >> i & 1) found.push_back(position * 16u + i);
        }
        return found;
    }
    Routing routing;
    Routing::Index top, left, right, far;
};
using Ports = std::vector<unsigned>;

TEST_CASE("Routing: every switch knows the port towards every LID") {
    const Tree tree;
    CHECK(tree.port(tree.top, 0x10) == 10);
    CHECK(tree.port(tree.top, 0x11) == 30);
    CHECK(tree.port(tree.top, 0x13) == 31);
    CHECK(tree.port(tree.left, 0x11) == 11);
    CHECK(tree.port(tree.left, 0x13) == up);
    CHECK(tree.port(tree.right, 0x13) == 30);
    CHECK(tree.port(tree.right, 0x11) == up);
    CHECK(tree.port(tree.far, 0x13) == 20);
    CHECK(tree.port(tree.far, 0x10) == up);
    CHECK(tree.port(tree.top, 0x20) == no_port);
}

TEST_CASE("Routing: a LID that is gone leads nowhere, and every switch is to be told") {
    Tree tree;
    tree.routing.remove(0x13);
    CHECK(tree.port(tree.top, 0x13) == no_port);
    CHECK(tree.port(tree.far, 0x13) == no_port);
    CHECK(tree.routing.take_changes().size() == 4);
    tree.routing.remove(0x13);
    CHECK(tree.routing.take_changes().empty());
}

TEST_CASE("Routing: a new switch is to be told of everything") {
    Tree tree;
    tree.routing.route(mlid, {{0x10, 0x11}, {}});
    (void)tree.routing.take_changes();
    const auto added = tree.routing.add({.parent = tree.far, .parent_port = 30, .uplink = up, .ports = 36});
    std::set<std::uint16_t> attributes;
    for (const auto& block : tree.routing.take_changes()) {
        CHECK(block.at == added);
        attributes.insert(block.attribute);
    }
    CHECK(attributes.size() == 2);
    CHECK(tree.port(added, 0x13) == up);
}

TEST_CASE("Routing: a group's packets reach its members by the ways between them and no others") {
    Tree tree;
    tree.routing.route(mlid, {{0x11, 0x13}, {}});
    CHECK(tree.copies(tree.left) == Ports{up, 11});
    CHECK(tree.copies(tree.top) == Ports{30, 31});
    CHECK(tree.copies(tree.right) == Ports{up, 30});
    CHECK(tree.copies(tree.far) == Ports{up, 20});

    SECTION("and none when it is over") {
        tree.routing.route(mlid, {});
        for (const auto at : {tree.top, tree.left, tree.right, tree.far}) CHECK(tree.copies(at).empty());
    }
}

TEST_CASE("Routing: members on one switch need no other") {
    Tree tree;
    tree.routing.place(0x14, tree.far, 21);
    tree.routing.route(mlid, {{0x13, 0x14}, {}});
    CHECK(tree.copies(tree.far) == Ports{20, 21});
    for (const auto at : {tree.top, tree.left, tree.right}) CHECK(tree.copies(at).empty());
}

TEST_CASE("Routing: a port that only sends is connected to the tree and gets no copy") {
    Tree tree;
    tree.routing.route(mlid, {{0x13}, {0x11}});
    CHECK(tree.copies(tree.left) == Ports{up});
    CHECK(tree.copies(tree.top) == Ports{31});
    CHECK(tree.copies(tree.right) == Ports{30});
    CHECK(tree.copies(tree.far) == Ports{20});
}

TEST_CASE("Routing: a port that receives and sends only counts once, as receiver") {
    Tree tree;
    tree.routing.route(mlid, {{0x11, 0x13}, {0x11}});
    CHECK(tree.copies(tree.left) == Ports{up, 11});
}

TEST_CASE("Routing: who may send is told for the ports of each switch") {
    Tree tree;
    tree.routing.route(mlid, {{0x13}, {0x11}});
    const auto senders = tree.routing.take_senders();
    REQUIRE(senders.size() == 2);
    CHECK(senders[0].at == tree.left);
    CHECK(senders[0].mlid == mlid);
    CHECK(senders[0].ports.has(11));
    CHECK(senders[1].at == tree.far);
    CHECK(senders[1].ports.has(20));
}

TEST_CASE("Routing: a member that moves takes its place in the tree along") {
    Tree tree;
    tree.routing.route(mlid, {{0x10, 0x13}, {}});
    tree.routing.remove(0x13);
    CHECK(tree.copies(tree.top) == Ports{10});
    tree.routing.place(0x13, tree.left, 13);
    CHECK(tree.copies(tree.top) == Ports{10, 30});
    CHECK(tree.copies(tree.left) == Ports{up, 13});
    CHECK(tree.copies(tree.far).empty());
}

TEST_CASE("Routing: only the blocks whose content changed are to be written") {
    Tree tree;
    tree.routing.route(mlid, {{0x10}, {}});
    const auto changed = tree.routing.take_changes();
    REQUIRE(changed.size() == 1);
    CHECK(*changed.begin() == Routing::Block{tree.top, smp_attribute::multicast_forwarding_table,
                                             MulticastModifier{.block = (mlid - 0xc000) / 32, .position = 0}.value()});
    tree.routing.route(mlid, {{0x10}, {}});
    CHECK(tree.routing.take_changes().empty());
}

/// A tree that grows by chance, and what is known of it, to be looked at in the plainest way.
class Forest {
public:
    explicit Forest(std::uint64_t seed) : chance_(seed) { grow(); }
    void step() {
        const auto lid = static_cast<std::uint16_t>(1 + any(12));
        const auto group = static_cast<std::uint16_t>(0xc000 + any(3));
        auto& routes = routes_[group];
        switch (any(8)) {
            case 0:
                return parents_.size() < 7 ? grow() : void();
            case 1:
                return places_.erase(lid) ? routing.remove(lid) : void();
            case 2:
            case 3: {
                places_[lid] = {static_cast<Routing::Index>(any(parents_.size())),
                                static_cast<std::uint8_t>(20 + any(3))};
                return routing.place(lid, places_[lid].first, places_[lid].second);
            }
            case 4:
                routes = {};
                for (auto left = any(5); left > 0; --left) (any(2) ? routes.to : routes.from_only).insert(any_lid());
                return routing.route(group, routes);
            case 5:
                if (any(4)) return;
                routing.forget_groups();
                routes_.clear();
                return;
            default: {
                const auto part = any(3);
                routes.to.erase(lid);
                routes.from_only.erase(lid);
                if (part == 1) routes.to.insert(lid);
                if (part == 2) routes.from_only.insert(lid);
                return routing.reroute(group, lid, routes);
            }
        }
    }
    /// The ports that the content of the tables has, and those that it must have.
    void check() const {
        for (const auto& [group, routes] : routes_)
            for (Routing::Index at = 0; at < parents_.size(); ++at)
                for (std::uint8_t position = 0; position < 3; ++position) {
                    CAPTURE(group, at, position);
                    OctetArray<64> data{};
                    const MulticastModifier where{.block = 0, .position = position};
                    routing.fill({at, smp_attribute::multicast_forwarding_table, where.value()}, data);
                    REQUIRE(MulticastBlock::read(data, group - 0xc000u) == wanted(at, routes).part(position));
                }
    }
    Routing routing;

private:
    [[nodiscard]] std::size_t any(std::size_t bound) { return chance_() % bound; }
    [[nodiscard]] std::uint16_t any_lid() { return static_cast<std::uint16_t>(1 + any(12)); }
    void grow() {
        const auto number = static_cast<std::uint8_t>(parents_.size());
        const auto parent = parents_.empty() ? Routing::none : static_cast<Routing::Index>(any(parents_.size()));
        parents_.push_back(parent);
        (void)routing.add(
            {.parent = parent, .parent_port = static_cast<std::uint8_t>(2 + number), .uplink = up, .ports = 36});
    }
    [[nodiscard]] bool is_below(Routing::Index at, Routing::Index head) const {
        for (; at != Routing::none; at = parents_[at])
            if (at == head) return true;
        return false;
    }
    /// Participants and receivers that are below a switch, or not.
    [[nodiscard]] std::pair<unsigned, unsigned> on_side(Routing::Index head, bool below,
                                                        const SubnetView::Routes& routes) const {
        unsigned all = 0, receivers = 0;
        for (const auto& [lid, place] : places_) {
            if (is_below(place.first, head) != below) continue;
            receivers += routes.to.contains(lid);
            all += routes.to.contains(lid) || routes.from_only.contains(lid);
        }
        return {all, receivers};
    }
    [[nodiscard]] PortMask wanted(Routing::Index at, const SubnetView::Routes& routes) const {
        PortMask ports;
        for (const auto& [lid, place] : places_)
            if (place.first == at && routes.to.contains(lid)) ports.set(place.second);
        for (Routing::Index child = 0; child < parents_.size(); ++child) {
            const bool is_child = parents_[child] == at;
            if (!is_child && child != at) continue;
            if (child == at && parents_[at] == Routing::none) continue;
            const auto beyond = on_side(child, is_child, routes), here = on_side(child, !is_child, routes);
            if (here.first != 0 && beyond.second != 0) ports.set(is_child ? static_cast<std::uint8_t>(2 + child) : up);
        }
        return ports;
    }
    std::mt19937_64 chance_;
    std::vector<Routing::Index> parents_;
    std::map<std::uint16_t, std::pair<Routing::Index, std::uint8_t>> places_;
    std::map<std::uint16_t, SubnetView::Routes> routes_;
};

TEST_CASE("Routing: whatever happens, the tables are those of what is known in the end") {
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        Forest forest{seed};
        for (unsigned i = 0; i < 150; ++i) {
            CAPTURE(seed, i);
            forest.step();
            forest.check();
        }
    }
}

TEST_CASE("Routing: LIDs that are none, or nowhere, are left out") {
    Tree tree;
    tree.routing.place(0, tree.top, 3);
    tree.routing.place(0xc000, tree.top, 3);
    tree.routing.route(0x0010, {{0x10, 0x11}, {}});
    tree.routing.route(0xffff, {{0x10, 0x11}, {}});
    CHECK(tree.routing.take_changes().empty());
    tree.routing.route(mlid, {{0x10, 0x99, 0xfffe}, {}});
    CHECK(tree.copies(tree.top) == Ports{10});
}

}  // namespace
}  // namespace ipoib::fabric::simulated
