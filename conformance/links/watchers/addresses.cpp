// SPDX-License-Identifier: GPL-2.0-or-later
// IP addresses that two ports have, and such as have moved while others still send to where they were.
#include "base/listed.hpp"
#include "conformance/links/watcher.hpp"
#include "protocol/wire/ip_address.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace ipoib::links {
using namespace wire;

namespace {

/// Neighbour Advertisements whose Override flag is clear are those of anycast addresses and of proxies. RFC 4861, 4.4.
bool overrides(const Packet& packet) {
    constexpr std::uint8_t flag = 0x20;
    return packet.ip_payload.size() > 4 && (packet.ip_payload[4] & flag) != 0;
}

class Addresses : public Watcher {
public:
    [[nodiscard]] unsigned looks_at() const noexcept override {
        return contests_.empty() ? packets::resolution : packets::of_links;
    }
    void take(const Moment& moment) override {
        questions(moment);
        claims(moment);
        unicast(moment);
    }
    [[nodiscard]] std::vector<Trouble> troubles() const override {
        std::vector<Trouble> all;
        const auto own = owners();
        std::map<Holders, Shared> all_shared;
        for (const auto& [key, contest] : contests_) {
            if (is_shared(contest))
                all_shared[holders_of(key, contest)].add(key.address, contest);
            else if (contest.denied.count > 0)
                all.push_back(denied(key, contest));
            if (contest.stale.count > 0) all.push_back(moved(key, contest));
        }
        for (const auto& [holders, shared] : all_shared) all.push_back(told(holders, shared, own));
        return all;
    }

private:
    /// Who has taken an address over may be one of two that share it in turns, as those that fail over do.
    static constexpr std::int64_t soon = 5 * second_ns;
    static constexpr unsigned most_changes = 4;
    /// After which everybody should have heard of a move.
    static constexpr std::int64_t patience = 5 * second_ns;
    /// Within which an answer is one to a question.
    static constexpr std::int64_t longest_answer = 2 * second_ns;
    static constexpr std::size_t most_contests = 16'384, most_questions = 4096, most_former = 8;

    struct Key {
        const state::Subnet* subnet;
        std::uint16_t p_key;
        Gid address;
        friend auto operator<=>(const Key&, const Key&) = default;
    };
    struct Holders {
        const state::Subnet* subnet;
        std::uint16_t p_key;
        std::vector<Gid> gids;  ///< in order
        bool is_v4;
        friend auto operator<=>(const Holders&, const Holders&) = default;
    };
    /// Who has an address, asked by one port.
    struct Question {
        std::int64_t asked = 0;  ///< as Sight::steady
        Gid first;               ///< who has answered; zero: nobody yet
    };
    /// An address that two GIDs were announced with.
    struct Contest {
        std::array<Gid, 2> gids{};  ///< the latest two
        std::vector<Gid> former;    ///< all that had it before, the latest last
        unsigned doubles = 0;       ///< questions that two have answered
        unsigned changes = 0;       ///< from one to the other, each soon after the one before
        state::Sight changed;
        std::optional<std::int64_t> told_all;  ///< when, of that change
        bool is_served = false;                ///< one that had it before still sends from it
        Trouble seen;                          ///< its frames
        Trouble stale;                         ///< unicast to where it was
        std::array<Gid, 2> stale_ends{};       ///< of the first of these: sender and receiver
        Trouble denied;                        ///< answers to who wanted it
        std::array<Gid, 2> denied_ends{};      ///< of the first of these: who has it, and who wanted it
        std::vector<Gid> holders;              ///< all that have answered one question, in order
    };

    /// What the same ports have in common: the addresses of one family.
    struct Shared {
        std::vector<Gid> addresses;
        bool both_answer = false;
        Trouble seen;

        void add(const Gid& address, const Contest& contest) {
            addresses.push_back(address);
            both_answer = both_answer || contest.doubles > 0;
            for (const auto& frame : contest.seen.frames) seen.show(frame);
            seen.count += contest.seen.count - contest.seen.frames.size();
        }
        [[nodiscard]] std::string names() const {
            return listed(addresses, [](const Gid& address) { return text(IpAddress{address}); });
        }
    };

