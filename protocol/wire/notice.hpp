// SPDX-License-Identifier: GPL-2.0-or-later
// Notice: what a Trap or a Report tells, with the details of the traps that IPoIB heeds. IBTA Vol 1, 13.4.8.2.
#pragma once

#include "protocol/wire/mad.hpp"

namespace ipoib::wire {

/// Generic trap numbers of subnet management. IBTA Vol 1, 14.2.5.1, table "Traps".
namespace trap {
inline constexpr std::uint16_t gid_in_service = 64, gid_out_of_service = 65, multicast_group_created = 66,
                               multicast_group_deleted = 67, path_unreachable = 68, path_restored = 69,
                               link_state_changed = 128, local_link_integrity = 129, excessive_buffer_overrun = 130,
                               flow_control_watchdog = 131, capability_mask_changed = 144,
                               system_image_guid_changed = 145, bad_m_key = 256, bad_p_key = 257, bad_q_key = 258,
                               bad_p_key_at_switch = 259, all = 0xffff;
}  // namespace trap
inline constexpr std::array<Named, 17> trap_names{{{trap::gid_in_service, "GID in service"},
                                                   {trap::gid_out_of_service, "GID out of service"},
                                                   {trap::multicast_group_created, "multicast group created"},
                                                   {trap::multicast_group_deleted, "multicast group deleted"},
                                                   {trap::path_unreachable, "path unreachable"},
                                                   {trap::path_restored, "path restored"},
                                                   {trap::link_state_changed, "link state changed"},
                                                   {trap::local_link_integrity, "local link integrity"},
                                                   {trap::excessive_buffer_overrun, "excessive buffer overrun"},
                                                   {trap::flow_control_watchdog, "flow control update watchdog"},
                                                   {trap::capability_mask_changed, "capability mask changed"},
                                                   {trap::system_image_guid_changed, "system image GUID changed"},
                                                   {trap::bad_m_key, "bad M_Key"},
                                                   {trap::bad_p_key, "bad P_Key"},
                                                   {trap::bad_q_key, "bad Q_Key"},
                                                   {trap::bad_p_key_at_switch, "bad P_Key at a switch"},
                                                   {trap::all, "all"}}};

/// Kinds of notice. IBTA Vol 1, 13.4.8.2. In InformInfo, 0xffff stands for all of them.
inline constexpr std::array<Named, 7> notice_type_names{{{0, "fatal"},
                                                         {1, "urgent"},
                                                         {2, "security"},
                                                         {3, "subnet management"},
                                                         {4, "informational"},
                                                         {0x7f, "empty"},
                                                         {0xffff, "all"}}};

/// Who raises a generic notice. IBTA Vol 1, 13.4.8.2.
inline constexpr std::array<Named, 5> producer_type_names{
    {{1, "channel adapter"}, {2, "switch"}, {3, "router"}, {4, "class manager"}, {0xffffff, "all"}}};

/// Notice. IBTA Vol 1, 13.4.8.2.
struct Notice {
    static constexpr std::string_view key = "notice", name = "Notice", title = "Notice";
    static constexpr std::size_t size = 80;
    template <class T>
    using F = Field<Notice, T>;

    static constexpr F<bool> is_generic{"IsGeneric", octet(0), 1, Show::flag, "Not a vendor's"};
    static constexpr F<std::uint8_t> type{"Type", octet(0, 1), 7, Show::dec, "", notice_type_names};
    static constexpr F<std::uint32_t> producer_type{
        "ProducerType", octet(1), 24, Show::hex, "Generic: kind of producer; else VendorID", producer_type_names};
    static constexpr F<std::uint16_t> trap_number{
        "TrapNumber", octet(4), 16, Show::dec, "Generic: which trap; else DeviceID", trap_names};
    static constexpr F<std::uint16_t> issuer_lid{"IssuerLID", octet(6), 16, Show::hex, "Who raised it"};
    static constexpr F<bool> toggle{"NoticeToggle", octet(8), 1, Show::flag, "Alternates from Notice to Notice"};
    static constexpr F<std::uint16_t> count{"NoticeCount", octet(8, 1), 15, Show::dec, "Notices in the queue"};
    static constexpr F<OctetArray<54>> data_details{"DataDetails", octet(10), 432, Show::octets, "By trap number"};
    static constexpr F<Gid> issuer_gid{"IssuerGID", octet(64), 128, Show::gid, "Who raised it"};
    static constexpr auto fields =
        table(is_generic, type, producer_type, trap_number, issuer_lid, toggle, count, data_details, issuer_gid);
};
static_assert(tiles(Notice::fields, Notice::size));

/// Details of traps 64 to 67. IBTA Vol 1, 14.2.5.1.
struct GidDetails {
    static constexpr std::string_view key = "notice_gid", name = "Notice", title = "Notice details: GID";
    static constexpr std::size_t size = 54;
    template <class T>
    using F = Field<GidDetails, T>;

