// SPDX-License-Identifier: GPL-2.0-or-later
// Multicast Listener Discovery of both versions, with a walk over the records of a report. RFC 2710, RFC 3810.
#pragma once

#include "protocol/wire/igmp.hpp"

namespace ipoib::wire {

/// ICMPv6 types of Multicast Listener Discovery. RFC 2710, 3.1; RFC 3810, 5.
namespace mld_type {
inline constexpr std::uint8_t query = 130, report_v1 = 131, done = 132, report_v2 = 143;
}  // namespace mld_type
inline constexpr std::array<Named, 4> mld_type_names{{{mld_type::query, "Multicast Listener Query"},
                                                      {mld_type::report_v1, "Multicast Listener Report"},
                                                      {mld_type::done, "Multicast Listener Done"},
                                                      {mld_type::report_v2, "Version 2 Multicast Listener Report"}}};

/// Message of version 1; also the head of a version 2 query. RFC 2710, 3.
struct Mld {
    static constexpr std::string_view key = "mld", name = "MLD", title = "Multicast Listener Discovery";
    static constexpr std::size_t size = 24;
    template <class T>
    using F = Field<Mld, T>;

    static constexpr F<std::uint8_t> type{"Type", octet(0), 8, Show::dec, "", mld_type_names};
    static constexpr F<std::uint8_t> code{"Code", octet(1), 8, Show::dec, "Zero"};
    static constexpr F<std::uint16_t> checksum{"Checksum", octet(2), 16, Show::hex, "With the pseudo-header"};
    static constexpr F<std::uint16_t> max_response_delay{"MaximumResponseDelay", octet(4), 16, Show::dec,
                                                         "Milliseconds"};
    static constexpr F<std::uint16_t> reserved{"Reserved", octet(6), 16, Show::reserved, ""};
    static constexpr F<Gid> group{"MulticastAddress", octet(8), 128, Show::ipv6, "Zero in a general query"};
    static constexpr auto fields = table(type, code, checksum, max_response_delay, reserved, group);
};
static_assert(tiles(Mld::fields, Mld::size));

/// Query of version 2, before its source addresses. RFC 3810, 5.1.
struct MldV2Query {
    static constexpr std::string_view key = "mld_v2_query", name = "MLDv2Query", title = "MLD version 2 query";
    static constexpr std::size_t size = 28;
    template <class T>
    using F = Field<MldV2Query, T>;

    static constexpr F<std::uint8_t> type{"Type", octet(0), 8, Show::dec, "", mld_type_names};
    static constexpr F<std::uint8_t> code{"Code", octet(1), 8, Show::dec, "Zero"};
    static constexpr F<std::uint16_t> checksum{"Checksum", octet(2), 16, Show::hex, "With the pseudo-header"};
    static constexpr F<std::uint16_t> max_response_code{"MaximumResponseCode", octet(4), 16, Show::hex,
                                                        "Milliseconds, below 32768"};
    static constexpr F<std::uint16_t> reserved16{"Reserved", octet(6), 16, Show::reserved, ""};
    static constexpr F<Gid> group{"MulticastAddress", octet(8), 128, Show::ipv6, "Zero in a general query"};
    static constexpr F<std::uint8_t> reserved4{"Resv", octet(24), 4, Show::reserved, ""};
    static constexpr F<bool> suppress{"S", octet(24, 4), 1, Show::flag, "Suppress router-side processing"};
    static constexpr F<std::uint8_t> robustness{"QRV", octet(24, 5), 3, Show::dec, "Querier's robustness variable"};
    static constexpr F<std::uint8_t> interval{"QQIC", octet(25), 8, Show::hex, "Querier's query interval code"};
    static constexpr F<std::uint16_t> number_of_sources{"NumberOfSources", octet(26), 16, Show::dec, ""};
    static constexpr auto fields = table(type, code, checksum, max_response_code, reserved16, group, reserved4,
                                         suppress, robustness, interval, number_of_sources);
};
static_assert(tiles(MldV2Query::fields, MldV2Query::size));

/// Report of version 2, before its address records. RFC 3810, 5.2.
struct MldV2Report {
    static constexpr std::string_view key = "mld_v2_report", name = "MLDv2Report", title = "MLD version 2 report";
    static constexpr std::size_t size = 8;
    template <class T>
    using F = Field<MldV2Report, T>;

    static constexpr F<std::uint8_t> type{"Type", octet(0), 8, Show::dec, "", mld_type_names};
    static constexpr F<std::uint8_t> reserved8{"Reserved8", octet(1), 8, Show::reserved, ""};
    static constexpr F<std::uint16_t> checksum{"Checksum", octet(2), 16, Show::hex, "With the pseudo-header"};
    static constexpr F<std::uint16_t> reserved16{"Reserved16", octet(4), 16, Show::reserved, ""};
    static constexpr F<std::uint16_t> number_of_records{"NumberOfMulticastAddressRecords", octet(6), 16, Show::dec, ""};
    static constexpr auto fields = table(type, reserved8, checksum, reserved16, number_of_records);
};
static_assert(tiles(MldV2Report::fields, MldV2Report::size));

/// Address record of a version 2 report, before its source addresses and auxiliary data. RFC 3810, 5.2.
struct MldRecord {
    static constexpr std::string_view key = "mld_record", name = "MLDRecord", title = "MLD multicast address record";
    static constexpr std::size_t size = 20;
    /// Octets of a source address.
    static constexpr std::size_t source_size = 16;
    template <class T>
    using F = Field<MldRecord, T>;

    static constexpr F<std::uint8_t> type{"RecordType", octet(0), 8, Show::dec, "", group_record_names};
    static constexpr F<std::uint8_t> aux_words{"AuxDataLen", octet(1), 8, Show::dec, "In 4-octet words"};
    static constexpr F<std::uint16_t> number_of_sources{"NumberOfSources", octet(2), 16, Show::dec, ""};
    static constexpr F<Gid> group{"MulticastAddress", octet(4), 128, Show::ipv6, ""};
    static constexpr auto fields = table(type, aux_words, number_of_sources, group);
};
static_assert(tiles(MldRecord::fields, MldRecord::size));

/// The address records of a whole ICMPv6 message; none when it is not a version 2 report.
template <class Visit>
constexpr RecordWalk for_each_mld_record(Octets message, Visit&& visit) {
    const auto report = View<MldV2Report>::at(message);
    if (!report || report[MldV2Report::type] != mld_type::report_v2) return {};
    return for_each_group_record<MldRecord>(message.subspan(MldV2Report::size), report[MldV2Report::number_of_records],
                                            visit);
}

}  // namespace ipoib::wire
