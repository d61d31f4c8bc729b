// SPDX-License-Identifier: GPL-2.0-or-later
// ClassPortInfo: what a manager of a class can do and where it is. IBTA Vol 1, 13.4.8.1.
#pragma once

#include "protocol/wire/mad.hpp"

namespace ipoib::wire {

/// ClassPortInfo. IBTA Vol 1, 13.4.8.1.
struct ClassPortInfo {
    static constexpr std::string_view key = "class_port_info", name = "ClassPortInfo", title = "Class Port Info";
    static constexpr std::size_t size = 72;
    /// Bits of the SA's CapabilityMask. IBTA Vol 1, 15.2.5.1.
    static constexpr std::uint16_t optional_records = 1u << 8, ud_multicast = 1u << 9, multi_path = 1u << 10,
                                   reinitialization = 1u << 11, port_info_capability_match = 1u << 13;
    /// Bits of the SA's CapabilityMask2: of them, IPoIB asks for JoinState SendOnlyFullMember. IBTA Vol 1, 15.2.5.1.
    static constexpr std::uint32_t qos = 1u << 1, send_only_full_member = 1u << 12;
    template <class T>
    using F = Field<ClassPortInfo, T>;

    static constexpr F<std::uint8_t> base_version{"BaseVersion", octet(0), 8, Show::dec, "The highest supported"};
    static constexpr F<std::uint8_t> class_version{"ClassVersion", octet(1), 8, Show::dec, "The highest supported"};
    static constexpr F<std::uint16_t> capability_mask{"CapabilityMask", octet(2), 16, Show::hex,
                                                      "Upper octet by class"};
    static constexpr F<std::uint32_t> capability_mask2{"CapabilityMask2", octet(4), 27, Show::hex, "By class"};
    static constexpr F<std::uint8_t> resp_time_value{"RespTimeValue", octet(7, 3), 5, Show::dec,
                                                     "Time to answer: 4.096 us * 2^value"};
    static constexpr F<Gid> redirect_gid{"RedirectGID", octet(8), 128, Show::gid, "Zero: not redirected"};
    static constexpr F<std::uint8_t> redirect_tc{"RedirectTC", octet(24), 8, Show::hex, "Traffic class"};
    static constexpr F<std::uint8_t> redirect_sl{"RedirectSL", octet(25), 4, Show::dec, "Service level"};
    static constexpr F<std::uint32_t> redirect_fl{"RedirectFL", octet(25, 4), 20, Show::hex, "Flow label"};
    static constexpr F<std::uint16_t> redirect_lid{"RedirectLID", octet(28), 16, Show::hex, "Zero: use the GID"};
    static constexpr F<std::uint16_t> redirect_p_key{"RedirectP_Key", octet(30), 16, Show::hex, ""};
    static constexpr F<std::uint8_t> reserved8{"Reserved8", octet(32), 8, Show::reserved, ""};
    static constexpr F<std::uint32_t> redirect_qp{"RedirectQP", octet(33), 24, Show::hex, ""};
    static constexpr F<std::uint32_t> redirect_q_key{"RedirectQ_Key", octet(36), 32, Show::hex, ""};
    static constexpr F<Gid> trap_gid{"TrapGID", octet(40), 128, Show::gid, "Where traps go"};
    static constexpr F<std::uint8_t> trap_tc{"TrapTC", octet(56), 8, Show::hex, "Traffic class"};
    static constexpr F<std::uint8_t> trap_sl{"TrapSL", octet(57), 4, Show::dec, "Service level"};
    static constexpr F<std::uint32_t> trap_fl{"TrapFL", octet(57, 4), 20, Show::hex, "Flow label"};
    static constexpr F<std::uint16_t> trap_lid{"TrapLID", octet(60), 16, Show::hex, ""};
    static constexpr F<std::uint16_t> trap_p_key{"TrapP_Key", octet(62), 16, Show::hex, ""};
    static constexpr F<std::uint8_t> trap_hl{"TrapHL", octet(64), 8, Show::dec, "Hop limit"};
    static constexpr F<std::uint32_t> trap_qp{"TrapQP", octet(65), 24, Show::hex, ""};
    static constexpr F<std::uint32_t> trap_q_key{"TrapQ_Key", octet(68), 32, Show::hex, ""};
    static constexpr auto fields =
        table(base_version, class_version, capability_mask, capability_mask2, resp_time_value, redirect_gid,
              redirect_tc, redirect_sl, redirect_fl, redirect_lid, redirect_p_key, reserved8, redirect_qp,
              redirect_q_key, trap_gid, trap_tc, trap_sl, trap_fl, trap_lid, trap_p_key, trap_hl, trap_qp, trap_q_key);
};
static_assert(tiles(ClassPortInfo::fields, ClassPortInfo::size));

}  // namespace ipoib::wire
