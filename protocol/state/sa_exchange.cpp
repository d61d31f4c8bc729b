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

/// All bits of a method but the R bit.
constexpr std::uint64_t method_bits = 0xff & ~response_bit;

/// Requests of one port are told apart by TransactionID; method and attribute make a reused one another request.
std::pair<std::uint64_t, std::uint64_t> request_key(std::uint16_t lid, const Packet& packet) {
    const auto method = static_cast<std::uint64_t>(packet.mad[Mad::method]) & method_bits;
    // A table's segments and a Get's answer come with the response's own method; a Delete's with its own, too.
    return {packet.mad[Mad::transaction_id], std::uint64_t{lid} << 32 | method << 16 | packet.mad[Mad::attribute_id]};
}

/// GetResp answers Get and Set alike, so both are looked for.
constexpr std::uint64_t as_set(std::uint64_t key) {
    return (key & ~(method_bits << 16)) | static_cast<std::uint64_t>(Method::set) << 16;
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
        if (method == Method::report_resp) take_acknowledgement(packet);
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
    if (packet.mad[Mad::method] == Method::get_resp) {
        // It answers a Get or a Set: of two with one number the one that waits, else the later one.
        const auto set = request_index_.find({key.first, as_set(key.second)});
        const auto is_better = [&](const Request& one, const Request& other) {
            const bool one_waits = !one.answered, other_waits = !other.answered;
            return one_waits != other_waits ? one_waits : one.asked.order > other.asked.order;
        };
        const bool has_set = set != none;
        if (has_set && (found == none || is_better(requests_[set], requests_[found]))) found = set;
    }
    if (found != none) return &requests_[found];
    if (most_requests_ == 0) return nullptr;
    if (requests_.size() < most_requests_) requests_.emplace_back();
    auto& slot = requests_[next_request_];
    if (slot.asked || slot.answered) {
        if (!slot.answered) ++doubts_.unanswered;
        request_index_.erase({slot.transaction, std::uint64_t{slot.lid} << 32 |
                                                    static_cast<std::uint64_t>(slot.method) << 16 | slot.attribute});
    }
    slot = {.lid = lid,
            .transaction = key.first,
            .method = static_cast<Method>(static_cast<unsigned>(packet.mad[Mad::method]) & method_bits),
            .attribute = packet.mad[Mad::attribute_id]};
    request_index_.set(key, static_cast<std::uint32_t>(next_request_));
    next_request_ = (next_request_ + 1) % most_requests_;
    return &slot;
}

void Subnet::take_request(const Packet& packet) {
    const auto slid = packet.lrh[Lrh::slid];
    // A port that joins names itself, so its GID is known from then on.
    if (packet.mc_member && packet.mad[Mad::method] != Method::get_table) {
        const auto gid = packet.mc_member[McMemberRecord::port_gid];
        const bool is_given = (packet.sa[SaHeader::component_mask] & component::port_gid) != 0;
        // Another prefix may be the port's own or that of a port behind a router; a proxy may ask for another port.
        const bool is_own = is_given && is_local(gid) && is_at(gid, slid);
        subject_ = is_own ? port_of(slid, gid) : is_given ? port_of(0, gid) : sender_;
        // It has moved here, or somebody asks on its behalf: until it shows itself its place is not known.
        if (is_given && !is_own && subject_ != none && ports_[subject_].lid != 0 && ports_[subject_].lid != slid) {
            ports_.move(subject_, 0);
            ports_[subject_].moved = known_.now;
        }
    } else {
        subject_ = sender_;
    }
    auto* request = request_slot(packet, slid);
    if (!request) return;
    const auto psn = packet.bth[Bth::psn];
    // The number of a transaction that has ended may be used again. IBTA Vol 1, 13.4.6.4.
    if (request->asked && request->answered && (psn != request->psn || psn == 0))
        request->asked = request->answered = {};
    request->psn = psn;
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
    auto& requester = requester_at(slid);
    if (request->method == Method::set && packet.mc_member && (request->components & component::port_gid))
        requester.prefix = packet.mc_member[McMemberRecord::port_gid].prefix();
    // It leaves the link, whatever becomes of the answer.
    if (request->method == Method::del && packet.mc_member && is_broadcast_gid(packet.mc_member[McMemberRecord::mgid]))
        doubt_queue_pairs(subject_);
    if (is_late && requester.gap.order == request->answered.order) requester.gap = request->gap_before;
    if (!is_repeated && !is_late) {
        request->epoch = requester.epoch;
        ++requester.open_requests;
        opens_request_ = true;
    }
    if (request->attribute == attribute::path_record || request->attribute == attribute::multi_path_record) {
        requester.asked_for_paths = true;
        if (packet.mad[Mad::method] != Method::get) requester.asked_for_many = true;
    }
    if (request->attribute == attribute::inform_info) subscribes(*request);
    if (request->attribute == attribute::mc_member_record) {
        if (request->method == Method::get_table) requester.asked_for_groups = true;
        if (packet.mc_member && (request->components & component::mgid)) asked_for_group(*request);
    }
}

