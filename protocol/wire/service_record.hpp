// SPDX-License-Identifier: GPL-2.0-or-later
// ServiceRecord: a service that a port offers, as the SA holds it. IBTA Vol 1, 15.2.5.14.
#pragma once

#include "protocol/wire/sa.hpp"

namespace ipoib::wire {

/// ServiceRecord. IBTA Vol 1, 15.2.5.14.
struct ServiceRecord {
    static constexpr std::string_view key = "service_record", name = "ServiceRecord", title = "Service Record";
    static constexpr std::size_t size = 176;
    /// ServiceLease that never ends.
    static constexpr std::uint32_t endless = 0xffffffff;
    template <class T>
    using F = Field<ServiceRecord, T>;

    static constexpr F<std::uint64_t> service_id{"ServiceID", octet(0), 64, Show::hex, ""};
    static constexpr F<Gid> service_gid{"ServiceGID", octet(8), 128, Show::gid, "Port that offers it"};
    static constexpr F<std::uint16_t> service_p_key{"ServiceP_Key", octet(24), 16, Show::hex, ""};
    static constexpr F<std::uint16_t> reserved{"Reserved", octet(26), 16, Show::reserved, ""};
    static constexpr F<std::uint32_t> service_lease{"ServiceLease", octet(28), 32, Show::dec, "Seconds left"};
    static constexpr F<OctetArray<16>> service_key{"ServiceKey", octet(32), 128, Show::octets, ""};
    static constexpr F<OctetArray<64>> service_name{"ServiceName", octet(48), 512, Show::text, "UTF-8, terminated"};
    static constexpr F<OctetArray<16>> data8{"ServiceData8", octet(112), 128, Show::octets, "16 of 8 bits"};
    static constexpr F<OctetArray<16>> data16{"ServiceData16", octet(128), 128, Show::octets, "8 of 16 bits"};
    static constexpr F<OctetArray<16>> data32{"ServiceData32", octet(144), 128, Show::octets, "4 of 32 bits"};
    static constexpr F<OctetArray<16>> data64{"ServiceData64", octet(160), 128, Show::octets, "2 of 64 bits"};
    static constexpr auto fields = table(service_id, service_gid, service_p_key, reserved, service_lease, service_key,
                                         service_name, data8, data16, data32, data64);

    /// Bits of SA.ComponentMask for this record; the data's bits follow from 7 on, one an element.
    struct component {
        static constexpr std::uint64_t service_id = 1u << 0, service_gid = 1u << 1, service_p_key = 1u << 2,
                                       service_lease = 1u << 4, service_key = 1u << 5, service_name = 1u << 6;
    };
};
static_assert(tiles(ServiceRecord::fields, ServiceRecord::size));

}  // namespace ipoib::wire
