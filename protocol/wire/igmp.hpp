// SPDX-License-Identifier: GPL-2.0-or-later
// IGMP of all versions, with a walk over the records of a version 3 report. RFC 1112, RFC 2236, RFC 3376.
#pragma once

#include "protocol/wire/field.hpp"

namespace ipoib::wire {

/// Message types. RFC 3376, 4.
namespace igmp_type {
inline constexpr std::uint8_t query = 0x11, report_v1 = 0x12, report_v2 = 0x16, leave = 0x17, report_v3 = 0x22;
}  // namespace igmp_type
inline constexpr std::array<Named, 5> igmp_type_names{{{igmp_type::query, "Membership Query"},
                                                       {igmp_type::report_v1, "Version 1 Membership Report"},
                                                       {igmp_type::report_v2, "Version 2 Membership Report"},
                                                       {igmp_type::leave, "Leave Group"},
                                                       {igmp_type::report_v3, "Version 3 Membership Report"}}};

/// Types of group records, of IGMP and MLD alike. RFC 3376, 4.2.12; RFC 3810, 5.2.12.
namespace group_record {
inline constexpr std::uint8_t is_include = 1, is_exclude = 2, to_include = 3, to_exclude = 4, allow = 5, block = 6;
}  // namespace group_record
inline constexpr std::array<Named, 6> group_record_names{{{group_record::is_include, "MODE_IS_INCLUDE"},
                                                          {group_record::is_exclude, "MODE_IS_EXCLUDE"},
                                                          {group_record::to_include, "CHANGE_TO_INCLUDE_MODE"},
                                                          {group_record::to_exclude, "CHANGE_TO_EXCLUDE_MODE"},
                                                          {group_record::allow, "ALLOW_NEW_SOURCES"},
                                                          {group_record::block, "BLOCK_OLD_SOURCES"}}};

/// Message of version 1 or 2; also the head of a version 3 query. RFC 2236, 2.
struct Igmp {
    static constexpr std::string_view key = "igmp", name = "IGMP", title = "Internet Group Management Protocol";
    static constexpr std::size_t size = 8;
    template <class T>
    using F = Field<Igmp, T>;

    static constexpr F<std::uint8_t> type{"Type", octet(0), 8, Show::hex, "", igmp_type_names};
    static constexpr F<std::uint8_t> max_resp_time{"MaxRespTime", octet(1), 8, Show::dec, "In tenths of a second"};
    static constexpr F<std::uint16_t> checksum{"Checksum", octet(2), 16, Show::hex, "Of the whole message"};
    static constexpr F<std::uint32_t> group{"GroupAddress", octet(4), 32, Show::ipv4, "Zero in a general query"};
    static constexpr auto fields = table(type, max_resp_time, checksum, group);
};
static_assert(tiles(Igmp::fields, Igmp::size));

/// Query of version 3, before its source addresses. RFC 3376, 4.1.
struct IgmpV3Query {
    static constexpr std::string_view key = "igmp_v3_query", name = "IGMPv3Query", title = "IGMP version 3 query";
    static constexpr std::size_t size = 12;
    template <class T>
    using F = Field<IgmpV3Query, T>;

    static constexpr F<std::uint8_t> type{"Type", octet(0), 8, Show::hex, "", igmp_type_names};
    static constexpr F<std::uint8_t> max_resp_code{"MaxRespCode", octet(1), 8, Show::hex, "In tenths of a second"};
    static constexpr F<std::uint16_t> checksum{"Checksum", octet(2), 16, Show::hex, "Of the whole message"};
    static constexpr F<std::uint32_t> group{"GroupAddress", octet(4), 32, Show::ipv4, "Zero in a general query"};
    static constexpr F<std::uint8_t> reserved{"Resv", octet(8), 4, Show::reserved, ""};
    static constexpr F<bool> suppress{"S", octet(8, 4), 1, Show::flag, "Suppress router-side processing"};
    static constexpr F<std::uint8_t> robustness{"QRV", octet(8, 5), 3, Show::dec, "Querier's robustness variable"};
    static constexpr F<std::uint8_t> interval{"QQIC", octet(9), 8, Show::hex, "Querier's query interval code"};
    static constexpr F<std::uint16_t> number_of_sources{"NumberOfSources", octet(10), 16, Show::dec, ""};
    static constexpr auto fields =
        table(type, max_resp_code, checksum, group, reserved, suppress, robustness, interval, number_of_sources);
};
static_assert(tiles(IgmpV3Query::fields, IgmpV3Query::size));

/// Report of version 3, before its group records. RFC 3376, 4.2.
struct IgmpV3Report {
    static constexpr std::string_view key = "igmp_v3_report", name = "IGMPv3Report", title = "IGMP version 3 report";
    static constexpr std::size_t size = 8;
    template <class T>
    using F = Field<IgmpV3Report, T>;

