// SPDX-License-Identifier: GPL-2.0-or-later
// Taking a frame into the state of a capture.
#include "dissector/capture_state.hpp"

#include "protocol/wire/cm.hpp"
#include "protocol/wire/notice.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>

namespace ipoib::dissector {
using namespace wire;

namespace {

// What is kept of hostile captures is bounded, as the state itself is.
constexpr std::size_t most_texts = 65536, most_expert_infos = std::size_t{1} << 22, most_notes = std::size_t{1} << 20,
                      most_counted = 1000, most_exchanges = std::size_t{1} << 20, most_open = 65536,
                      most_memberships = std::size_t{1} << 20, most_snapshots = std::size_t{1} << 20,
                      most_table_octets = std::size_t{64} << 20;

bool is_join_answer(const Packet& p) {
    return p.mc_member && p.mad[Mad::method] == Method::get_resp && p.mad[Mad::status] == 0;
}
bool is_leave_answer(const Packet& p) {
    return p.mc_member && p.mad[Mad::method] == Method::delete_resp && p.mad[Mad::status] == 0;
}

FrameNumber number(const state::Sight& sight) { return static_cast<FrameNumber>(sight.frame); }

}  // namespace

std::size_t CaptureState::ConversationHash::operator()(const Conversation& a) const noexcept {
    const auto of = [](const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer); };
    std::uint64_t hash = of(a.link);
    for (const std::uint64_t more :
         {std::uint64_t{of(a.sender)}, std::uint64_t{of(a.receiver)}, std::uint64_t{of(a.group)},
          std::uint64_t{of(a.sender_announced)}, std::uint64_t{of(a.receiver_announced)},
          std::uint64_t{a.joined} << 8 | a.join_state})
        hash = (hash ^ hash >> 29) * 0x9e3779b97f4a7c15u + more;
    return state::KeyHash{}(hash);
}

CaptureState::CaptureState(inspection::Options options, bool has_notes)
    : inspector_(rules::every(), std::move(options)), has_notes_(has_notes) {}

const char* CaptureState::kept(std::string text) {
    if (texts_.size() >= most_texts && !texts_.contains(text)) return "more than can be told of one capture";
    return texts_.insert(std::move(text)).first->c_str();
}

const char* CaptureState::counted(std::string text) {
    if (text.empty()) return "";
    if (counted_.size() >= most_counted && !counted_.contains(text)) return "others";
    return counted_.insert(std::move(text)).first->c_str();
}

void CaptureState::add_expert_info(FrameNumber frame, ExpertInfo info) {
    if (all_expert_infos_.size() - note_count_ >= most_expert_infos || (info.is_note && note_count_ >= most_notes)) {
        is_incomplete_ = true;
        return;
    }
    note_count_ += info.is_note;
    auto& added = all_expert_infos_.emplace_back(info);
    auto& of_frame = expert_infos_[frame];
    (of_frame.last ? of_frame.last->next : of_frame.first) = &added;
    of_frame.last = &added;
}

/// What was told of a frame that a read filter refused.
void CaptureState::forget(FrameNumber frame) {
    expert_infos_.erase(frame);
    exchanges_.erase(frame);
    connections_.erase(frame);
    tables_.erase(frame);
    if (frame < conversation_by_frame_.size()) conversation_by_frame_.resize(frame);
}

/// Takes the answers of the rules.
struct CaptureState::Answers {
    CaptureState& owner;
    FrameNumber frame;

