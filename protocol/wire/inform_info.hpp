// SPDX-License-Identifier: GPL-2.0-or-later
// InformInfo: a subscription to notices. IBTA Vol 1, 13.4.8.3.
#pragma once

#include "protocol/wire/notice.hpp"

namespace ipoib::wire {

/// InformInfo. IBTA Vol 1, 13.4.8.3.
struct InformInfo {
    static constexpr std::string_view key = "inform_info", name = "InformInfo", title = "Inform Info";
    static constexpr std::size_t size = 36;
    /// Type, TrapNumber and LIDRangeBegin of a subscription to all; ProducerType of one to all producers.
    static constexpr std::uint16_t all = 0xffff;
    static constexpr std::uint32_t all_producers = 0xffffff;
    template <class T>
    using F = Field<InformInfo, T>;

    static constexpr F<Gid> gid{"GID", octet(0), 128, Show::gid, "Zero: not restricted to a GID"};
    static constexpr F<std::uint16_t> lid_range_begin{"LIDRangeBegin", octet(16), 16, Show::hex, "0xffff: all LIDs"};
    static constexpr F<std::uint16_t> lid_range_end{"LIDRangeEnd", octet(18), 16, Show::hex, "Zero: one LID"};
    static constexpr F<std::uint16_t> reserved16{"Reserved16", octet(20), 16, Show::reserved, ""};
    static constexpr F<std::uint8_t> is_generic{"IsGeneric", octet(22), 8, Show::dec, "1: not a vendor's"};
    static constexpr F<std::uint8_t> subscribe{"Subscribe", octet(23), 8, Show::dec, "1: begin; 0: end"};
    static constexpr F<std::uint16_t> type{"Type", octet(24), 16, Show::hex, "Kind of notice", notice_type_names};
    static constexpr F<std::uint16_t> trap_number{
        "TrapNumber", octet(26), 16, Show::dec, "Generic: which trap; else DeviceID", trap_names};
    static constexpr F<std::uint32_t> qpn{"QPN", octet(28), 24, Show::hex, "Where reports go; ends a subscription"};
    static constexpr F<std::uint8_t> reserved3{"Reserved3", octet(31), 3, Show::reserved, ""};
    static constexpr F<std::uint8_t> resp_time_value{"RespTimeValue", octet(31, 3), 5, Show::dec,
                                                     "Time to answer a report: 4.096 us * 2^value"};
    static constexpr F<std::uint8_t> reserved8{"Reserved8", octet(32), 8, Show::reserved, ""};
    static constexpr F<std::uint32_t> producer_type{
        "ProducerType", octet(33), 24, Show::hex, "Generic: kind of producer; else VendorID", producer_type_names};
    static constexpr auto fields = table(gid, lid_range_begin, lid_range_end, reserved16, is_generic, subscribe, type,
                                         trap_number, qpn, reserved3, resp_time_value, reserved8, producer_type);
};
static_assert(tiles(InformInfo::fields, InformInfo::size));

}  // namespace ipoib::wire
