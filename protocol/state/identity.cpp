// SPDX-License-Identifier: GPL-2.0-or-later
// Who is who: whose a packet is, which queue pairs and links there are, and what shows that packets are missing.
#include "protocol/state/likeness.hpp"
#include "protocol/state/subnet.hpp"
#include "protocol/wire/decoder.hpp"
#include "protocol/wire/mgid.hpp"
#include "protocol/wire/misplaced.hpp"

#include <algorithm>

namespace ipoib::state {
using namespace wire;

namespace {

constexpr std::uint32_t psn_mask = 0xffffff;
/// Frames of several queues of an adapter stand in a capture in an order that is wrong by less.
constexpr std::int64_t largest_disorder = 10'000'000;  // ns

}  // namespace

/// The GID of the link-layer address that a packet announces as its sender's; zero where it announces none.
Gid Subnet::own_gid(const Packet& packet) {
    if (packet.arp_addresses) return packet.arp_addresses[ArpAddresses::sha_gid];
    if (!packet.icmpv6) return {};
    const auto type = packet.icmpv6[Icmpv6::type];
    const auto option = type == Icmpv6Type::neighbour_advertisement ? packet.target_option
                        : type == Icmpv6Type::redirect              ? View<LinkAddressOption>{}
                                                                    : packet.source_option;
    return option ? option[LinkAddressOption::gid] : Gid{};
}

void Subnet::pass_time(const Sight& now) {
    if (has_time_) {
        const auto passed = elapsed(last_time_, now.time);
        if (passed > 0) steady_ += is_whole_ ? passed : std::min(passed, longest_silence);
        if (passed < -largest_disorder) is_set_back(now);
    }
    has_time_ = true;
    last_time_ = now.time;
    known_.now = now;
    known_.now.steady = steady_;
    known_.now.order = ++order_;
}

bool Subnet::is_local(const Gid& gid) const noexcept {
    return !prefix_is_known_ || gid.prefix() == prefix_ || gid.prefix() == default_prefix;
}

/// A port answers to its GUID with the default prefix, too. IBTA Vol 1, 4.1.1.
Gid Subnet::local_form(const Gid& gid) const noexcept {
    const bool is_other = prefix_is_known_ && gid.prefix() == default_prefix && prefix_ != default_prefix;
    return is_other ? Gid::of(prefix_, gid.interface_id()) : gid;
}

/// Behind a router a GRH names a port of another subnet, the LRH the router.
PortIndex Subnet::port_of(std::uint16_t lid, const Gid& gid) {
    return ports_.of(is_local(gid) ? lid : std::uint16_t{0}, local_form(gid), known_.now);
}

/// Whether a port that is named in a request is the one that asks: it has been seen there, or nobody else has. Who asks
/// for another GID may also do so on behalf of another port.
bool Subnet::is_at(const Gid& gid, std::uint16_t lid) const {
    const auto port = ports_.find(local_form(gid)), there = ports_.find(lid);
    if (there == none) return port == none || ports_.get(port)->lid == 0;
    if (port != none) return ports_.get(port)->lid == lid;
    return ports_.get(there)->gid.is_zero();
}

void Subnet::learn_prefix(std::uint64_t prefix) {
    if (prefix == 0 || (prefix_is_known_ && (prefix == prefix_ || prefix == default_prefix))) return;
    // All ports get another name each time.
    if (prefix_is_known_ || doubts_.prefixes > Doubts::most_prefixes) ++doubts_.prefixes;
    if (doubts_.prefixes > Doubts::most_prefixes) {
        prefix_is_known_ = false;
        return;
    }
    ports_.rename(default_prefix, prefix);
    if (prefix_is_known_) ports_.rename(prefix_, prefix);
    prefix_ = prefix;
    prefix_is_known_ = true;
}

QueuePair* Subnet::queue_pair_of(QpAddress at) {
    if (at.lid == 0 || at.lid >= 0xc000 || at.qpn == Bth::multicast_qp) return nullptr;
    const auto index = queue_pairs_.find_or_add(key(at));
    if (index == none) return nullptr;
    auto& found = queue_pairs_[index];
    found.lid = at.lid;
    found.qpn = at.qpn;
    return &found;
}

void Subnet::belongs_to(QueuePair& queue_pair, PortIndex port) {
    if (queue_pair.port == port) return;
    queue_pair.port = port;
    change(queue_pair);
}

/// The sender is the one that the GRH names. Without it, it is the owner of the queue pair, as long as that has stayed
/// where it was; any other guess is for names alone.
void Subnet::find_sender(const Packet& packet) {
    if (!packet.lrh) return;
    const auto slid = packet.lrh[Lrh::slid];
    constexpr std::uint32_t management = 1;
    if (packet.deth && packet.deth[Deth::src_qp] != 0) source_ = queue_pair_of({slid, packet.deth[Deth::src_qp]});
    if (source_) count(*source_, packet);
    const bool is_own = source_ && source_->qpn > management;
    if (packet.grh && !packet.grh[Grh::sgid].is_zero() && !packet.grh[Grh::sgid].is_multicast()) {
        sender_ = port_of(slid, packet.grh[Grh::sgid]);
        is_sender_certain_ = sender_ != none;
        if (is_own && is_local(packet.grh[Grh::sgid])) belongs_to(*source_, sender_);
    } else if (is_own && source_->port != none && ports_[source_->port].lid == slid) {
        sender_ = source_->port;
        is_sender_certain_ = true;
    } else {
        // What it says of itself is believed where that port is known to be.
        const auto named = ports_.find(local_form(own_gid(packet)));
        is_sender_certain_ = is_own && named != none && ports_[named].lid == slid;
        sender_ = is_sender_certain_ ? named : ports_.of(slid);
        if (is_sender_certain_) belongs_to(*source_, named);
    }
    if (sender_ == none) return;
    auto& port = ports_[sender_];
    if (!port.first) {
        port.first = known_.now;
        change();
    }
    port.last = known_.now;
}

/// Follows the PSNs of a queue pair. One that jumps is one whose packets were not all captured, or another one with the
/// same number.
void Subnet::count(QueuePair& queue_pair, const Packet& packet) {
    const auto psn = packet.bth[Bth::psn];
    set(queue_pair.service_levels, static_cast<std::uint16_t>(queue_pair.service_levels | 1u << packet.lrh[Lrh::sl]));
    const auto likeness = likeness_ ? *likeness_ : likeness_of(packet, packet.octets.data());
    const bool is_first = !queue_pair.last;
    if (is_first) {
        change();
        queue_pair.first = queue_pair.run = known_.now;
    } else if (psn == queue_pair.psn) {
        is_doubled_ = likeness == queue_pair.likeness;
        if (is_doubled_) return;
        note_psn(queue_pair, queue_pair.repeats);
    } else if (psn == ((queue_pair.psn + 1) & psn_mask)) {
        note_psn(queue_pair, queue_pair.steps);
    } else {
        const auto& down = requester_at(packet.lrh[Lrh::slid]).down;
        // The first one of another life.
        if (psn == 0 && down.order > queue_pair.last.order) {
            queue_pair.first = known_.now;
            queue_pair.steps_before = queue_pair.steps;
        } else {
            if (queue_pair.counts()) shown_loss_ = known_.now;
            note_psn(queue_pair, queue_pair.jumps);
        }
        doubted_ = identity(queue_pair);
        queue_pair.run = known_.now;
        queue_pair.is_doubtful = true;
        queue_pair.port = none;
        queue_pair.link = 0;
        queue_pair.p_key = 0;
    }
    queue_pair.psn = psn;
    queue_pair.likeness = likeness;
    queue_pair.last = known_.now;
}

/// One more of its steps, repeats or jumps, and how many queue pairs are seen to count by that, and not to.
void Subnet::note_psn(QueuePair& queue_pair, std::uint32_t& of_its) {
    const auto add = [&](std::uint32_t sign) {
        if (queue_pair.steps > 0 && queue_pair.counts()) counting_ += sign;
        // Where nobody counts, one that stays says so.
        if (queue_pair.repeats > 0 && queue_pair.moves() == 0) repeating_ += sign;
    };
    add(~0u);
    if (of_its != ~0u) ++of_its;
    add(1);
}

/// A PSN that goes on as those before it, one more or always the same, so that count() changes nothing that is known of
/// the queue pair.
bool Subnet::is_usual(const QueuePair& queue_pair, const Packet& packet) {
    if (!queue_pair.last) return false;
    const auto psn = packet.bth[Bth::psn];
    // Where one more of either changes whether it counts, that is news.
    const auto is_news = [before = queue_pair.counts()](std::uint64_t moves, std::uint32_t repeats) {
        return QueuePair::counts(moves, repeats) != before;
    };
    const auto moves = queue_pair.moves();
    const auto repeats = queue_pair.repeats;
    if (psn == ((queue_pair.psn + 1) & psn_mask)) return queue_pair.steps != 0 && !is_news(moves + 1, repeats);
    return psn == queue_pair.psn && repeats != 0 && !is_news(moves, repeats + 1);
}

/// Who leaves a link gives up its queue pairs: others may get their numbers.
void Subnet::forget_queue_pairs(PortIndex port, std::uint32_t link) {
    const auto& qpns = ports_[port].qpns;
    doubt_queue_pairs(port);
    for (std::uint8_t i = 0; i < ports_[port].qpn_count; ++i) {
        const auto index = queue_pairs_.find(key({ports_[port].lid, qpns[i]}));
        if (index == none || queue_pairs_[index].link != link) continue;
        auto& one = queue_pairs_[index];
        one.is_announced = one.sends_ipoib = false;
        one.link = 0;
        one.p_key = 0;
    }
}

/// Its interfaces may have ended: until they announce themselves again only the link's Q_Key tells that they have not.
void Subnet::doubt_queue_pairs(PortIndex port) {
    if (port == none) return;
    for (std::uint8_t i = 0; i < ports_[port].qpn_count; ++i) {
        const auto index = queue_pairs_.find(key({ports_[port].lid, ports_[port].qpns[i]}));
        if (index != none) queue_pairs_[index].is_doubtful = true;
    }
}

Requester& Subnet::requester_at(std::uint16_t lid) {
    const auto index = requesters_.find_or_add(lid);
    if (index != none) return requesters_[index];
    return too_many_ = {};
}

const Requester& Subnet::requester(PortIndex port) const {
    static const Requester nobody;
    const auto* found = port == none ? nullptr : requesters_.get(requesters_.find(ports_.get(port)->lid));
    return found ? *found : nobody;
}

std::uint32_t Subnet::link_of(std::uint16_t p_key) {
    auto& index = link_by_p_key_.at(p_key & 0x7fff);
    if (index == 0) index = add_link({.p_key = static_cast<std::uint16_t>(p_key | full_membership)});
    return index;
}

/// Its index; 0, the link of packets that belong to none, where there is no room.
std::uint32_t Subnet::add_link(const Link& link) {
    if (room_->links == 0 || !take_from(room_->octets, sizeof link)) {
        ++doubts_.not_kept;
        return 0;
    }
    --room_->links;
    links_.add() = link;
    return static_cast<std::uint32_t>(links_.size() - 1);
}

std::uint32_t Subnet::link_of(std::uint16_t p_key, std::uint8_t scope) {
    auto index = link_of(p_key);
    while (index != 0) {
        auto& link = links_[index];
        if (!link.has_scope) {
            change();
            link.has_scope = true;
            link.scope = scope;
        }
        if (link.scope == scope) return index;
        if (link.next == 0) break;
        index = link.next;
    }
    if (index == 0) return 0;
    const auto added =
        add_link({.p_key = static_cast<std::uint16_t>(p_key | full_membership), .scope = scope, .has_scope = true});
    links_[index].next = added;
    return added;
}

std::uint32_t Subnet::index_of(const Link* link) const noexcept {
    if (!link || link->p_key == 0) return 0;
    auto index = link_by_p_key_[link->p_key & 0x7fff];
    while (index != 0 && &links_[index] != link) index = links_[index].next;
    return index;
}

/// The link that a group of IPoIB is on, by P_Key and scope; 0 where all links of the partition have other scopes.
std::uint32_t Subnet::link_of_group(const Gid& mgid) {
    const auto p_key = mgid_of(mgid)[Mgid::p_key];
    const auto scope = mgid_of(mgid)[Mgid::scope];
    if (is_broadcast_gid(mgid)) return link_of(p_key, scope);
    const auto first = link_of(p_key);
    for (auto index = first; index != 0; index = links_[index].next)
        if (links_[index].has_scope && links_[index].scope == scope) return index;
    return links_[first].has_scope ? 0 : first;
}

std::uint32_t Subnet::link_with(const Gid& mgid) const {
    const auto first = link_by_p_key_[mgid_of(mgid)[Mgid::p_key] & 0x7fff];
    for (auto index = first; index != 0; index = links_[index].next)
        if (links_[index].has_scope && links_[index].scope == mgid_of(mgid)[Mgid::scope]) return index;
    return first;
}

std::uint32_t Subnet::link_with(const QueuePair& queue_pair) const {
    if (queue_pair.link != 0) return queue_pair.link;
    return queue_pair.p_key == 0 ? 0 : link_by_p_key_[queue_pair.p_key & 0x7fff];
}

/// The link of a packet that names none by an MGID, and whose queue pair is on none yet.
std::uint32_t Subnet::only_link(std::uint16_t p_key, const Packet& packet) {
    const auto first = link_of(p_key);
    const auto* to = packet.lrh ? queue_pair({packet.lrh[Lrh::dlid], packet.bth[Bth::dest_qp]}) : nullptr;
    if (to && to->link != 0 && is_same_partition(links_[to->link].p_key, p_key)) {
        is_link_certain_ = true;
        return to->link;
    }
    // What the user has said holds for the partition.
    const auto& link = links_[first];
    is_link_certain_ = link.next == 0 && link.broadcast && link.source != Source::sa;
    return link.next == 0 ? first : 0;
}

bool Subnet::has_q_key_of_link(const Packet& packet, const QueuePair& queue_pair) const {
    const auto& link = links_[link_with(queue_pair)];
    const auto q_key = packet.deth[Deth::q_key];
    // Who has not been asked to register anew goes by a record of before.
    for (auto index = link.latest_told; index != none; index = told_records_[index].before)
        if (told_records_[index].parameters.q_key == q_key) return true;
    if (link.broadcast && (link.told & facts(Fact::q_key))) return q_key == link.broadcast->q_key;
    return link.q_key_users.front() != none && q_key == link.q_key_in_use;
}

/// Whether the packet is for, or from, the interface that this queue pair was known to be of. A GRH may name another
/// port, behind the LID of an IB router or at a LID that has changed hands.
bool Subnet::is_meant(const Packet& packet, const QueuePair& queue_pair) const {
    const auto* port = ports_.get(queue_pair.port);
    const bool is_sender = &queue_pair == source_;
    const auto named = packet.grh ? local_form(packet.grh[is_sender ? Grh::sgid : Grh::dgid]) : Gid{};
    const bool names_other = port && !port->gid.is_zero() && !named.is_zero() && named != port->gid;
    return (!queue_pair.is_doubtful && !names_other) || has_q_key_of_link(packet, queue_pair);
}

namespace {

/// A datagram of IP is there, in its place or not, or may be beyond what was captured. RDMA programs send to IP's
/// groups, too, by queue pairs of their own and what they like.
bool shows_datagram(const Packet& p) {
    const bool may_be_beyond = p.is_truncated && p.payload.size() < Encap::size + Arp::size;
    return p.content != EtherType{} || may_be_beyond || p.foreign != Foreign::none ||
           (p.encap && detail::is_known(p.encap[Encap::type])) || is_misplaced_ip(p);
}

}  // namespace

/// Other programs send what looks like IP behind four octets, too. IPoIB is what goes to a link's MGIDs, between queue
/// pairs that were announced, or over connections that were made for it; address resolution proves itself.
bool Subnet::is_of_ipoib(const Packet& packet) const {
    if (!packet.bth || !packet.lrh) return true;
    const QpAddress destination{packet.lrh[Lrh::dlid], packet.bth[Bth::dest_qp]};
    if (!packet.deth) {
        const auto* end = connected_.get(connected_.find(key(destination)));
        if (!end || end->connection == none) return false;
        return !packet.grh || end->gid.is_zero() || local_form(packet.grh[Grh::dgid]) == local_form(end->gid);
    }
    // No other program listens at the port of a tester: what a DUT sends there is its interface's, also where the two
    // have known each other since before the first frame.
    if (!packet.is_multicast && std::ranges::binary_search(tester_lids_, packet.lrh[Lrh::dlid])) return true;
    const bool is_to_group = packet.mgid && packet.grh && has_ipoib_signature(packet.grh[Grh::dgid]);
    // The octets of a stream look like a Type now and then.
    const bool is_others = source_ && source_->sends_others && !source_->is_announced && packet.content == EtherType{};
    if (is_to_group && shows_datagram(packet)) return !is_others;
    const bool is_resolution = packet.arp && packet.arp[Arp::hardware] == Arp::infiniband;
    if (is_resolution || packet.source_option || packet.target_option) return true;
    if (source_ && (source_->is_announced || source_->sends_ipoib) && is_meant(packet, *source_)) return true;
    const auto* to = packet.is_multicast ? nullptr : queue_pair(destination);
    return to && to->is_announced && is_meant(packet, *to);
}

namespace {

constexpr Proof broken(const Reason& lacks) { return {Standing::broken, lacks}; }
constexpr Proof lost(std::string_view text, bool is_shown = false) {
    return broken({.doubt = Doubt::lost_frames, .text = text, .is_shown = is_shown});
}
constexpr Proof open_still{Standing::open,
                           {Doubt::lost_frames, "no later packet shows by its PSN that none is missing"}};
constexpr Proof not_gone_on{Standing::awaited,
                            {Doubt::lost_frames, "nothing that a queue pair in question sends from its place follows"}};
constexpr std::int64_t longest_report_time = 10'000'000'000;  // ns
constexpr Reason no_report{Doubt::unseen_act,
                           "neither an answer nor a report of the SA tells that the group did not exist"};
constexpr Proof not_reported{Standing::broken, no_report}, awaited_still{Standing::awaited, no_report};

/// What the PSNs of a queue pair say of an interval.
enum class Run : std::uint8_t { does_not_count, has_gap, is_open, is_closed };
Run run_of(const QueuePair* found, bool may_count, const Sight& since, const Sight& at) {
    if (!found || !found->counts() || (found->steps == 0 && !may_count)) return Run::does_not_count;
    // A queue pair whose first packet has the number 0 has sent nothing before.
    const bool is_from_start =
        found->run.order == found->first.order && found->psn == found->steps - found->steps_before;
    if (found->run.order > since.order && !is_from_start) return Run::has_gap;
    return found->last.order > at.order ? Run::is_closed : Run::is_open;
}

}  // namespace

/// Whatever the requester has exchanged with any SA leaves a gap in its own PSNs; the SA that is known shows by its own
/// what was exchanged with it, where the requester does not count.
Proof Subnet::proof_of_requests(const Span& span, const Sight& at) const {
    const auto* requester = requesters_.get(requesters_.find(span.requester));
    const bool is_now = at.order == known_.now.order;
    if (requester && requester->gap.order > span.since.order && requester->gap.order <= at.order)
        return lost("a request to the SA or an answer since is missing", true);
    if (is_now && requester && requester->open_requests > (opens_request_ ? 1u : 0u))
        return lost("a request to the SA has no answer");
    const auto own = run_of(queue_pair({span.requester, 1}), may_count(), span.since, at);
    const auto of_sa = run_of(queue_pair({sa_lid_, 1}), may_count(), span.since, at);
    // An exchange that is missing at the end of one's packets is a gap in the SA's, where it has sent more.
    const bool is_told_by_sa = own == Run::does_not_count || (own == Run::is_open && of_sa == Run::is_closed);
    const auto run = is_told_by_sa ? of_sa : own;
    if (run == Run::has_gap) return lost("PSNs show that packets to or from the SA are missing");
    if (run == Run::is_open) return open_still;
    return {};
}

Proof Subnet::proof_of_senders(const Span& span, const Sight& at) const {
    Proof worst;
    for (const auto& [of, since, must_go_on] : span.senders) {
        if (of.qpn == 0) continue;
        const auto* sender = queue_pair(of);
        if (at.order == known_.now.order && span.needs_answers && &of == &span.senders.front().of && sender &&
            sender->open_resolutions > 0)
            return lost("an ARP request or Neighbour Solicitation of the sender has no answer");
        const auto run = run_of(sender, may_count(), since, at);
        if (run == Run::has_gap) return lost("PSNs show that packets of a queue pair in question are missing");
        if (must_go_on && (!sender || sender->last.order <= at.order)) return not_gone_on;
        if (run == Run::is_open) worst = open_still;
    }
    return worst;
}

Proof Subnet::proof(const Span& span, const Sight& at, const Trust& trust) const {
    if (span.is_given) return {};
    Proof proof;
    const auto is_lifted = [&](const Reason& reason) { return lifts(trust, reason, span.since, at, proof); };
    const auto& timed = span.timed_since ? span.timed_since : span.since;
    if (at.steady - timed.steady < span.time_needed) {
        constexpr Reason may_be_step{Doubt::clock_step,
                                     "the time since is a silence of the capture, which may be a step of its clock"};
        const bool is_enough = elapsed(timed.time, at.time) >= span.time_needed;
        if (!is_enough || !lifts(trust, may_be_step, timed, at, proof)) return broken(may_be_step);
    }
    if (at.steady - span.since.steady < span.time_to_switch && (span.has_changed || !is_whole_))
        return broken({Doubt::queued, "what was queued may still leave the port as things were before"});
    for (const bool holds_in_evidence : {true, false}) {
        if (!holds_in_evidence && is_whole_) return proof;
        // The last one comes first.
        for (const auto* reason = span.doubts.end(); reason != span.doubts.begin();)
            if ((--reason)->holds_in_evidence == holds_in_evidence && !is_lifted(*reason)) return broken(*reason);
    }
    if (const Reason lacks{Doubt::life_before, "the capture does not show how it began"};
        !span.since && !is_lifted(lacks))
        return broken(lacks);
    if (const auto* group = groups_.get(span.created); group && group->reported.order < at.order) {
        if (elapsed(at.time, known_.now.time) > longest_report_time) return not_reported;
        proof.standing = Standing::awaited;
        proof.lacks = no_report;
    }
    const auto requests = span.requester ? proof_of_requests(span, at) : Proof{};
    const auto senders = requests.standing == Standing::broken ? requests : proof_of_senders(span, at);
    for (const auto& one : {requests, senders}) {
        if (one.standing == Standing::proven || is_lifted(one.lacks)) continue;
        if (one.standing == Standing::broken) return one;
        if (proof.standing == Standing::proven || one.standing == Standing::awaited) {
            proof.standing = one.standing;
            proof.lacks = one.lacks;
        }
    }
    return proof;
}

}  // namespace ipoib::state