    [[nodiscard]] const rules::Rule& rule(std::size_t index) const { return *owner.inspector_.rules()[index]; }
    void unjudged(std::size_t, state::Facts) const {}
    void observed(std::size_t) const {}
    void kept(std::size_t) const {}
    void overlooked(std::size_t) const { owner.is_incomplete_ = true; }
    void noted(std::size_t index) const {
        if (owner.has_notes_)
            owner.add_expert_info(frame, {.rule = &rule(index), .text = rule(index).note.data(), .is_note = true});
    }
    void violated(std::size_t index) const {
        const auto& packet = owner.inspector_.packet();
        const auto violation = inspection::describe(rule(index), packet, owner.inspector_.known());
        ExpertInfo info{.rule = &rule(index)};
        const auto field = violation.field_name();
        info.text =
            owner.kept((field.empty() ? "" : field + " is ") + violation.actual + ", expected " + violation.expected);
        info.offset = static_cast<std::uint32_t>(violation.offset);
        info.length = static_cast<std::uint32_t>(violation.length);
        owner.add_expert_info(frame, info);
    }
    /// What is proven only by a later frame is told of the one that it is about.
    void accused(const inspection::Accusation& accusation) const {
        const auto& what = accusation.what;
        const auto field = what.field_name();
        auto text = (field.empty() ? "" : field + " is ") + what.actual + ", expected " + what.expected;
        if (accusation.rests_on != 0) text += ", assumed: " + state::in_words(accusation.rests_on);
        tell(accusation, std::move(text), false);
    }
    void undecided(const inspection::Accusation& accusation, const state::Reason& lacks) const {
        const auto& what = accusation.what;
        const auto field = what.field_name();
        const auto& doubt = spec(lacks.doubt);
        auto text = (field.empty() ? "" : field + " is ") + what.actual + ", expected " + what.expected +
                    "; innocent if " + std::string(doubt.supposes) + ": " + std::string(lacks.text) + "; settled by ";
        if (const auto assume = inspection::assume_text(accusation.settled_by, accusation.vouched_for); !assume.empty())
            text += "assuming " + assume + ", or by ";
        tell(accusation, text + std::string(doubt.settled_by), true);
    }
    void tell(const inspection::Accusation& accusation, std::string text, bool is_suspicion) const {
        const auto& what = accusation.what;
        owner.add_expert_info(number(accusation.sight), {.rule = &rule(accusation.rule),
                                                         .text = owner.kept(std::move(text)),
                                                         .offset = static_cast<std::uint32_t>(what.offset),
                                                         .length = static_cast<std::uint32_t>(what.length),
                                                         .is_suspicion = is_suspicion});
    }
};

bool CaptureState::take(const inspection::FrameView& frame) {
    const auto at = number(frame.sight);
    if (at < last_) return false;
    if (at == last_) forget(at);
    last_ = at;
    conversation_by_frame_.resize(at, 0);
    conversation_by_frame_.push_back(0);
    if (!inspector_.take(frame)) return true;
    inspector_.judge(Answers{*this, at});
    const auto& packet = inspector_.packet();
    if (packet.mad) {
        hosts_.take(packet);
        exchanges(at);
        if (packet.sa) tables(at);
        if (packet.mc_member) memberships(at);
        if (packet.sa) reports(at);
        if (inspector_.known().connection && connections_.size() < most_exchanges) connections_.insert(at);
    }
    announcements(at);
    conversations(at);
    return true;
}

void CaptureState::finish() { inspector_.finish(Answers{*this, last_}); }

namespace {

/// The IP address that a packet announces with its sender's link-layer address.
std::string announced_address(const Packet& p) {
    if (p.arp_addresses) return ipv4_text(p.arp_addresses[ArpAddresses::spa]);
    if (p.target_option && p.nd_target) return text(p.nd_target[NdTarget::target]);
    return p.ipv6 ? text(p.ipv6[Ipv6::source]) : std::string{};
}

}  // namespace

void CaptureState::announcements(FrameNumber frame) {
    const auto* port = inspector_.known().named;
    const auto& p = inspector_.packet();
    const auto option = p.target_option ? p.target_option : p.source_option;
    if (!port || (!p.arp_addresses && !option) || announcements_.size() >= most_snapshots) return;
    const auto qpn = p.arp_addresses ? p.arp_addresses[ArpAddresses::sha_qpn] : option[LinkAddressOption::qpn];
    auto& latest = announced_[port];
    if (latest && latest->qpn == qpn) return;
    latest = &announcements_.emplace_back(Announcement{kept(announced_address(p)), qpn, frame});
}

