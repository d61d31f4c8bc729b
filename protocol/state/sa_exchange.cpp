// SPDX-License-Identifier: GPL-2.0-or-later
// Requests to the subnet administrator and their answers, its tables and its reports. IBTA Vol 1, 15.2.
#include "protocol/state/subnet.hpp"
#include "protocol/wire/inform_info.hpp"
#include "protocol/wire/mgid.hpp"
#include "protocol/wire/notice.hpp"

#include <algorithm>

namespace ipoib::state {
using namespace wire;

namespace {

using component = McMemberRecord::component;

bool is_good(const Packet& packet) { return packet.mad[Mad::status] == 0; }

/// Requests of one port are told apart by TransactionID; method and attribute make a reused one another request.
std::pair<std::uint64_t, std::uint64_t> request_key(std::uint16_t lid, const Packet& packet) {
    const auto method = static_cast<std::uint64_t>(packet.mad[Mad::method]) & 0x7f;
    // A table's segments and a Get's answer come with the response's own method; a Delete's with its own, too.
    return {packet.mad[Mad::transaction_id], std::uint64_t{lid} << 32 | method << 16 | packet.mad[Mad::attribute_id]};
}

/// GetResp answers Get and Set alike, so both are looked for.
constexpr std::uint64_t as_set(std::uint64_t key) {
    return (key & ~(std::uint64_t{0x7f} << 16)) | static_cast<std::uint64_t>(Method::set) << 16;
}

template <class Record>
Octets octets_of(const Packet& packet) {
    const auto view = packet.get<Record>();
    return view ? view.octets() : Octets{};
}

Octets record_octets(const Packet& packet) {
    if (packet.mc_member) return packet.mc_member.octets();
    if (const auto path = octets_of<PathRecord>(packet); !path.empty()) return path;
    return octets_of<InformInfo>(packet);
}

}  // namespace

void Subnet::take_sa(const Packet& packet) {
    if (!packet.sa || !packet.lrh) return;
    const auto method = packet.mad[Mad::method];
    if (method == Method::report || method == Method::report_resp || method == Method::trap) {
        if (method == Method::report) take_report(packet);
        return;
    }
    if (packet.rmpp && packet.rmpp[Rmpp::active] && packet.rmpp[Rmpp::type] != RmppType::data) return;
    if (is_response(method))
        take_answer(packet);
    else
        take_request(packet);
}

/// The entry of a request or of its answer; made if it is new, at the cost of the oldest.
Request* Subnet::request_slot(const Packet& packet, std::uint16_t lid) {
    auto key = request_key(lid, packet);
    auto found = request_index_.find(key);
    if (packet.mad[Mad::method] == Method::get_resp && found == request_index_.end())
        found = request_index_.find({key.first, as_set(key.second)});
    if (found != request_index_.end()) return &requests_[found->second];
    if (requests_.empty()) return nullptr;
    auto& slot = requests_[next_request_];
    if (slot.asked || slot.answered) {
        if (!slot.answered) ++doubts_.unanswered;
        request_index_.erase({slot.transaction, std::uint64_t{slot.lid} << 32 |
                                                    static_cast<std::uint64_t>(slot.method) << 16 | slot.attribute});
    }
    slot = {.lid = lid,
            .transaction = key.first,
            .method = static_cast<Method>(static_cast<unsigned>(packet.mad[Mad::method]) & 0x7f),
            .attribute = packet.mad[Mad::attribute_id]};
    request_index_[key] = static_cast<std::uint32_t>(next_request_);
    next_request_ = (next_request_ + 1) % requests_.size();
    return &slot;
}

void Subnet::take_request(const Packet& packet) {
    const auto slid = packet.lrh[Lrh::slid];
    // A port that joins names itself, so its GID is known from then on.
    if (packet.mc_member && packet.mad[Mad::method] != Method::get_table) {
        const auto gid = packet.mc_member[McMemberRecord::port_gid];
        const bool is_given = (packet.sa[SaHeader::component_mask] & component::port_gid) != 0;
        const bool is_own = is_given && gid.prefix() == prefix_ &&
                            (sender_ == none || ports_[sender_].gid.is_zero() || ports_[sender_].gid == gid);
        subject_ = is_own ? ports_.of(slid, gid) : is_given ? ports_.of(0, gid) : sender_;
    } else {
        subject_ = sender_;
    }
    auto* request = request_slot(packet, slid);
    if (!request) return;
    const bool is_repeated = static_cast<bool>(request->asked);
    const bool is_late = !is_repeated && request->answered;
    request->asked = known_.now;
    request->sa = packet.lrh[Lrh::dlid];
    request->components = packet.sa[SaHeader::component_mask];
    request->port = subject_;
    const auto octets = record_octets(packet);
    std::copy_n(octets.begin(), std::min(octets.size(), request->record.size()), request->record.begin());
    known_.request = request;
    if (subject_ == none) return;
    auto& port = ports_[subject_];
    if (is_late && port.gap.frame == request->answered.frame) port.gap = request->gap_before;
    if (!is_repeated && !is_late) {
        request->epoch = port.epoch;
        ++port.open_requests;
        opens_request_ = true;
    }
    if (request->attribute == attribute::mc_member_record) {
        if (request->method == Method::get_table) port.asked_for_groups = true;
        if (packet.mc_member && (request->components & component::mgid)) asked_for_group(*request);
    }
}

void Subnet::take_answer(const Packet& packet) {
    const auto slid = packet.lrh[Lrh::slid], dlid = packet.lrh[Lrh::dlid];
    const bool is_later_segment =
        packet.mad[Mad::method] == Method::get_table_resp && !packet.rmpp[Rmpp::first] && packet.rmpp[Rmpp::active];
    auto* request = is_later_segment ? nullptr : request_slot(packet, dlid);
    const bool has_request = request && request->asked;
    // Only who was asked can answer; where the question is not in the capture, only the known SA.
    if (has_request ? request->sa != slid : (sa_lid_ != 0 && sa_lid_ != slid)) {
        ++doubts_.unbelieved;
        known_.facts = 0;
        return;
    }
    if (sa_lid_ != slid) {
        if (sa_lid_ != 0) {
            ++sm_restarts_;
            sm_restarted_ = known_.now;
        }
        sa_lid_ = slid;
    }
    if (first_answered_ == 0) first_answered_ = dlid;
    known_.is_at_sa = is_at_sa_ = is_at_sa_ || first_answered_ != dlid;
    subject_ = has_request ? request->port : ports_.of(dlid);
    if (has_request && !request->answered && subject_ != none && request->epoch == ports_[subject_].epoch &&
        ports_[subject_].open_requests > 0)
        --ports_[subject_].open_requests;
    if (request && !has_request && !request->answered) {
        ++doubts_.unasked;
        if (subject_ != none) {
            request->gap_before = ports_[subject_].gap;
            ports_[subject_].gap = known_.now;
        }
    }
    if (request && !request->answered) request->answered = known_.now;
    if (has_request) known_.request = request;
    if (packet.mad[Mad::method] == Method::get_table_resp) {
        take_table(packet);
        return;
    }
    if (packet.mc_member) answered_join(packet, has_request ? request : nullptr);
    if (has_request && is_good(packet) && request->attribute == attribute::inform_info) subscribed(*request);
    if (const auto path = packet.get<PathRecord>(); path && is_good(packet)) learn_path(path, subject_);
}

void Subnet::learn_path(View<PathRecord> record, PortIndex from) {
    const auto dgid = record[PathRecord::dgid];
    if (from == none || dgid.is_zero() || dgid.is_multicast()) return;
    const auto index = paths_.find_or_add({from ^ dgid.prefix(), dgid.interface_id()});
    if (index == none) return;
    auto& path = paths_[index];
    path.former_dlid = path.told ? path.dlid : record[PathRecord::dlid];
    path.former_sl = path.told ? path.sl : record[PathRecord::sl];
    path.from = from;
    path.to = dgid;
    path.dlid = record[PathRecord::dlid];
    path.sl = record[PathRecord::sl];
    path.rate = record[PathRecord::rate];
    path.told = known_.now;
    if (dgid.prefix() == prefix_) static_cast<void>(ports_.of(path.dlid, dgid));
}

void Subnet::take_table(const Packet& packet) {
    const auto mad = packet.octets.subspan(packet.offset_of(packet.mad.data()));
    const auto result = tables_.add(packet.lrh[Lrh::slid], packet.lrh[Lrh::dlid], mad);
    if (result.dropped) ++doubts_.broken_tables;
    if (!result.table) return;
    const auto asker = ports_.of(packet.lrh[Lrh::dlid]);
    subject_ = asker;
    switch (packet.mad[Mad::attribute_id]) {
        case attribute::mc_member_record:
            for_each_record<McMemberRecord>(*result.table, [&](View<McMemberRecord> record) {
                const auto mgid = record[McMemberRecord::mgid];
                if (!mgid.is_multicast()) return;
                const auto group = group_of(mgid);
                ++known_.groups_told;
                if (group != none && groups_[group].told.frame == known_.now.frame && groups_[group].record &&
                    groups_[group].record->mlid != record[McMemberRecord::mlid])
                    known_.is_told_twice = true;
                if (group != none) groups_[group].told = known_.now;
                if (has_ipoib_signature(mgid)) known_.link = &links_[link_of(mgid_of(mgid)[Mgid::p_key])];
                learn_group(group, parameters_of(record), Source::sa);
                const auto gid = record[McMemberRecord::port_gid];
                const auto state = record[McMemberRecord::join_state];
                if (!gid.is_zero() && state != 0) {
                    const auto index = member_of(group, ports_.of(0, gid));
                    if (index != none) members_[index].joined |= state;
                }
                if (asker != none && ports_[asker].is_router && has_ipoib_signature(mgid))
                    tell(EventKind::told_of_group, asker, group);
            });
            break;
        case attribute::path_record:
            for_each_record<PathRecord>(*result.table, [&](View<PathRecord> record) {
                if (asker != none && record[PathRecord::sgid] == ports_[asker].gid) learn_path(record, asker);
            });
            break;
        default:
            break;
    }
}

void Subnet::take_report(const Packet& packet) {
    const auto notice = packet.get<Notice>();
    if (!notice || !notice[Notice::is_generic]) return;
    const auto number = notice[Notice::trap_number];
    if (number != trap::multicast_group_created && number != trap::multicast_group_deleted) return;
    const auto details = gid_details(notice);
    if (!details || !details[GidDetails::gid].is_multicast()) return;
    const auto mgid = details[GidDetails::gid];
    group_ = group_of(mgid);
    subject_ = ports_.of(packet.lrh[Lrh::dlid]);
    if (has_ipoib_signature(mgid)) known_.link = &links_[link_of(mgid_of(mgid)[Mgid::p_key])];
    if (group_ == none) return;
    auto& group = groups_[group_];
    const bool is_created = number == trap::multicast_group_created;
    (is_created ? group.created : group.deleted) = known_.now;
    group.existence = is_created ? Existence::exists : Existence::missing;
    if (is_created && subject_ != none && ports_[subject_].is_router && has_ipoib_signature(mgid))
        tell(EventKind::told_of_group, subject_, group_);
}

}  // namespace ipoib::state