/// An answer that comes so early may be to a request from before the capture.
constexpr std::int64_t longest_answer_time = 10'000'000'000;  // ns

void Subnet::take_answer(const Packet& packet) {
    const auto slid = packet.lrh[Lrh::slid], dlid = packet.lrh[Lrh::dlid];
    const bool is_later_segment =
        packet.mad[Mad::method] == Method::get_table_resp && !packet.rmpp[Rmpp::first] && packet.rmpp[Rmpp::active];
    auto* request = is_later_segment ? nullptr : request_slot(packet, dlid);
    const bool has_request = request && request->asked;
    // Only who was asked can answer; where the question is not in the capture, only the known SA.
    if (has_request ? request->sa != slid : (sa_lid_ != 0 && sa_lid_ != slid)) {
        ++doubts_.unbelieved;
        // Another one that was redirected to, or has taken over, may have said what is not known here.
        requester_at(dlid).gap = known_.now;
        known_.facts = 0;
        return;
    }
    // A late answer of the one before is no new beginning.
    const bool is_of_before = has_request && sa_lid_ != 0 && request->asked.order < sm_restarted_.order;
    if (sa_lid_ != slid && !is_of_before) {
        if (sa_lid_ != 0) {
            ++sm_restarts_;
            sm_restarted_ = sa_changed_ = known_.now;
        }
        sa_lid_ = slid;
    }
    if (first_answered_ == 0) first_answered_ = dlid;
    set(is_at_sa_, is_at_sa_ || first_answered_ != dlid);
    known_.is_at_sa = is_at_sa_;
    subject_ = has_request ? request->port : ports_.of(dlid);
    auto& requester = requester_at(dlid);
    if (has_request && !request->answered && request->epoch == requester.epoch)
        requester.open_requests -= std::min(requester.open_requests, closed_by(*request));
    if (request && !has_request && !request->answered) {
        ++doubts_.unasked;
        if (steady_ > longest_answer_time) shown_loss_ = known_.now;
        request->gap_before = requester.gap;
        requester.gap = known_.now;
    }
    const bool is_second = has_request && request->answered && request->asked.order < request->answered.order;
    if (request && !request->answered) request->answered = known_.now;
    if (has_request) known_.request = request;
    if (is_second && packet.mc_member) return answered_again(packet, *request);
    if (packet.mad[Mad::method] == Method::get_table_resp) {
        take_table(packet);
        return;
    }
    if (packet.mc_member) answered_join(packet, has_request ? request : nullptr);
    if (const auto path = packet.get<PathRecord>(); path && is_good(packet))
        learn_path(path, dlid, has_request ? request : nullptr);
}

/// The same question to the SA has got another DLID as its answer than before. IBTA Vol 1, 15.2.5.16.
void Subnet::is_answered_otherwise(Path& path, const PathWay& way, const Request& request) {
    if (request.method != Method::get) return;
    std::uint64_t question = 0xcbf29ce484222325u ^ request.components;
    for (const auto octet : request.record) question = (question ^ octet) * 0x100000001b3u;
    const bool is_asked_again = path.question == question && path.count != 0 && !path.has_more;
    const auto before = path.latest;
    path.question = question;
    path.latest = way.dlid;
    if (!is_asked_again || before == way.dlid) return;
    path.former_dlid = before;
    path.changed = known_.now;
    const auto kept = std::remove_if(path.ways.begin(), path.ways.begin() + path.count,
                                     [&](const PathWay& one) { return one.dlid == before; });
    path.count = static_cast<std::uint8_t>(kept - path.ways.begin());
}

void Subnet::learn_path(View<PathRecord> record, std::uint16_t from, const Request* request) {
    const auto dgid = local_form(record[PathRecord::dgid]);
    if (dgid.is_zero() || dgid.is_multicast()) return;
    const auto index = paths_.find_or_add({dgid, from});
    if (index == none) return;
    auto& path = paths_[index];
    path.from = from;
    path.to = dgid;
    if (!path.told) path.first = known_.now;
    path.told = known_.now;
    const PathWay way{record[PathRecord::dlid], record[PathRecord::p_key], record[PathRecord::sl],
                      record[PathRecord::rate]};
    path_by_dlid_.at(way.dlid) = index + 1;
    if (request) is_answered_otherwise(path, way, *request);
    const auto end = path.ways.begin() + path.count;
    if (std::find(path.ways.begin(), end, way) != end) return;
    if (path.count == path.ways.size())
        path.has_more = true;
    else
        path.ways[path.count++] = way;
}