const LinkSnapshot* CaptureState::link_snapshot(const state::Link& link) {
    auto& latest = latest_link_[&link];
    const auto gid = link.broadcast_gid.value_or(Gid{});
    if (latest && latest->learned == number(link.learned) && latest->has_record == link.broadcast.has_value() &&
        latest->is_disputed == link.is_disputed && latest->broadcast_gid == gid && latest->source == link.source)
        return latest;
    if (links_.size() >= most_snapshots) return latest;
    auto& snapshot = links_.emplace_back();
    snapshot.name = kept(inspection::link_name(inspector_.subnet().prefix(), link.p_key));
    snapshot.link = &link;
    snapshot.has_record = link.broadcast.has_value();
    if (link.broadcast) snapshot.broadcast = *link.broadcast;
    snapshot.broadcast_gid = gid;
    snapshot.source = link.source;
    snapshot.learned = number(link.learned);
    snapshot.is_disputed = link.is_disputed;
    return latest = &snapshot;
}

const PortSnapshot* CaptureState::port_snapshot(const state::Port* port) {
    if (!port) return nullptr;
    auto& latest = latest_port_[port];
    if (latest && latest->gid == port->gid && latest->lid == port->lid) return latest;
    if (ports_.size() >= most_snapshots) return latest;
    return latest = &ports_.emplace_back(PortSnapshot{port->gid, port->lid});
}

const GroupSnapshot* CaptureState::group_snapshot(const state::Group* group) {
    if (!group) return nullptr;
    auto& latest = latest_group_[group];
    const GroupSnapshot now{.group = group,
                            .mgid = group->mgid,
                            .mlid = group->record ? group->record->mlid : std::uint16_t{0},
                            .learned = number(group->learned),
                            .has_record = group->record.has_value()};
    if (latest && latest->mlid == now.mlid && latest->learned == now.learned && latest->has_record == now.has_record)
        return latest;
    if (groups_.size() >= most_snapshots) return latest;
    return latest = &groups_.emplace_back(now);
}

void CaptureState::conversations(FrameNumber frame) {
    const auto& known = inspector_.known();
    if (!known.link && !known.group) return;
    const auto announced = [&](const state::Port* port) {
        const auto found = port ? announced_.find(port) : announced_.end();
        return found == announced_.end() ? nullptr : found->second;
    };
    Conversation conversation{.sender = port_snapshot(known.sender),
                              .receiver = port_snapshot(known.receiver),
                              .group = group_snapshot(known.group)};
    if (known.link && known.link->p_key) conversation.link = link_snapshot(*known.link);
    conversation.sender_announced = announced(known.sender);
    conversation.receiver_announced = announced(known.receiver);
    if (known.member && known.member->joined && known.member->joined_at) {
        conversation.joined = number(known.member->joined_at);
        conversation.join_state = known.member->joined;
    }
    auto index = conversation_index_.find(conversation);
    if (index == conversation_index_.end()) {
        if (conversations_.size() >= most_snapshots) {
            is_incomplete_ = true;
            return;
        }
        index = conversation_index_.emplace(conversation, static_cast<std::uint32_t>(conversations_.size())).first;
        conversations_.push_back(conversation);
    }
    conversation_by_frame_[frame] = index->second;
}

/// Requests and answers find each other by their transaction, whichever way they go.
void CaptureState::exchanges(FrameNumber frame) {
    const auto& packet = inspector_.packet();
    if (!packet.lrh) return;
    if (exchanges_.size() >= most_exchanges) {
        is_incomplete_ = true;
        return;
    }
    auto& [open, open_order, lives, reassembly] = subnet();
    const auto [low, high] = std::minmax({packet.lrh[Lrh::slid], packet.lrh[Lrh::dlid]});
    const auto mgmt_class = packet.mad[Mad::mgmt_class];
    const std::pair key{packet.mad[Mad::transaction_id],
                        std::uint64_t{low} << 32 | std::uint64_t{high} << 8 | static_cast<std::uint8_t>(mgmt_class)};
    const bool is_answer = mgmt_class == MgmtClass::communication
                               ? packet.mad[Mad::attribute_id] != cm_attribute::req
                               : (static_cast<std::uint8_t>(packet.mad[Mad::method]) & response_bit) != 0;
    if (!is_answer) {
        if (open.insert_or_assign(key, Open{frame, packet.mad[Mad::method]}).second) open_order.push_back(key);
        if (open_order.size() > most_open) {
            open.erase(open_order.front());
            open_order.pop_front();
        }
        return;
    }
    const auto request = open.find(key);
    if (request == open.end()) return;
    auto& exchange = exchanges_[frame];
    exchange.request = request->second.frame;
    exchange.asked = request->second.method;
    if (auto& of_request = exchanges_[exchange.request]; of_request.answer == 0) of_request.answer = frame;
}

