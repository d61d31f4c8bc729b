// SPDX-License-Identifier: GPL-2.0-or-later
// IP addresses that two ports have, and such as have moved while others still send to where they were.
#include "conformance/links/watcher.hpp"
#include "protocol/wire/ip_address.hpp"

#include <array>
#include <map>
#include <set>
#include <tuple>

namespace ipoib::links {
using namespace wire;

namespace {

class Addresses : public Watcher {
public:
    void take(const Moment& moment) override {
        if (!moment.known.link || moment.known.link->p_key == 0) return;
        questions(moment);
        answers(moment);
        unicast(moment);
    }
    [[nodiscard]] std::vector<Trouble> troubles() const override {
        std::vector<Trouble> all;
        const auto own = owners();
        for (const auto& [key, contest] : contests_) {
            if (contest.doubles > 0 || contest.changes >= most_changes) all.push_back(shared(key, contest, own));
            if (contest.stale.count > 0) all.push_back(moved(key, contest));
        }
        return all;
    }

private:
    /// Who has taken an address over may be one of two that share it in turns, as those that fail over do.
    static constexpr std::int64_t soon = 5 * second_ns;
    static constexpr unsigned most_changes = 4;
    /// After which everybody should have heard of a move.
    static constexpr std::int64_t patience = 5 * second_ns;
    static constexpr std::size_t most_contests = 16'384;

    struct Key {
        const state::Subnet* subnet;
        std::uint16_t p_key;
        Gid address;
        friend auto operator<=>(const Key&, const Key&) = default;
    };
    /// An address that two GIDs were announced with.
    struct Contest {
        std::array<Gid, 2> gids{};           ///< the latest two
        std::array<bool, 2> has_answered{};  ///< the question before
        unsigned doubles = 0;                ///< questions that both have answered
        unsigned changes = 0;                ///< from one to the other, each soon after the one before
        state::Sight changed;
        bool was_told_all = false;  ///< of that change
        Trouble seen;               ///< its frames
        Trouble stale;              ///< unicast to where it was
        Gid sender;                 ///< the first of these
    };

    Contest* contest(const Moment& moment, const Gid& address, bool may_add) {
        const Key key{&moment.subnet, moment.known.link->p_key, address};
        const auto found = contests_.find(key);
        if (found != contests_.end()) return &found->second;
        if (!may_add || contests_.size() >= most_contests) return nullptr;
        return &contests_[key];
    }
    void questions(const Moment& moment) {
        if (contests_.empty()) return;
        const auto& packet = moment.packet;
        Gid asked;
        if (packet.arp_addresses && packet.arp[Arp::operation] == Arp::request)
            asked = state::mapped(packet.arp_addresses[ArpAddresses::tpa]);
        else if (packet.icmpv6 && packet.nd_target && packet.icmpv6[Icmpv6::type] == Icmpv6Type::neighbour_solicitation)
            asked = packet.nd_target[NdTarget::target];
        if (asked.is_zero()) return;
        if (auto* one = contest(moment, asked, false)) one->has_answered = {};
    }
    void answers(const Moment& moment) {
        const auto& packet = moment.packet;
        if (packet.arp_addresses) {
            const auto& arp = packet.arp_addresses;
            if (arp[ArpAddresses::spa] != 0)
                claim(moment, state::mapped(arp[ArpAddresses::spa]), packet.arp[Arp::operation] == Arp::reply);
        } else if (packet.icmpv6 && packet.target_option && packet.nd_target) {
            claim(moment, packet.nd_target[NdTarget::target], !packet.is_multicast);
        }
    }
    void claim(const Moment& moment, const Gid& address, bool is_answer) {
        const auto* neighbour = moment.subnet.neighbour(address, moment.known.link->p_key);
        if (!neighbour || !neighbour->is_shared) return;
        auto* one = contest(moment, address, true);
        if (!one) return;
        const auto& now = moment.known.now;
        const bool has_changed = neighbour->changed.frame == now.frame && neighbour->changed.capture == now.capture;
        if (has_changed) {
            const bool is_back = one->changed && now.steady - one->changed.steady <= soon &&
                                 (neighbour->gid == one->gids[0] || neighbour->gid == one->gids[1]);
            one->changes = is_back ? one->changes + 1 : 1;
            if (!is_back) one->has_answered = {};
            one->gids = {neighbour->before, neighbour->gid};
            one->has_answered = {one->has_answered[1], false};
            one->changed = now;
            one->was_told_all = moment.packet.is_multicast;
            one->seen.show(now);
        }
        if (!is_answer) return;
        auto& [first, second_one] = one->has_answered;
        second_one = true;
        if (!first || !has_changed) return;
        ++one->doubles;
    }
    /// To the port that had the address before.
    void unicast(const Moment& moment) {
        const auto& known = moment.known;
        const auto* neighbour = known.neighbour;
        if (!neighbour || !neighbour->changed || !known.destination || moment.packet.arp_addresses) return;
        if (known.destination->port == state::none) return;
        const auto& receiver = moment.subnet.port(known.destination->port).gid;
        if (receiver != neighbour->before || receiver == neighbour->gid) return;
        if (known.now.steady - neighbour->changed.steady < patience) return;
        auto* one = contest(moment, neighbour->address, false);
        // What was said to another one alone, as a router does that answers for others, changes nothing for this
        // sender.
        if (!one || !one->was_told_all || one->changed.frame != neighbour->changed.frame) return;
        if (one->stale.count == 0 && known.sender) one->sender = known.sender->gid;
        one->stale.show(known.now);
    }

