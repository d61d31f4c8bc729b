// SPDX-License-Identifier: GPL-2.0-or-later
// PathRecord: a path between two ports, as the SA gives it. IBTA Vol 1, 15.2.5.16.
#pragma once

#include "protocol/wire/sa.hpp"

namespace ipoib::wire {

/// PathRecord. IBTA Vol 1, 15.2.5.16.
struct PathRecord {
    static constexpr std::string_view key = "path_record", name = "PathRecord", title = "Path Record";
    static constexpr std::size_t size = 64;
    template <class T>
    using F = Field<PathRecord, T>;

    static constexpr F<std::uint64_t> service_id{"ServiceID", octet(0), 64, Show::hex, "For quality of service"};
    static constexpr F<Gid> dgid{"DGID", octet(8), 128, Show::gid, "Where the path leads"};
    static constexpr F<Gid> sgid{"SGID", octet(24), 128, Show::gid, "Where it begins"};
    static constexpr F<std::uint16_t> dlid{"DLID", octet(40), 16, Show::hex, "Destination LID"};
    static constexpr F<std::uint16_t> slid{"SLID", octet(42), 16, Show::hex, "Source LID"};
    static constexpr F<bool> raw_traffic{"RawTraffic", octet(44), 1, Show::flag, "Path for raw packets"};
    static constexpr F<std::uint8_t> reserved3{"Reserved3", octet(44, 1), 3, Show::reserved, ""};
    static constexpr F<std::uint32_t> flow_label{"FlowLabel", octet(44, 4), 20, Show::hex, "GRH.FlowLabel"};
    static constexpr F<std::uint8_t> hop_limit{"HopLimit", octet(47), 8, Show::dec, "GRH.HopLmt"};
    static constexpr F<std::uint8_t> traffic_class{"TClass", octet(48), 8, Show::hex, "GRH.TClass"};
    static constexpr F<bool> reversible{"Reversible", octet(49), 1, Show::flag, "The way back is the same"};
    static constexpr F<std::uint8_t> number_of_paths{"NumbPath", octet(49, 1), 7, Show::dec, "The most to answer"};
    static constexpr F<std::uint16_t> p_key{"P_Key", octet(50), 16, Show::hex, "Partition key"};
    static constexpr F<std::uint16_t> qos_class{"QoSClass", octet(52), 12, Show::hex, "Quality of service"};
    static constexpr F<std::uint8_t> sl{"SL", octet(53, 4), 4, Show::dec, "Service level"};
    static constexpr F<std::uint8_t> mtu_selector{"MTUSelector", octet(54), 2, Show::dec, "", selector_names};
    static constexpr F<std::uint8_t> mtu{"MTU", octet(54, 2), 6, Show::dec, "Code of the IB MTU", mtu_names};
    static constexpr F<std::uint8_t> rate_selector{"RateSelector", octet(55), 2, Show::dec, "", selector_names};
    static constexpr F<std::uint8_t> rate{"Rate", octet(55, 2), 6, Show::dec, "Code of the static rate", rate_names};
    static constexpr F<std::uint8_t> lifetime_selector{"PacketLifeTimeSelector", octet(56), 2, Show::dec, "",
                                                       lifetime_selector_names};
    static constexpr F<std::uint8_t> lifetime{"PacketLifeTime", octet(56, 2), 6, Show::dec, "4.096 us * 2^value"};
    static constexpr F<std::uint8_t> preference{"Preference", octet(57), 8, Show::dec, "Lower is better"};
    static constexpr F<std::uint64_t> reserved48{"Reserved48", octet(58), 48, Show::reserved, ""};
    static constexpr auto fields =
        table(service_id, dgid, sgid, dlid, slid, raw_traffic, reserved3, flow_label, hop_limit, traffic_class,
              reversible, number_of_paths, p_key, qos_class, sl, mtu_selector, mtu, rate_selector, rate,
              lifetime_selector, lifetime, preference, reserved48);

    /// Bits of SA.ComponentMask for this record. ServiceID has two: its upper and its lower bits.
    struct component {
        static constexpr std::uint64_t service_id = 3u << 0, dgid = 1u << 2, sgid = 1u << 3, dlid = 1u << 4,
                                       slid = 1u << 5, raw_traffic = 1u << 6, flow_label = 1u << 8, hop_limit = 1u << 9,
                                       traffic_class = 1u << 10, reversible = 1u << 11, number_of_paths = 1u << 12,
                                       p_key = 1u << 13, qos_class = 1u << 14, sl = 1u << 15, mtu_selector = 1u << 16,
                                       mtu = 1u << 17, rate_selector = 1u << 18, rate = 1u << 19,
                                       lifetime_selector = 1u << 20, lifetime = 1u << 21;
    };
};
static_assert(tiles(PathRecord::fields, PathRecord::size));

}  // namespace ipoib::wire
