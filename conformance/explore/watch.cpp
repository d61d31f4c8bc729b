// SPDX-License-Identifier: GPL-2.0-or-later
// Requests told apart by what they ask for.
#include "conformance/explore/watch.hpp"

#include "protocol/wire/inform_info.hpp"
#include "protocol/wire/packet.hpp"
#include "protocol/wire/path_record.hpp"

#include <algorithm>

namespace ipoib::conformance::explore {
using namespace wire;
using namespace std::chrono_literals;

namespace {

/// After this time without an answer and without repetition a request is taken for given up.
constexpr auto given_up = 3s;

Question question_of(const Packet& packet) {
    Question question{.method = packet.mad[Mad::method], .attribute = packet.mad[Mad::attribute_id], .key = {}};
    // An answer is to what was asked.
    if (question.method == Method::get_resp) question.method = Method::get;
    const auto record =
        packet.payload.size() > SaHeader::data_offset ? packet.payload.subspan(SaHeader::data_offset) : Octets{};
    if (packet.mc_member) question.key = packet.mc_member[McMemberRecord::mgid];
    if (question.attribute == attribute::path_record)
        if (const auto path = View<PathRecord>::at(record)) question.key = path[PathRecord::dgid];
    if (question.attribute == attribute::inform_info)
        if (const auto info = View<InformInfo>::at(record))
            question.key = Gid::of(info[InformInfo::subscribe], info[InformInfo::trap_number]);
    return question;
}

/// What kind of group or peer it is about, without its number.
std::uint64_t kind_of(const Question& question) {
    if (question.attribute != attribute::mc_member_record) return 0;
    if (is_broadcast_gid(question.key)) return 1;
    return 2;
}

}  // namespace

std::string text(const Question& question) {
    std::string_view name = "a record", method = "Get";
    if (question.attribute == attribute::mc_member_record) name = "MCMemberRecord";
    if (question.attribute == attribute::path_record) name = "PathRecord";
    if (question.attribute == attribute::inform_info) name = "InformInfo";
    if (question.method == Method::set) method = "Set";
    if (question.method == Method::del) method = "Delete";
    if (question.method == Method::get_table) method = "GetTable";
    return std::string(method) + '(' + std::string(name) + ") of " +
           (question.attribute == attribute::inform_info ? "trap " + std::to_string(question.key.interface_id())
                                                         : wire::text(question.key));
}

void Watch::take(const fabric::Frame& frame, bool is_sent) {
    const auto octets = frame.octets();
    Packet packet;
    decode(octets, packet);
    const bool is_of_sa = !is_sent && packet.sa;
    const fabric::Sighting sighting{.time = loop_.now(),
                                    .octets = octets,
                                    .sender = is_of_sa ? fabric::Sender::sa : fabric::Sender::other,
                                    .is_rebuilt = false};
    recorder_.add(sighting);
    const bool is_answer = is_of_sa && is_response(packet.mad[Mad::method]);
    if (!is_answer || is_awaited(packet.mad[Mad::transaction_id])) judged_.add(sighting);
    if (is_sent && packet.is_ipoib() && packet.lrh && packet.lrh[Lrh::slid] != lid_)
        odd_lid_ = {loop_.now(), packet.lrh[Lrh::slid]};
    if (!is_sent && packet.arp_addresses)
        announced(IpAddress::v4(packet.arp_addresses[ArpAddresses::spa]), packet.arp_addresses[ArpAddresses::sha_gid]);
    if (!is_sent && packet.nd_target && packet.target_option)
        announced(IpAddress::v6(packet.nd_target[NdTarget::target]), packet.target_option[LinkAddressOption::gid]);
    if (!packet.sa) return;
    const auto method = packet.mad[Mad::method];
    const auto transaction = packet.mad[Mad::transaction_id];
    if (method == Method::report_resp && is_sent) {
        const auto notice = packet.payload.size() > SaHeader::data_offset
                                ? View<Notice>::at(packet.payload.subspan(SaHeader::data_offset))
                                : View<Notice>{};
        const auto details = notice ? gid_details(notice) : View<GidDetails>{};
        if (details && notice[Notice::trap_number] == trap::multicast_group_deleted)
            deletions_[details[GidDetails::gid]] = loop_.now();
        if (notice) transition(0x100 + notice[Notice::trap_number]);
        return;
    }
    const auto question = question_of(packet);
    const std::uint8_t join_state = packet.mc_member ? packet.mc_member[McMemberRecord::join_state] : std::uint8_t{0};
    if (is_sent && !is_response(method)) asked(question, transaction, join_state);
    if (!is_sent && is_response(method)) answered(question, transaction, packet.mad[Mad::status], join_state);
}

void Watch::announced(const IpAddress& address, const Gid& gid) {
    auto& [known, since] = announced_[address];
    if (known != gid) since = loop_.now();
    known = gid;
}

bool Watch::is_awaited(std::uint64_t transaction) const {
    return std::ranges::any_of(open_, [&](const auto& item) {
        return std::ranges::find(item.second, transaction, &Open::transaction) != item.second.end();
    });
}

void Watch::asked(const Question& question, std::uint64_t transaction, std::uint8_t join_state) {
    const auto now = loop_.now();
    ++sent_[question];
    if (question.attribute == attribute::inform_info) {
        subscriptions_[transaction] = question;
        if (question.key.prefix() == 0) subscribed_.erase(question.key.interface_id());
    }
    const bool is_join = question.method == Method::set && question.attribute == attribute::mc_member_record;
    if (is_join && is_broadcast_gid(question.key)) began_anew_ = now;
    auto& times = recent_[question];
    std::erase_if(times, [&](fabric::Time time) { return now - time >= 1s; });
    times.push_back(now);
    const auto in_a_second = static_cast<unsigned>(times.size());
    if (question.method != Method::get_table && in_a_second > most_in_a_second_.count)
        most_in_a_second_ = {in_a_second, question, now};
    auto& open = open_[question];
    std::erase_if(open, [&](const Open& one) { return now - one.last >= given_up; });
    const auto found = std::ranges::find(open, transaction, &Open::transaction);
    if (found == open.end()) {
        open.push_back({transaction, now});
        const auto signals = std::ranges::count_if(signals_, [&](fabric::Time at) { return now - at < given_up; });
        const auto excess = static_cast<unsigned>(std::max<std::ptrdiff_t>(std::ssize(open) - signals, 0));
        // What a table is asked for to find is not seen.
        if (question.method != Method::get_table && excess > most_open_.count) most_open_ = {excess, question, now};
        transition(static_cast<std::uint64_t>(question.method) << 16 | kind_of(question) << 12 |
                   std::uint64_t{join_state} << 4 | (question.attribute & 0xfu));
    } else {
        found->last = now;
        transition(0x1000000u | question.attribute);
    }
}

void Watch::answered(const Question& question, std::uint64_t transaction, std::uint16_t status,
                     std::uint8_t join_state) {
    if (const auto found = subscriptions_.find(transaction); found != subscriptions_.end()) {
        const auto& key = found->second.key;
        if (status == 0 && key.prefix() != 0) subscribed_.insert(key.interface_id());
        subscriptions_.erase(found);
    }
    // Get and Set are both answered by GetResp.
    bool was_open = false;
    for (auto& [asked, open] : open_)
        if (asked.attribute == question.attribute)
            was_open =
                std::erase_if(open, [&](const Open& one) { return one.transaction == transaction; }) > 0 || was_open;
    transition(0x2000000u | (was_open ? 0u : 0x800000u) | std::uint64_t{status} << 8 | kind_of(question) << 6 |
               join_state);
}

void Watch::transition(std::uint64_t what) {
    // What was seen before it matters as much as what it is.
    const auto pair = before_ * 0x100000001b3u ^ what;
    before_ = what;
    transitions_.insert((pair << 8 | action_) * 0x9e3779b97f4a7c15u);
}

fabric::Time Watch::told_of(const IpAddress& address, const Gid& gid) const {
    const auto found = announced_.find(address);
    return found == announced_.end() || found->second.first != gid ? fabric::Time::min() : found->second.second;
}

void Watch::begin_rest() { sent_.clear(); }

fabric::Time Watch::told_of_deletion(const Gid& mgid) const {
    const auto found = deletions_.find(mgid);
    return found == deletions_.end() ? fabric::Time::min() : found->second;
}

}  // namespace ipoib::conformance::explore