void Subnet::take_table(const Packet& packet) {
    const auto mad = packet.octets.subspan(packet.offset_of(packet.mad.data()));
    const auto result = tables_.add(packet.lrh[Lrh::slid], packet.lrh[Lrh::dlid], mad);
    if (result.dropped) {
        ++doubts_.broken_tables;
        shown_loss_ = known_.now;
    }
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
                if (group != none && groups_[group].told.order == known_.now.order && groups_[group].record &&
                    groups_[group].record->mlid != record[McMemberRecord::mlid])
                    known_.is_told_twice = true;
                if (group != none) groups_[group].told = known_.now;
                if (has_ipoib_signature(mgid)) known_.link = &links_[link_of_group(mgid)];
                learn_group(group, parameters_of(record), Source::sa);
                is_told_beside(record);
                const auto gid = record[McMemberRecord::port_gid];
                const auto state = record[McMemberRecord::join_state];
                if (!gid.is_zero() && state != 0) {
                    const auto index = member_of(group, port_of(0, gid));
                    if (index != none) {
                        members_[index].joined |= state;
                        is_told_mlid(index);
                    }
                }
                if (asker != none && ports_[asker].is_router() && has_ipoib_signature(mgid))
                    tell(EventKind::told_of_group, asker, group);
            });
            requester_at(packet.lrh[Lrh::dlid]).listed = known_.now;
            break;
        case attribute::path_record:
            for_each_record<PathRecord>(
                *result.table, [&](View<PathRecord> record) { learn_path(record, packet.lrh[Lrh::dlid], nullptr); });
            break;
        default:
            break;
    }
}

namespace {

/// The group that a notice of trap 66 or 67 is about; zero for another notice.
Gid group_of_notice(View<Notice> notice) {
    if (!notice || !notice[Notice::is_generic]) return {};
    const auto number = notice[Notice::trap_number];
    if (number != trap::multicast_group_created && number != trap::multicast_group_deleted) return {};
    const auto details = gid_details(notice);
    return details && details[GidDetails::gid].is_multicast() ? details[GidDetails::gid] : Gid{};
}

}  // namespace

/// Who acknowledges a report has got it. The acknowledgement repeats the notice.
void Subnet::take_acknowledgement(const Packet& packet) {
    const auto notice = packet.get<Notice>();
    const auto mgid = group_of_notice(notice);
    const auto group = mgid.is_zero() ? none : groups_.find(mgid);
    if (group == none || sender_ == none) return;
    const bool is_deleted = notice[Notice::trap_number] == trap::multicast_group_deleted;
    // The subscription is the LID's: every GID there is told. Of more than a port can have nothing is known any more.
    constexpr std::size_t most = 1024;
    std::size_t count = 0;
    for (auto port = ports_.first_at(packet.lrh[Lrh::slid]); port != none; port = ports_.next_at_lid(port)) {
        if (++count > most) {
            ++doubts_.not_kept;
            requester_at(packet.lrh[Lrh::slid]).gap = known_.now;
            break;
        }
        const auto index = members_.find(member_key(group, port));
        if (index == none) continue;
        auto& member = members_[index];
        member.told_of_creation = is_deleted ? Sight{} : known_.now;
        // A report may come late, or once more: of the group that was, after the port has joined the one that is. An
        // SA repeats one for a second or so that nobody acknowledges.
        constexpr std::int64_t longest_repetition = 2'000'000'000;  // ns
        const bool may_be_late = known_.now.steady - member.joined_at.steady < longest_repetition;
        if (is_deleted && member.joined != 0 && !may_be_late) member.told_of_deletion = known_.now;
    }
}

void Subnet::take_report(const Packet& packet) {
    const auto notice = packet.get<Notice>();
    const auto mgid = group_of_notice(notice);
    if (mgid.is_zero()) return;
    const auto number = notice[Notice::trap_number];
    group_ = group_of(mgid);
    subject_ = ports_.of(packet.lrh[Lrh::dlid]);
    if (has_ipoib_signature(mgid)) known_.link = &links_[link_of_group(mgid)];
    if (group_ == none) return;
    auto& group = groups_[group_];
    const bool is_created = number == trap::multicast_group_created;
    (is_created ? group.created : group.deleted) = known_.now;
    if (is_created) group.reported = known_.now;
    if (is_created)
        group.existence = Existence::exists;
    else
        is_missing(group);
    if (is_created && subject_ != none && ports_[subject_].is_router() && has_ipoib_signature(mgid))
        tell(EventKind::told_of_group, subject_, group_);
}

}  // namespace ipoib::state