void CaptureState::memberships(FrameNumber frame) {
    const auto& packet = inspector_.packet();
    const auto& known = inspector_.known();
    const bool joins = is_join_answer(packet), leaves = is_leave_answer(packet);
    if ((!joins && !leaves) || !known.group || !known.subject || !known.member) return;
    auto& life = subnet().lives[known.group->mgid];
    if (leaves) life.ended = frame;
    if (joins && (known.was_missing || life.made == 0)) life.made = frame;
    auto& latest = latest_membership_[known.member];
    if (latest && latest->to == 0) {
        if (latest->join_state == known.member->joined) return;
        latest->to = frame;
    }
    if (known.member->joined == 0 || membership_count_ >= most_memberships) return;
    ++membership_count_;
    latest = &members_[known.group].emplace_back(
        Membership{.port = port_snapshot(known.subject), .join_state = known.member->joined, .from = frame});
}

/// A report of traps 66 and 67 comes from an answer that made or ended the group.
void CaptureState::reports(FrameNumber frame) {
    const auto& packet = inspector_.packet();
    const auto notice = packet.get<Notice>();
    if (!notice || packet.mad[Mad::method] != Method::report) return;
    const auto details = gid_details(notice);
    if (!details) return;
    const auto& lives = subnet().lives;
    const auto life = lives.find(details[GidDetails::gid]);
    if (life == lives.end()) return;
    const auto trap = notice[Notice::trap_number];
    const auto cause = trap == trap::multicast_group_created   ? life->second.made
                       : trap == trap::multicast_group_deleted ? life->second.ended
                                                               : 0;
    if (cause == 0 || exchanges_.size() >= most_exchanges) return;
    exchanges_[frame].cause = cause;
    if (auto& of_cause = exchanges_[cause]; of_cause.report == 0) of_cause.report = frame;
}

void CaptureState::tables(FrameNumber frame) {
    const auto& packet = inspector_.packet();
    if (!packet.lrh) return;
    if (table_octets_count_ >= most_table_octets) {
        is_incomplete_ = true;
        return;
    }
    const auto mad = packet.octets.subspan(packet.offset_of(packet.mad.data()));
    auto result = subnet().reassembly.add(packet.lrh[Lrh::slid], packet.lrh[Lrh::dlid],
                                          mad.first(std::min<std::size_t>(mad.size(), mad_size)));
    if (result.state != RmppResult::State::complete) return;
    auto& table = *result.table;
    table_octets_count_ += table.data.size();
    const auto& octets = table_octets_.emplace_back(std::move(table.data));
    tables_[frame] = {octets, table.record_size, table.key.attribute_id};
    if (table.key.attribute_id == attribute::node_record) hosts_.take_records(octets, table.record_size);
}

const ExpertInfo* CaptureState::expert_infos(FrameNumber frame) const {
    const auto found = expert_infos_.find(frame);
    return found == expert_infos_.end() ? nullptr : found->second.first;
}

const Conversation* CaptureState::conversation(FrameNumber frame) const {
    if (frame >= conversation_by_frame_.size() || conversation_by_frame_[frame] == 0) return nullptr;
    return &conversations_[conversation_by_frame_[frame]];
}

const Exchange* CaptureState::exchange(FrameNumber frame) const {
    const auto found = exchanges_.find(frame);
    return found == exchanges_.end() ? nullptr : &found->second;
}

const ReassembledTable* CaptureState::table(FrameNumber frame) const {
    const auto found = tables_.find(frame);
    return found == tables_.end() ? nullptr : &found->second;
}

const std::deque<Membership>* CaptureState::members(const state::Group& group) const {
    const auto found = members_.find(&group);
    return found == members_.end() ? nullptr : &found->second;
}

}  // namespace ipoib::dissector