    /// Ports with an IPv4 address on a link that nobody else has.
    using Owners = std::set<std::tuple<const state::Subnet*, std::uint16_t, Gid>>;
    [[nodiscard]] Owners owners() const {
        std::set<const state::Subnet*> subnets;
        for (const auto& [key, contest] : contests_) subnets.insert(key.subnet);
        Owners all;
        for (const auto* subnet : subnets)
            for (const auto& neighbour : subnet->neighbours())
                if (!neighbour.is_shared && IpAddress{neighbour.address}.is_v4())
                    all.emplace(subnet, neighbour.p_key, neighbour.gid);
        return all;
    }
    static Trouble shared(const Key& key, const Contest& contest, const Owners& owners) {
        const auto address = text(IpAddress{key.address});
        auto trouble = contest.seen;
        trouble.subnet = key.subnet;
        trouble.p_key = key.p_key;
        trouble.ports = {contest.gids[0], contest.gids[1]};
        const auto has_own = [&](const Gid& gid) { return owners.contains({key.subnet, key.p_key, gid}); };
        const bool is_flux = IpAddress{key.address}.is_v4() && (has_own(contest.gids[0]) || has_own(contest.gids[1]));
        trouble.name = is_flux ? "arp-flux" : "duplicate-address";
        trouble.text = contest.doubles > 0 ? "{0} and {1} both answer who has " + address + ". "
                                           : "{0} and {1} announce " + address + " in turns. ";
        trouble.text +=
            is_flux ? "One of them has an address of its own besides: where they are two rails of one host, it "
                      "answers for each address on both (arp_ignore=1 and arp_announce=2 keep it from that), and "
                      "RDMA and connections go to the wrong port."
                    : "Two hosts have the same address: others reach one or the other by chance.";
        return trouble;
    }
    static Trouble moved(const Key& key, const Contest& contest) {
        auto trouble = contest.stale;
        trouble.name = "moved-address";
        trouble.subnet = key.subnet;
        trouble.p_key = key.p_key;
        trouble.ports = {contest.sender, contest.gids[0], contest.gids[1]};
        trouble.text =
            "{0} still sends to " + text(IpAddress{key.address}) +
            " at {1}, though {2} has announced it as its own more than 5 s before: what it sends is lost until its "
            "neighbour entry goes.";
        return trouble;
    }

    std::map<Key, Contest> contests_;
};

}  // namespace

std::unique_ptr<Watcher> watch_addresses() { return std::make_unique<Addresses>(); }

}  // namespace ipoib::links
