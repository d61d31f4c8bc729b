// SPDX-License-Identifier: GPL-2.0-or-later
// A broken rule in people's words.
#pragma once

#include "protocol/inspection/duties.hpp"

namespace ipoib::inspection {

/// Where a packet breaks a rule, and with what.
struct Violation {
    const wire::FieldSpec* field = nullptr;    ///< null where the rule names none
    const wire::HeaderSpec* header = nullptr;  ///< of the field
    const std::uint8_t* at = nullptr;          ///< where that header begins; null where the packet lacks it
    std::size_t offset = 0;                    ///< of the field in the frame, in octets; 0 where it is not in there
    std::size_t length = 0;                    ///< of the field, in octets; 0 where it is not in there
    std::string actual, expected;

    /// "Encap.Reserved"; empty without a field.
    [[nodiscard]] std::string field_name() const;
};

/// A violation with all that a report tells of it, when its frame is no longer at hand.
struct Accusation {
    std::size_t rule = 0;
    Violation what;  ///< without `at`
    state::Sight sight;
    std::string subject, link;
    wire::Gid group{};                  ///< as group_of() has it
    state::Assumptions rests_on = 0;    ///< what the user vouches for, without which it is not proven
    state::Assumptions settled_by = 0;  ///< what would prove one that is not decided, if the user vouched for it
    std::string vouched_for{};          ///< the GUID of the port that this is about; empty: all ports
};

/// The MGID that a packet goes to, or that its record names; zero where there is none.
[[nodiscard]] wire::Gid group_of(const wire::Packet& packet, const state::Known& known);

/// How `packet` breaks `rule`, which it does.
[[nodiscard]] Violation describe(const rules::Rule& rule, const wire::Packet& packet, const state::Known& known);
/// How a port has broken a rule by what it has not done.
[[nodiscard]] Violation describe(const rules::Rule& rule, const Neglect& neglect, const state::Subnet& subnet);

/// "whole=0002c90300100001,from-start=0002c90300100001", as --assume takes it; of all ports where `guid` is empty.
[[nodiscard]] std::string assume_text(state::Assumptions assumptions, std::string_view guid);

/// A port by its GUID, else its LID: "0002c90300100001", "LID 0x0004".
[[nodiscard]] std::string port_name(const state::Port& port);
/// Who sent a packet: its port, else what the packet itself tells of it.
[[nodiscard]] std::string sender_name(const wire::Packet& packet, const state::Known& known);
/// A link by subnet prefix and P_Key: "fe80::/0xffff".
[[nodiscard]] std::string link_name(std::uint64_t prefix, std::uint16_t p_key);
/// The link of a packet; empty where the packet does not tell.
[[nodiscard]] std::string link_name(const wire::Packet& packet, const state::Known& known, const state::Subnet& subnet);

}  // namespace ipoib::inspection