    static constexpr F<std::uint8_t> type{"Type", octet(0), 8, Show::hex, "", igmp_type_names};
    static constexpr F<std::uint8_t> reserved8{"Reserved8", octet(1), 8, Show::reserved, ""};
    static constexpr F<std::uint16_t> checksum{"Checksum", octet(2), 16, Show::hex, "Of the whole message"};
    static constexpr F<std::uint16_t> reserved16{"Reserved16", octet(4), 16, Show::reserved, ""};
    static constexpr F<std::uint16_t> number_of_records{"NumberOfGroupRecords", octet(6), 16, Show::dec, ""};
    static constexpr auto fields = table(type, reserved8, checksum, reserved16, number_of_records);
};
static_assert(tiles(IgmpV3Report::fields, IgmpV3Report::size));

/// Group record of a version 3 report, before its source addresses and auxiliary data. RFC 3376, 4.2.
struct IgmpRecord {
    static constexpr std::string_view key = "igmp_record", name = "IGMPRecord", title = "IGMP group record";
    static constexpr std::size_t size = 8;
    /// Octets of a source address.
    static constexpr std::size_t source_size = 4;
    template <class T>
    using F = Field<IgmpRecord, T>;

    static constexpr F<std::uint8_t> type{"RecordType", octet(0), 8, Show::dec, "", group_record_names};
    static constexpr F<std::uint8_t> aux_words{"AuxDataLen", octet(1), 8, Show::dec, "In 4-octet words"};
    static constexpr F<std::uint16_t> number_of_sources{"NumberOfSources", octet(2), 16, Show::dec, ""};
    static constexpr F<std::uint32_t> group{"MulticastAddress", octet(4), 32, Show::ipv4, ""};
    static constexpr auto fields = table(type, aux_words, number_of_sources, group);
};
static_assert(tiles(IgmpRecord::fields, IgmpRecord::size));

/// How far a walk over group records came.
struct RecordWalk {
    std::size_t records = 0;   ///< that were whole
    bool is_complete = false;  ///< all that the report counts are there
    Octets rest;               ///< behind the last whole record
};

/// Calls `visit(record, sources)` for each of the `count` group records that `octets` begin with; `sources` are the
/// octets of its source addresses. Ends at the first that does not fit. RFC 3376, 4.2; RFC 3810, 5.2.
template <class Record, class Visit>
constexpr RecordWalk for_each_group_record(Octets octets, std::size_t count, Visit&& visit) {
    RecordWalk walk{0, false, octets};
    while (walk.records < count) {
        const auto record = View<Record>::at(walk.rest);
        if (!record) return walk;
        const auto sources = record[Record::number_of_sources] * Record::source_size;
        const auto length = Record::size + sources + record[Record::aux_words] * std::size_t{4};
        if (walk.rest.size() < length) return walk;
        visit(record, walk.rest.subspan(Record::size, sources));
        walk.rest = walk.rest.subspan(length);
        ++walk.records;
    }
    walk.is_complete = true;
    return walk;
}

/// The group records of a whole IGMP message; none when it is not a version 3 report.
template <class Visit>
constexpr RecordWalk for_each_igmp_record(Octets message, Visit&& visit) {
    const auto report = View<IgmpV3Report>::at(message);
    if (!report || report[IgmpV3Report::type] != igmp_type::report_v3) return {};
    return for_each_group_record<IgmpRecord>(message.subspan(IgmpV3Report::size),
                                             report[IgmpV3Report::number_of_records], visit);
}

}  // namespace ipoib::wire
