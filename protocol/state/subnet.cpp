// SPDX-License-Identifier: GPL-2.0-or-later
// The tables of a subnet, and what is known around a packet.
#include "protocol/state/subnet.hpp"

#include "protocol/wire/mgid.hpp"

#include <atomic>
#include <stdexcept>

namespace ipoib::state {
using namespace wire;

namespace {

constexpr std::size_t most_events = 4096;
constexpr std::size_t tables_at_once = 16, longest_table = std::size_t{4} << 20;
constexpr std::size_t most_routes = 65536;
constexpr std::size_t most_told = 65536, most_told_of_link = 8;

}  // namespace

Subnet::Subnet(std::shared_ptr<Limits> room)
    : room_(std::move(room)),
      ports_(room_->ports, room_->octets),
      groups_(room_->groups, room_->octets),
      members_(room_->members, room_->octets),
      full_members_(room_->members),
      neighbours_(room_->neighbours, room_->octets),
      informed_(room_->informed, room_->octets),
      paths_(room_->paths, room_->octets),
      connections_(room_->connections, room_->octets),
      connected_(room_->connected, room_->octets),
      queue_pairs_(room_->queue_pairs, room_->octets),
      requesters_(room_->requesters, room_->octets),
      most_requests_(room_->requests),
      request_index_(room_->requests),
      tables_(tables_at_once, longest_table, room_->segments),
      port_by_route_(most_routes),
      capacity_by_route_(most_routes) {
    links_.add();  // of packets that belong to none
    change();
}

void Subnet::change() noexcept {
    static std::atomic<std::uint64_t> latest{0};
    version_ = ++latest;
}

/// Grows with each thing that is in a table.
std::uint64_t Subnet::extent() const noexcept {
    return ports_.changes() + groups_.all().size() + members_.all().size() + neighbours_.all().size() +
           queue_pairs_.all().size() + requesters_.all().size() + links_.size();
}

GroupIndex Subnet::group_of(const Gid& mgid) {
    const auto index = groups_.find_or_add(mgid);
    if (index != none) groups_[index].mgid = mgid;
    return index;
}

std::uint32_t Subnet::member_of(GroupIndex group, PortIndex port) {
    if (group == none || port == none) return none;
    const auto index = members_.find_or_add(member_key(group, port));
    if (index != none) {
        auto& member = members_[index];
        if (member.port == none) {
            member.next_of_port = ports_[port].first_member;
            ports_[port].first_member = index;
        }
        member.group = group;
        member.port = port;
        if (ports_[port].link_group == group) ports_[port].link_member = index;
    } else {
        // Of this port something is not known from now on: that it has not joined cannot be told any more.
        change();
        requester_at(ports_[port].lid).gap = known_.now;
    }
    return index;
}

namespace {

/// Ports take a changed group over one by one, so nobody can be held to either state.
void dispute(Link& link) {
    link.is_disputed = true;
    link.broadcast.reset();
    link.broadcast_gid.reset();
    link.source = Source::nothing;
    link.told = 0;
}

/// A group keeps these as long as it lives.
bool is_made_anew(const GroupParameters& old, const GroupParameters& now) {
    return old.mlid != now.mlid || old.sl != now.sl || old.traffic_class != now.traffic_class ||
           old.flow_label != now.flow_label || old.hop_limit != now.hop_limit;
}

/// In one of the parameters that were told.
bool differs(const GroupParameters& a, const GroupParameters& b, Facts told) {
    const auto differ = [told](Fact fact, auto one, auto other) { return (told & facts(fact)) && one != other; };
    return differ(Fact::q_key, a.q_key, b.q_key) || differ(Fact::mtu, a.mtu, b.mtu) || differ(Fact::sl, a.sl, b.sl) ||
           differ(Fact::traffic_class, a.traffic_class, b.traffic_class) ||
           differ(Fact::flow_label, a.flow_label, b.flow_label) || differ(Fact::hop_limit, a.hop_limit, b.hop_limit);
}

}  // namespace

void Subnet::learn_broadcast(const GroupParameters& parameters, Source source, Facts told) {
    const auto index = told & facts(Fact::broadcast_gid) ? link_of_group(parameters.mgid) : link_of(parameters.p_key);
    auto& link = links_[index];
    if (index == 0 || link.is_disputed || source > link.source) return;
    // Packets to it have their MLID from the group's own record.
    auto same_place = parameters;
    if (link.broadcast) same_place.mlid = link.broadcast->mlid;
    if (link.broadcast && link.source == source && *link.broadcast != same_place) {
        dispute(link);
        ++doubts_.disputes;
        return;
    }
    if (link.broadcast && link.source != source && differs(*link.broadcast, parameters, link.told))
        ++doubts_.contradicted;
    if (!link.broadcast || link.source != source) link.learned = known_.now;
    link.broadcast = parameters;
    link.source = source;
    link.told = told & whole_record;
    if (!(told & facts(Fact::broadcast_gid))) return;
    link.broadcast_gid = parameters.mgid;
    link.group = group_of(parameters.mgid);
}

std::uint32_t Subnet::told_record(Link& link, const GroupParameters& parameters) {
    std::size_t of_link = 0;
    for (auto index = link.latest_told; index != none; index = told_records_[index].before, ++of_link)
        if (told_records_[index].parameters == parameters) return index;
    if (of_link >= most_told_of_link || told_records_.size() >= most_told) return none;
    told_records_.add() = {parameters, link.latest_told};
    return link.latest_told = static_cast<std::uint32_t>(told_records_.size() - 1);
}

void Subnet::is_told_beside(View<McMemberRecord> record) {
    if (!is_broadcast_gid(record[McMemberRecord::mgid])) return;
    const auto index = members_.find(member_key(groups_.find(record[McMemberRecord::mgid]), subject_));
    if (index == none || members_[index].told_record == none) return;
    if (told_records_[members_[index].told_record].parameters != parameters_of(record))
        members_[index].told_record = none;
}

void Subnet::learn_group(GroupIndex index, const GroupParameters& parameters, Source source, Facts told) {
    if (is_broadcast_gid(parameters.mgid)) learn_broadcast(parameters, source, told);
    // A record that is not whole tells no rule on groups anything, but that the group is there.
    if (index == none || source > groups_[index].source) return;
    auto& group = groups_[index];
    group.existence = Existence::exists;
    if (parameters.mlid == 0) return;
    if (group.record && group.source == source && is_made_anew(*group.record, parameters))
        group.mlid_has_changed = true;
    if (!group.record || group.source != source) group.learned = known_.now;
    group.record = parameters;
    group.source = source;
}

void Subnet::assume(const GroupParameters& parameters, Source source, Facts told) {
    const bool is_group = !is_broadcast_gid(parameters.mgid) || (told & facts(Fact::broadcast_gid));
    learn_group(is_group ? group_of(parameters.mgid) : none, parameters, source, told);
}

void Subnet::assume_prefix(std::uint64_t prefix) { learn_prefix(prefix); }

void Subnet::assume_member(const Gid& mgid, const Gid& port_gid, std::uint8_t join_state) {
    const auto index = member_of(group_of(mgid), port_of(0, port_gid));
    if (index != none) members_[index].joined |= join_state;
}

void Subnet::tell(EventKind kind, PortIndex port, GroupIndex group) {
    tell(kind, port, group, known_.link ? *known_.link : links_.front());
}

void Subnet::tell(EventKind kind, PortIndex port, GroupIndex group, const Link& link) {
    if (events_.size() >= most_events) {
        // Who waits for it would wait in vain.
        ++doubts_.not_kept;
        change();
        if (port != none) requester_at(ports_[port].lid).gap = known_.now;
        return;
    }
    events_.push_back({kind, port, group, &link, is_watched(port, link), known_.now});
}

const Member* Subnet::member(GroupIndex group, PortIndex port) const {
    return members_.get(members_.find(member_key(group, port)));
}

bool Subnet::is_watched(const Port& port, const Member* member, std::uint32_t own_requests) const {
    if (!member || !member->watched_since || port.moved.order > member->watched_since.order) return false;
    const auto* requester = requesters_.get(requesters_.find(port.lid));
    return requester && requester->open_requests <= own_requests && requester->gap.order < member->watched_since.order;
}

std::uint32_t Subnet::on_link(PortIndex index, GroupIndex broadcast) {
    auto& port = ports_[index];
    if (port.link_group != broadcast) {
        port.link_group = broadcast;
        port.link_member = members_.find(member_key(broadcast, index));
    }
    return port.link_member;
}

bool Subnet::is_watched(PortIndex index, const Link& link) const {
    const auto* port = ports_.get(index);
    if (!port || link.group == none) return false;
    return is_watched(*port, member(link.group, index), opens_request_ && index == subject_ ? 1 : 0);
}

void Subnet::note_tester(std::uint16_t lid) {
    constexpr std::size_t most = 64;
    const auto at = std::ranges::lower_bound(tester_lids_, lid);
    if ((at != tester_lids_.end() && *at == lid) || tester_lids_.size() >= most) return;
    tester_lids_.insert(at, lid);
    change();
}

const Known& Subnet::take(const Packet& packet, const Sight& now, bool is_tester, Recollection* memory,
                          std::optional<std::uint64_t> likeness) {
    pass_time(now);
    likeness_ = likeness;
    events_.clear();
    speaker_ = none;
    is_doubled_ = opens_request_ = false;
    if (memory && memory->version == version_) {
        if (distrusts_memory)
            verify(packet, is_tester, *memory);
        else if (!recall(packet, *memory))
            take_anew(packet, is_tester, memory);
        return known_;
    }
    return take_anew(packet, is_tester, memory);
}

const Known& Subnet::take_anew(const Packet& packet, bool is_tester, Recollection* memory) {
    const auto before = version_;
    learn(packet, is_tester);
    look_around(packet);
    const auto grown = extent();
    const bool is_known_otherwise = doubted_ && *doubted_ != identity(*source_);
    if (grown != extent_ || is_known_otherwise || packet.mad) change();
    extent_ = grown;
    if (!memory) return known_;
    memory->was_recalled = false;
    memory->version = 0;
    // What has changed something may find that changed, the next time.
    if (version_ == before) remember(packet, *memory);
    return known_;
}

void Subnet::learn(const Packet& packet, bool is_tester) {
    const auto sight = known_.now;
    known_ = {};
    known_.now = sight;
    sender_ = subject_ = none;
    is_sender_certain_ = is_link_certain_ = false;
    source_ = nullptr;
    group_ = none;
    member_ = none;
    renews_q_key_ = false;
    doubted_.reset();
    if (is_tester && packet.lrh) note_tester(packet.lrh[Lrh::slid]);
    find_sender(packet);
    if (packet.mad) {
        const auto mgmt_class = packet.mad[Mad::mgmt_class];
        if (mgmt_class == MgmtClass::subn_adm)
            take_sa(packet);
        else if (mgmt_class == MgmtClass::communication)
            take_cm(packet);
        else
            take_smp(packet);
    } else if (packet.is_ipoib() || (packet.bth && !packet.deth)) {
        known_.is_foreign = !is_all_ipoib_ && !is_of_ipoib(packet);
        if (known_.is_foreign && packet.is_ipoib()) {
            ++doubts_.foreign;
            if (source_ && packet.is_multicast) set(source_->sends_others, true);
        }
        if (!known_.is_foreign && packet.is_ipoib()) take_data(packet, is_tester);
        if (!packet.deth && packet.bth && packet.lrh)
            known_.connection = connection_to({packet.lrh[Lrh::dlid], packet.bth[Bth::dest_qp]});
    } else if (packet.deth) {
        to_interface(packet);
    }
}

namespace {

bool is_echo_request(const Packet& packet) {
    if (packet.icmp) return packet.icmp[Icmp::type] == 8;
    return packet.icmpv6 && packet.icmpv6[Icmpv6::type] == Icmpv6Type::echo_request;
}
bool is_echo_reply(const Packet& packet) {
    if (packet.icmp) return packet.icmp[Icmp::type] == 0;
    return packet.icmpv6 && packet.icmpv6[Icmpv6::type] == Icmpv6Type::echo_reply;
}
bool is_echo(const Packet& packet) { return is_echo_request(packet) || is_echo_reply(packet); }
/// Whether all that its like tell, once one of them has been taken, is that there was one more, and of an echo what it
/// asks or answers.
bool tells_no_more(const Packet& packet) {
    if (!packet.is_ipoib() || !packet.deth || packet.is_fragment) return false;
    if (packet.ipv4) return packet.ip_protocol != IpProtocol::igmp;
    return packet.ipv6 && (!packet.icmpv6 || is_echo(packet));
}

}  // namespace

void Subnet::remember(const Packet& packet, Recollection& memory) const {
    // An answer may show which link its sender is on.
    const bool may_show_link = is_echo_reply(packet) && source_ && source_->link == 0;
    if (!events_.empty() || !tells_no_more(packet) || may_show_link) return;
    memory.version = version_;
    memory.known = known_;
    memory.known.answers = nullptr;
    memory.known.answers_again = false;
    memory.known.answered = memory.known.of_asker = nullptr;
    memory.sender = sender_;
    memory.subject = subject_;
    memory.on_link = speaker_ == none ? none : ports_.get(sender_)->link_member;
    memory.group = group_;
    memory.member = member_;
    memory.source = source_;
    memory.is_sender_certain = is_sender_certain_;
    memory.is_link_certain = is_link_certain_;
    memory.renews_q_key = renews_q_key_;
    memory.is_echo = is_echo(packet);
    memory.may_answer = is_echo_reply(packet);
}

/// Learns anew what recall() would rely on.
void Subnet::verify(const Packet& packet, bool is_tester, Recollection& memory) {
    const bool is_recalled = !memory.source || is_usual(*memory.source, packet);
    auto before = memory;
    take_anew(packet, is_tester, &memory);
    if (!is_recalled) return;
    before.known.now = memory.known.now;
    before.was_recalled = false;
    if (!(memory == before)) throw std::logic_error("a packet has found something else than its like");
    memory.was_recalled = true;
}

/// Does what the packet's like have done before; false, with nothing done, where its PSN tells something new.
bool Subnet::recall(const Packet& packet, Recollection& memory) {
    source_ = memory.source;
    if (source_ && !is_usual(*source_, packet)) return false;
    if (source_) count(*source_, packet);
    memory.was_recalled = true;
    const auto sight = known_.now;
    known_ = memory.known;
    known_.now = sight;
    sender_ = memory.sender;
    subject_ = memory.subject;
    group_ = memory.group;
    member_ = memory.member;
    is_sender_certain_ = memory.is_sender_certain;
    is_link_certain_ = memory.is_link_certain;
    if (sender_ != none) ports_[sender_].last = sight;
    if (known_.is_foreign) {
        ++doubts_.foreign;
        return true;
    }
    if (memory.renews_q_key) links_[index_of(known_.link)].q_key_used = sight;
    if (group_ != none) sends(groups_[group_], member_ == none ? nullptr : &members_[member_]);
    if (memory.is_echo) solicitations(packet);
    if (memory.on_link != none) {
        members_[memory.on_link].spoke = sight;
        speaker_ = sender_;
    }
    if (known_.answers) look_at_asker();
    return true;
}

/// What is known of who asked what the packet answers.
void Subnet::look_at_asker() {
    const auto& question = *known_.answers;
    known_.answered = member(question.group, sender_);
    const auto asker = ports_.find(question.lid);
    if (!question.is_resolution || ports_.is_shared(question.lid) || !is_watched(asker, *known_.link)) return;
    known_.of_asker = member(known_.link->group, asker);
}

/// Turns what the packet was found to be about into pointers and facts.
void Subnet::look_around(const Packet& packet) {
    auto& k = known_;
    const auto fact = [&](bool is_known, Fact what) {
        if (is_known) k.facts |= facts(what);
    };
    if (!k.link) k.link = &links_.front();
    if (subject_ == none) subject_ = sender_;
    k.sender = ports_.get(sender_);
    for (std::size_t i = 0; i < k.others_of_q_key.size(); ++i)
        k.others_of_q_key[i] = ports_.get(k.link->q_key_users[i]);
    k.subject = ports_.get(subject_);
    k.source = source_;
    if (k.subject) k.requester = requesters_.get(requesters_.find(k.subject->lid));
    k.shares_port = k.subject && ports_.is_shared(k.subject->lid);
    const bool is_certain = packet.mad || is_sender_certain_ || subject_ != sender_;
    k.group = groups_.get(group_);
    k.group_index = group_;
    if (member_ != none)
        k.member = members_.get(member_);
    else if (group_ != none && subject_ != none)
        k.member = members_.get(members_.find(member_key(group_, subject_)));
    if (k.link->group != none && subject_ != none) {
        const auto index = on_link(subject_, k.link->group);
        if (index != none && packet.is_ipoib() && !k.is_foreign && is_sender_certain_ && subject_ == sender_) {
            members_[index].spoke = k.now;
            speaker_ = sender_;
        }
        k.of_broadcast = members_.get(index);
    }
    if (k.answers) look_at_asker();
    auto told = k.link->told;
    if (k.link->broadcast) {
        k.broadcast = &*k.link->broadcast;
    } else if (k.link->is_disputed && is_certain && k.of_broadcast && k.of_broadcast->told_record != none) {
        k.broadcast = &told_records_[k.of_broadcast->told_record].parameters;
        told = whole_record;
    }
    if (k.link->broadcast_gid) k.broadcast_gid = &*k.link->broadcast_gid;
    k.told_records = &told_records_;
    k.is_at_sa = is_at_sa_;
    k.knows_prefix = prefix_is_told_ && doubts_.prefixes == 0;
    fact(k.broadcast_gid, Fact::broadcast_gid);
    const bool is_certain_link = packet.mad || !packet.bth || is_link_certain_;
    if (k.broadcast && is_certain_link) k.facts |= told;
    fact(k.broadcast && is_certain_link && (told & whole_record) == whole_record, Fact::broadcast_record);
    fact(k.group && k.group->record, Fact::group_record);
    fact(k.sender && is_sender_certain_, Fact::sender);
    fact(k.subject && is_certain && is_watched(*k.subject, k.of_broadcast, opens_request_ ? 1 : 0), Fact::watched);
    fact(k.member && is_certain && (k.member->joined_at || k.member->refused_at || k.member->left_at), Fact::member);
    fact(k.request, Fact::request);
    fact(k.receiver && packet.lrh && !packet.is_multicast, Fact::receiver);
    fact(k.neighbour && k.neighbour->announced, Fact::neighbour);
    fact(k.path, Fact::path);
}

Doubts Subnet::doubts() const {
    auto doubts = doubts_;
    doubts.not_kept += ports_.refused() + groups_.refused() + members_.refused() + neighbours_.refused() +
                       informed_.refused() + paths_.refused() + connections_.refused() + queue_pairs_.refused() +
                       connected_.refused() + requesters_.refused();
    return doubts;
}

}  // namespace ipoib::state
