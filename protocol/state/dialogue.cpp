// SPDX-License-Identifier: GPL-2.0-or-later
// Questions of IP and what answers them: ARP, Neighbour Discovery, echo requests.
#include "protocol/state/subnet.hpp"

namespace ipoib::state {
using namespace wire;

namespace {

// A question takes the place of another by its key. Which one must be the same each time, so that the same capture has
// the same verdicts: no secret is in it, and the places are of a fixed number.
std::uint64_t spread(std::uint64_t word) noexcept {
    word = (word ^ word >> 32) * 0x9e3779b97f4a7c15u;
    return word ^ word >> 29;
}
std::uint64_t spread(const Gid& gid) noexcept { return spread(spread(gid.prefix()) + gid.interface_id()); }

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
    const auto key = spread(a * 0xff51afd7ed558ccdu + b);
    return key ? key : 1;
}
std::uint64_t mixed(const Gid& a, const Gid& b) { return mixed(spread(a), spread(b)); }

/// What an answer has in common with its question: addresses, and the number of an echo. Who answers what was sent to a
/// group does so from an address of its own, so of that the asker and the number must do. Key 0: neither.
struct Dialogue {
    std::uint64_t key = 0;
    bool asks = false;
    std::uint64_t key_of_group = 0;  ///< of an answer: if the question went to a group
};

template <class Address>
Dialogue echo(const Packet& p, const Address& source, const Address& destination, bool asks) {
    const auto number = read_bits(p.ip_payload.data() + 4, {0}, 32);
    const auto of_group = [&](const Address& asker) { return mixed(mixed(spread(asker), number), 1); };
    const auto of_both = [&](const Address& asker, const Address& other) {
        return mixed(mixed(spread(asker), spread(other)), number);
    };
    if (asks) return {p.is_multicast ? of_group(source) : of_both(source, destination), true};
    return {of_both(destination, source), false, of_group(destination)};
}

Dialogue dialogue_of(const Packet& p) {
    constexpr std::size_t echo_header = 8;
    if (p.arp_addresses) {
        const auto sender = p.arp_addresses[ArpAddresses::spa], target = p.arp_addresses[ArpAddresses::tpa];
        const auto operation = p.arp[Arp::operation];
        if (operation == Arp::request && sender != target) return {mixed(sender, target), true};
        if (operation == Arp::reply && sender != target) return {mixed(target, sender), false};
    } else if (p.ipv4 && p.icmp && !p.is_fragment && p.ip_payload.size() >= echo_header) {
        const std::uint64_t source = p.ipv4[Ipv4::source], destination = p.ipv4[Ipv4::destination];
        if (p.ip_payload[0] == 8) return echo(p, source, destination, true);
        if (p.ip_payload[0] == 0) return echo(p, source, destination, false);
    } else if (p.ipv6 && p.icmpv6 && !p.is_fragment && p.ip_payload.size() >= echo_header) {
        const auto type = p.icmpv6[Icmpv6::type];
        const auto source = p.ipv6[Ipv6::source], destination = p.ipv6[Ipv6::destination];
        constexpr Icmpv6Type echo_request{128}, echo_reply{129};
        if (type == echo_request) return echo(p, source, destination, true);
        if (type == echo_reply) return echo(p, source, destination, false);
        if (!p.nd_target) return {};
        if (type == Icmpv6Type::neighbour_solicitation && !source.is_zero())
            return {mixed(source, p.nd_target[NdTarget::target]), true};
        if (type == Icmpv6Type::neighbour_advertisement)
            return {mixed(destination, p.nd_target[NdTarget::target]), false};
    }
    return {};
}

bool is_resolution(const Packet& p) { return p.arp_addresses || p.nd_target; }
/// A Neighbour Solicitation of one node is no question to a group, whichever way it went.
bool asks_group(const Packet& p) { return !p.nd_target || p.ipv6[Ipv6::destination].is_multicast(); }

}  // namespace

/// Who was asked knows a link-layer address that the capture may not show.
void Subnet::question_is_missing(const Packet& answer) {
    if (!is_resolution(answer) || answer.is_multicast) return;
    const auto asker =
        answer.arp_addresses ? mapped(answer.arp_addresses[ArpAddresses::tpa]) : answer.ipv6[Ipv6::destination];
    if (const auto index = neighbours_.find(on_link(asker)); index != none) neighbours_[index].unseen = known_.now;
}

/// Questions of IP, and the packets that answer them.
void Subnet::solicitations(const Packet& packet) {
    const auto dialogue = dialogue_of(packet);
    if (dialogue.key == 0) return;
    if (!packet.deth) {
        // Asked over a connection, by one that has the address: that may be what is answered.
        auto& asked_before = solicitations_[dialogue.key % solicitations_.size()];
        if (dialogue.asks && asked_before.key == dialogue.key) asked_before.group = none;
        return;
    }
    if (!dialogue.asks) {
        auto* place = &solicitations_[dialogue.key % solicitations_.size()];
        auto key = dialogue.key;
        if (place->key != key && dialogue.key_of_group != 0) {
            key = dialogue.key_of_group;
            place = &solicitations_[key % solicitations_.size()];
        }
        const bool is_seen = place->key == key;
        if (!is_doubled_ && (!is_seen || place->is_answered)) question_is_missing(packet);
        if (is_seen) answered(*place);
        return;
    }
    auto& place = solicitations_[dialogue.key % solicitations_.size()];
    const auto& link = *known_.link;
    const bool is_wrong = (link.told & facts(Fact::q_key)) && packet.deth[Deth::q_key] != link.broadcast->q_key;
    // A question that was right, and sent to one port alone, explains the answer whatever else was asked.
    Solicitation question{dialogue.key,
                          asks_group(packet) ? group_ : none,
                          is_wrong,
                          !is_full_member(packet.bth[Bth::p_key]),
                          is_resolution(packet),
                          false,
                          packet.lrh ? packet.lrh[Lrh::slid] : std::uint16_t{0},
                          packet.deth[Deth::src_qp],
                          known_.now,
                          packet.bth[Bth::p_key]};
    const bool is_open = place.key == dialogue.key && place.is_resolution && !place.is_answered;
    if (question.is_resolution && source_ && !is_open) ++source_->open_resolutions;
    const auto explains = [](const Solicitation& one) {
        return (one.has_wrong_key ? 0 : 4) + (one.is_limited ? 0 : 2) + (one.group == none ? 1 : 0);
    };
    constexpr std::int64_t patience = 10'000'000'000;  // ns
    const bool is_asked_again = place.key == dialogue.key && elapsed(place.sent.time, known_.now.time) < patience;
    // Of one that went to two groups nobody can tell in which it was heard.
    if (is_asked_again && place.group != question.group) question.group = place.group = none;
    const bool is_elsewhere = is_asked_again && !is_same_partition(place.p_key, question.p_key);
    question.is_in_several = place.is_in_several = is_elsewhere;
    if (!is_asked_again || explains(question) >= explains(place)) place = question;
}

void Subnet::answered(Solicitation& question) {
    known_.answers = &question;
    known_.answers_again = question.is_answered;
    // It has heard what was sent to a group of that link.
    if (question.group != none && source_ && source_->link == 0)
        bind(source_, link_of_group(groups_[question.group].mgid));
    const auto asker = queue_pairs_.find(key({question.lid, question.qpn}));
    if (question.is_resolution && !question.is_answered && asker != none && queue_pairs_[asker].open_resolutions > 0)
        --queue_pairs_[asker].open_resolutions;
    question.is_answered = true;
}

}  // namespace ipoib::state