    Contest* contest(const Moment& moment, const Gid& address, bool may_add) {
        const Key key{&moment.subnet, moment.known.link->p_key, address};
        const auto found = contests_.find(key);
        if (found != contests_.end()) return &found->second;
        if (!may_add || contests_.size() >= most_contests) return nullptr;
        return &contests_[key];
    }
    void questions(const Moment& moment) {
        const auto& packet = moment.packet;
        if (packet.arp_addresses && packet.arp[Arp::operation] == Arp::request)
            ask(moment, state::mapped(packet.arp_addresses[ArpAddresses::tpa]),
                packet.arp_addresses[ArpAddresses::sha_gid]);
        else if (packet.icmpv6 && packet.nd_target && moment.known.sender &&
                 packet.icmpv6[Icmpv6::type] == Icmpv6Type::neighbour_solicitation)
            ask(moment, packet.nd_target[NdTarget::target], moment.known.sender->gid,
                packet.ipv6[Ipv6::source].is_zero());
    }
    /// Who wants the address itself asks for nobody.
    void ask(const Moment& moment, const Gid& address, const Gid& by, bool wants_it = false) {
        const auto now = moment.known.now.steady;
        if (questions_.size() >= most_questions)
            std::erase_if(questions_, [&](const auto& one) { return now - one.second.asked > longest_answer; });
        if (questions_.size() >= most_questions) questions_.clear();
        questions_[{{&moment.subnet, moment.known.link->p_key, address}, wants_it ? Gid{} : by}] = {
            .asked = now, .first = wants_it ? by : Gid{}};
    }
    /// The answer to who wants an address for itself. RFC 4862, 5.4.
    void deny(const Moment& moment, const Gid& address, const Gid& by) {
        const auto found = questions_.find({{&moment.subnet, moment.known.link->p_key, address}, Gid{}});
        if (found == questions_.end()) return;
        const auto asker = found->second.first;
        const bool is_answer =
            moment.known.now.steady - found->second.asked <= longest_answer && !are_of_one_port(asker, by);
        questions_.erase(found);
        auto* one = is_answer ? contest(moment, address, true) : nullptr;
        if (!one) return;
        if (one->denied.count == 0) one->denied_ends = {by, asker};
        one->denied.show(moment.known.now);
    }
    /// Two answers to one question; what is announced to all is no answer.
    void answer(const Moment& moment, const Gid& address, const Gid& by, const Gid& to) {
        const auto found = questions_.find({{&moment.subnet, moment.known.link->p_key, address}, to});
        if (found == questions_.end()) return;
        auto& question = found->second;
        if (moment.known.now.steady - question.asked > longest_answer) {
            questions_.erase(found);
            return;
        }
        if (question.first.is_zero()) question.first = by;
        if (are_of_one_port(question.first, by)) return;
        auto* one = contest(moment, address, true);
        if (!one) return;
        one->gids = {question.first, by};
        for (const auto& gid : one->gids) hold(*one, gid);
        ++one->doubles;
        // The answer may be what has changed the address, too.
        if (one->seen.frames.empty() || one->seen.frames.back().order != moment.known.now.order)
            one->seen.show(moment.known.now);
    }
    static void hold(Contest& contest, const Gid& gid) {
        const auto at = std::ranges::lower_bound(contest.holders, gid);
        if ((at != contest.holders.end() && *at == gid) || contest.holders.size() >= most_former) return;
        contest.holders.insert(at, gid);
    }
    void claims(const Moment& moment) {
        const auto& packet = moment.packet;
        if (const auto& arp = packet.arp_addresses) {
            const auto address = state::mapped(arp[ArpAddresses::spa]);
            if (arp[ArpAddresses::spa] == 0) return;
            claim(moment, address);
            if (packet.arp[Arp::operation] == Arp::reply && !packet.is_multicast)
                answer(moment, address, arp[ArpAddresses::sha_gid], arp[ArpAddresses::tha_gid]);
        } else if (packet.icmpv6 && packet.target_option && packet.nd_target && overrides(packet)) {
            const auto address = packet.nd_target[NdTarget::target];
            claim(moment, address);
            deny(moment, address, packet.target_option[LinkAddressOption::gid]);
            if (!packet.is_multicast && moment.known.receiver)
                answer(moment, address, packet.target_option[LinkAddressOption::gid], moment.known.receiver->gid);
        }
    }
    void claim(const Moment& moment, const Gid& address) {
        const auto* neighbour = moment.subnet.neighbour(address, moment.known.link->p_key);
        if (!neighbour || !neighbour->is_shared) return;
        auto* one = contest(moment, address, true);
        if (!one) return;
        const auto& now = moment.known.now;
        if (neighbour->changed.order == now.order && !are_of_one_port(neighbour->before, neighbour->gid)) {
            const bool is_back = one->changed && now.steady - one->changed.steady <= soon &&
                                 (neighbour->gid == one->gids[0] || neighbour->gid == one->gids[1]);
            one->changes = is_back ? one->changes + 1 : 1;
            one->gids = {neighbour->before, neighbour->gid};
            std::erase(one->former, neighbour->gid);
            std::erase(one->former, neighbour->before);
            if (one->former.size() >= most_former) one->former.erase(one->former.begin());
            one->former.push_back(neighbour->before);
            one->changed = now;
            one->told_all.reset();
            one->is_served = false;
            one->seen.show(now);
        }
        if (moment.packet.is_multicast && !one->told_all) one->told_all = now.steady;
    }
    /// To a port that had the address before.
    void unicast(const Moment& moment) {
        const auto& known = moment.known;
        if (moment.packet.is_multicast || moment.packet.arp_addresses) return;
        if (known.speaker && known.speaker->changed) serve(moment);
        const auto* neighbour = known.neighbour;
        if (!neighbour || !neighbour->changed || !known.destination) return;
        if (known.destination->port == state::none) return;
        const auto& receiver = moment.subnet.port(known.destination->port).gid;
        if (receiver == neighbour->gid) return;
        auto* one = contest(moment, neighbour->address, false);
        if (!one || one->is_served || std::ranges::find(one->former, receiver) == one->former.end()) return;
        // What was said to another one alone, as a router does that answers for others, changes nothing for this
        // sender.
        if (!one->told_all || known.now.steady - *one->told_all < patience) return;
        if (one->stale.count == 0) one->stale_ends = {known.sender ? known.sender->gid : Gid{}, receiver};
        one->stale.show(known.now);
    }
    /// Who had an address before and still sends from it gets what is sent to it, too.
    void serve(const Moment& moment) {
        if (!moment.known.sender || moment.known.sender->gid == moment.known.speaker->gid) return;
        auto* one = contest(moment, moment.known.speaker->address, false);
        if (!one || std::ranges::find(one->former, moment.known.sender->gid) == one->former.end()) return;
        one->is_served = true;
        one->stale = {};
    }

