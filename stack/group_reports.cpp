// SPDX-License-Identifier: GPL-2.0-or-later
// Telling multicast routers which groups are listened to.
#include "stack/group_reports.hpp"

#include "protocol/wire/mld.hpp"
#include "stack/interface.hpp"
#include "stack/octets.hpp"

#include <algorithm>

namespace ipoib::stack {
using namespace wire;

namespace {

constexpr std::size_t most_records = 60;  ///< of IPv6, so that a report fits into the smallest IPv6 MTU

/// Those who hear the reports of the newer versions: 224.0.0.22, ff02::16.
IpAddress report_group(bool is_v4) noexcept {
    return is_v4 ? IpAddress::v4(0xe0000016) : IpAddress::v6(Gid::of(std::uint64_t{0xff02} << 48, 0x16));
}

/// Nobody reports all nodes, or groups that stay in the node. RFC 3376, 6; RFC 3810, 6.
bool is_reported(const IpAddress& group) noexcept {
    return group != all_nodes(group.is_v4()) && !is_interface_local(group);
}

template <class Record>
void add_record(std::vector<std::uint8_t>& message, std::uint8_t type,
                const typename decltype(Record::group)::type& group) {
    const auto record = Bytes<Record>{}.set(Record::type, type).set(Record::group, group);
    append(message, record.octets);
}

}  // namespace

void GroupReports::joined(const IpAddress& group) {
    if (!is_reported(group)) return;
    if (group.is_v4() ? has_old_querier_v4_ : has_old_querier_v6_) return old_report(group, false);
    report({&group, 1}, group_record::to_exclude, group.is_v4());
}

void GroupReports::left(const IpAddress& group) {
    if (!is_reported(group)) return;
    if (group.is_v4() ? has_old_querier_v4_ : has_old_querier_v6_) return old_report(group, true);
    report({&group, 1}, group_record::to_include, group.is_v4());
}

void GroupReports::report(std::span<const IpAddress> groups, std::uint8_t record_type, bool is_v4) {
    const auto count = static_cast<std::uint16_t>(std::min(groups.size(), most_records));
    auto message = is_v4 ? octets_of(Bytes<IgmpV3Report>{}
                                         .set(IgmpV3Report::type, igmp_type::report_v3)
                                         .set(IgmpV3Report::number_of_records, count))
                         : octets_of(Bytes<MldV2Report>{}
                                         .set(MldV2Report::type, mld_type::report_v2)
                                         .set(MldV2Report::number_of_records, count));
    for (const auto& group : groups.first(count)) {
        if (is_v4)
            add_record<IgmpRecord>(message, record_type, group.v4());
        else
            add_record<MldRecord>(message, record_type, group.octets);
    }
    send(report_group(is_v4), std::move(message));
}

/// To the group itself; who leaves tells the routers.
void GroupReports::old_report(const IpAddress& group, bool is_leaving) {
    const auto destination = is_leaving ? all_routers(group.is_v4()) : group;
    if (group.is_v4()) {
        const auto type = is_leaving ? igmp_type::leave : igmp_type::report_v2;
        send(destination, octets_of(Bytes<Igmp>{}.set(Igmp::type, type).set(Igmp::group, group.v4())));
    } else {
        const auto type = is_leaving ? mld_type::done : mld_type::report_v1;
        send(destination, octets_of(Bytes<Mld>{}.set(Mld::type, type).set(Mld::group, group.octets)));
    }
}

void GroupReports::send(const IpAddress& destination, std::vector<std::uint8_t> message) {
    const bool is_v4 = destination.is_v4();
    const auto source = interface_.source_for(destination);
    if (!source && !is_v4) return;
    // RFC 3376, 4.2.13: a host without an address reports too.
    const IpHead head{.source = source.value_or(IpAddress::v4(0)),
                      .destination = destination,
                      .protocol = is_v4 ? IpProtocol::igmp : IpProtocol::icmpv6,
                      .hop_limit = 1,
                      .has_router_alert = true};
    set_checksum(head, message);
    interface_.ip().send(head, message);
}

void GroupReports::answer(const IpDatagram& query, std::span<const IpAddress> groups) {
    const bool is_v4 = query.destination.is_v4();
    IpAddress asked_for;
    bool is_old = false;
    if (is_v4) {
        const auto igmp = View<Igmp>::at(query.payload);
        if (!igmp || igmp[Igmp::type] != igmp_type::query) return;
        is_old = query.payload.size() < IgmpV3Query::size;
        asked_for = IpAddress::v4(igmp[Igmp::group]);
    } else {
        const auto mld = View<Mld>::at(query.payload);
        if (!mld || query.hop_limit != 1) return;
        is_old = query.payload.size() < MldV2Query::size;
        asked_for = IpAddress::v6(mld[Mld::group]);
    }
    (is_v4 ? has_old_querier_v4_ : has_old_querier_v6_) = is_old;
    const bool is_general = is_v4 ? asked_for.v4() == 0 : asked_for.octets.is_zero();
    std::vector<IpAddress> listened;
    for (const auto& group : groups)
        if (group.is_v4() == is_v4 && is_reported(group) && (is_general || group == asked_for))
            listened.push_back(group);
    if (!is_old && !listened.empty()) report(listened, group_record::is_exclude, is_v4);
    if (is_old)
        for (const auto& group : listened) old_report(group, false);
}

}  // namespace ipoib::stack