    static constexpr F<std::uint64_t> reserved48{"Reserved48", octet(0), 48, Show::reserved, ""};
    static constexpr F<Gid> gid{"GIDADDR", octet(6), 128, Show::gid, "The port or the multicast group"};
    static constexpr F<OctetArray<32>> reserved256{"Reserved256", octet(22), 256, Show::reserved, ""};
    static constexpr auto fields = table(reserved48, gid, reserved256);
};
static_assert(tiles(GidDetails::fields, GidDetails::size));

/// Details of trap 128. IBTA Vol 1, 14.2.5.1.
struct LidDetails {
    static constexpr std::string_view key = "notice_lid", name = "Notice", title = "Notice details: LID";
    static constexpr std::size_t size = 54;
    template <class T>
    using F = Field<LidDetails, T>;

    static constexpr F<std::uint16_t> lid{"LIDADDR", octet(0), 16, Show::hex, "The switch with the changed port"};
    static constexpr F<OctetArray<52>> reserved416{"Reserved416", octet(2), 416, Show::reserved, ""};
    static constexpr auto fields = table(lid, reserved416);
};
static_assert(tiles(LidDetails::fields, LidDetails::size));

/// Details of traps 257 and 258: a packet with a P_Key or Q_Key that its receiver does not take. IBTA Vol 1, 14.2.5.1.
struct KeyDetails {
    static constexpr std::string_view key = "notice_key", name = "NoticeKey", title = "Notice details: bad key";
    static constexpr std::size_t size = 54;
    template <class T>
    using F = Field<KeyDetails, T>;

    static constexpr F<std::uint16_t> reserved16{"Reserved16", octet(0), 16, Show::reserved, ""};
    static constexpr F<std::uint16_t> source_lid{"LIDADDR1", octet(2), 16, Show::hex, "Who sent the packet"};
    static constexpr F<std::uint16_t> destination_lid{"LIDADDR2", octet(4), 16, Show::hex, "Where it went"};
    static constexpr F<std::uint32_t> bad_key{"KEY", octet(6), 32, Show::hex, "The Q_Key, or in 16 bits the P_Key"};
    static constexpr F<std::uint8_t> sl{"SL", octet(10), 4, Show::dec, "Of the packet"};
    static constexpr F<std::uint8_t> reserved4{"Reserved4", octet(10, 4), 4, Show::reserved, ""};
    static constexpr F<std::uint32_t> source_qpn{"QP1", octet(11), 24, Show::hex, "Who sent the packet"};
    static constexpr F<std::uint8_t> reserved8{"Reserved8", octet(14), 8, Show::reserved, ""};
    static constexpr F<std::uint32_t> destination_qpn{"QP2", octet(15), 24, Show::hex, "Where it went"};
    static constexpr F<Gid> source_gid{"GIDADDR1", octet(18), 128, Show::gid, "Who sent the packet"};
    static constexpr F<Gid> destination_gid{"GIDADDR2", octet(34), 128, Show::gid, "Where it went"};
    static constexpr F<std::uint32_t> reserved32{"Reserved32", octet(50), 32, Show::reserved, ""};
    static constexpr auto fields = table(reserved16, source_lid, destination_lid, bad_key, sl, reserved4, source_qpn,
                                         reserved8, destination_qpn, source_gid, destination_gid, reserved32);
};
static_assert(tiles(KeyDetails::fields, KeyDetails::size));

/// Details of trap 259: a switch port has dropped a packet for its P_Key. IBTA Vol 1, 14.2.5.1.
struct SwitchKeyDetails {
    static constexpr std::string_view key = "notice_switch_key", name = "NoticeSwitchKey",
                                      title = "Notice details: bad P_Key at a switch";
    static constexpr std::size_t size = 54;
    template <class T>
    using F = Field<SwitchKeyDetails, T>;