    /// A port has the same interface id under each prefix of its subnet.
    static bool are_of_one_port(const Gid& a, const Gid& b) { return a.interface_id() == b.interface_id(); }
    static bool is_shared(const Contest& contest) { return contest.doubles > 0 || contest.changes >= most_changes; }
    static Holders holders_of(const Key& key, const Contest& contest) {
        Holders all{key.subnet, key.p_key, contest.holders, IpAddress{key.address}.is_v4()};
        if (all.gids.empty()) {
            all.gids = {contest.gids[0], contest.gids[1]};
            std::ranges::sort(all.gids);
        }
        return all;
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
    /// The rails of one host answer for each other's addresses: each of these is shared. Two hosts with one address
    /// more have addresses of their own, both of them.
    static Trouble told(const Holders& holders, const Shared& shared, const Owners& owners) {
        auto trouble = shared.seen;
        std::ranges::sort(trouble.frames, {}, &state::Sight::order);
        trouble.subnet = holders.subnet;
        trouble.p_key = holders.p_key;
        trouble.ports = holders.gids;
        const auto have_own = std::ranges::count_if(holders.gids, [&](const Gid& gid) {
            return owners.contains({holders.subnet, holders.p_key, gid});
        });
        const auto count = std::ssize(holders.gids);
        const bool is_flux = holders.is_v4 && have_own < count && (have_own > 0 || shared.addresses.size() > 1);
        std::string who;
        for (int i = 0; i < count; ++i)
            who += (i == 0 ? "{" : i == count - 1 ? " and {" : ", {") + std::to_string(i) + '}';
        const std::string all = count == 2 ? " both" : " all",
                          same = shared.addresses.size() > 1 ? "addresses" : "address";
        trouble.name = is_flux ? "arp-flux" : "duplicate-address";
        trouble.text = who + (shared.both_answer ? all + " answer who has " + shared.names() + ". "
                                                 : " announce " + shared.names() + " in turns. ");
        if (is_flux)
            trouble.text +=
                "Where they are rails of one host, it answers for each address on all of them (arp_ignore=1 and "
                "arp_announce=2 keep it from that), and RDMA and connections go to the wrong port. Else several hosts "
                "have the same " +
                same + '.';
        else
            trouble.text += (count == 2 ? "Two hosts have the same " : "Several hosts have the same ") + same +
                            ": others reach one or the other by chance.";
        return trouble;
    }
    static Trouble denied(const Key& key, const Contest& contest) {
        auto trouble = contest.denied;
        trouble.name = "duplicate-address";
        trouble.subnet = key.subnet;
        trouble.p_key = key.p_key;
        trouble.ports = {contest.denied_ends[0], contest.denied_ends[1]};
        trouble.text = "{1} asks whether anybody has " + text(IpAddress{key.address}) +
                       " before it takes it, and {0} has it: the address is that of two hosts, and the second one does "
                       "without.";
        return trouble;
    }
    static Trouble moved(const Key& key, const Contest& contest) {
        auto trouble = contest.stale;
        trouble.name = "moved-address";
        trouble.subnet = key.subnet;
        trouble.p_key = key.p_key;
        trouble.ports = {contest.stale_ends[0], contest.stale_ends[1], contest.gids[1]};
        trouble.text =
            "{0} still sends to " + text(IpAddress{key.address}) +
            " at {1}, though {2} has announced it as its own more than 5 s before: what it sends is lost until its "
            "neighbour entry goes.";
        return trouble;
    }

    std::map<Key, Contest> contests_;
    std::map<std::pair<Key, Gid>, Question> questions_;  ///< by address and asker
};

}  // namespace

std::unique_ptr<Watcher> watch_addresses() { return std::make_unique<Addresses>(); }

}  // namespace ipoib::links