    static constexpr F<std::uint16_t> data_valid{"DataValid", octet(0), 16, Show::hex, "Which of the rest is told"};
    static constexpr F<std::uint16_t> source_lid{"LIDADDR1", octet(2), 16, Show::hex, "Who sent the packet"};
    static constexpr F<std::uint16_t> destination_lid{"LIDADDR2", octet(4), 16, Show::hex, "Where it went"};
    static constexpr F<std::uint16_t> p_key{"PKEY", octet(6), 16, Show::hex, "That is not in the port's table"};
    static constexpr F<std::uint8_t> sl{"SL", octet(8), 4, Show::dec, "Of the packet"};
    static constexpr F<std::uint8_t> reserved4{"Reserved4", octet(8, 4), 4, Show::reserved, ""};
    static constexpr F<std::uint32_t> source_qpn{"QP1", octet(9), 24, Show::hex, "Who sent the packet"};
    static constexpr F<std::uint8_t> reserved8{"Reserved8", octet(12), 8, Show::reserved, ""};
    static constexpr F<std::uint32_t> destination_qpn{"QP2", octet(13), 24, Show::hex, "Where it went"};
    static constexpr F<Gid> source_gid{"GIDADDR1", octet(16), 128, Show::gid, "Who sent the packet"};
    static constexpr F<Gid> destination_gid{"GIDADDR2", octet(32), 128, Show::gid, "Where it went"};
    static constexpr F<std::uint16_t> switch_lid{"SWLIDADDR", octet(48), 16, Show::hex, "The switch"};
    static constexpr F<std::uint8_t> switch_port{"PORTNO", octet(50), 8, Show::dec, "Its port"};
    static constexpr F<std::uint32_t> reserved24{"Reserved24", octet(51), 24, Show::reserved, ""};
    static constexpr auto fields =
        table(data_valid, source_lid, destination_lid, p_key, sl, reserved4, source_qpn, reserved8, destination_qpn,
              source_gid, destination_gid, switch_lid, switch_port, reserved24);
};
static_assert(tiles(SwitchKeyDetails::fields, SwitchKeyDetails::size));

/// The details of a Notice as GID (traps 64 to 67); absent for other notices.
constexpr View<GidDetails> gid_details(const View<Notice>& notice) noexcept {
    if (!notice || !notice[Notice::is_generic]) return {};
    const auto number = notice[Notice::trap_number];
    if (number < trap::gid_in_service || number > trap::multicast_group_deleted) return {};
    return View<GidDetails>::at(notice.octets().subspan(Notice::data_details.at.bit / 8));
}

/// The details of a Notice as LID (trap 128); absent for other notices.
constexpr View<LidDetails> lid_details(const View<Notice>& notice) noexcept {
    if (!notice || !notice[Notice::is_generic] || notice[Notice::trap_number] != trap::link_state_changed) return {};
    return View<LidDetails>::at(notice.octets().subspan(Notice::data_details.at.bit / 8));
}

/// The details of a Notice of a bad key (traps 257 and 258); absent for other notices.
constexpr View<KeyDetails> key_details(const View<Notice>& notice) noexcept {
    if (!notice || !notice[Notice::is_generic]) return {};
    const auto number = notice[Notice::trap_number];
    if (number != trap::bad_p_key && number != trap::bad_q_key) return {};
    return View<KeyDetails>::at(notice.octets().subspan(Notice::data_details.at.bit / 8));
}

/// The details of a Notice of a bad P_Key at a switch (trap 259); absent for other notices.
constexpr View<SwitchKeyDetails> switch_key_details(const View<Notice>& notice) noexcept {
    if (!notice || !notice[Notice::is_generic] || notice[Notice::trap_number] != trap::bad_p_key_at_switch) return {};
    return View<SwitchKeyDetails>::at(notice.octets().subspan(Notice::data_details.at.bit / 8));
}

/// What a Notice of subnet management is about, and who issues it.
inline constexpr std::uint8_t notice_type_of_subnet_management = 3;
inline constexpr std::uint32_t producer_class_manager = 4;

/// A generic Notice on a GID: a port's, or a group's (traps 64 to 67). IBTA Vol 1, 13.4.8.2 and 14.2.5.1.
inline Bytes<Notice> notice_of_gid(std::uint16_t trap_number, const Gid& gid, std::uint16_t issuer_lid,
                                   const Gid& issuer) {
    return Bytes<Notice>{}
        .set(Notice::is_generic, true)
        .set(Notice::type, notice_type_of_subnet_management)
        .set(Notice::producer_type, producer_class_manager)
        .set(Notice::trap_number, trap_number)
        .set(Notice::issuer_lid, issuer_lid)
        .set(Notice::data_details, Bytes<GidDetails>{}.set(GidDetails::gid, gid).octets)
        .set(Notice::issuer_gid, issuer);
}

}  // namespace ipoib::wire
