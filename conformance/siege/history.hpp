// SPDX-License-Identifier: GPL-2.0-or-later
// What ports ask of a subnet administrator, one after another, as a list that goes to a file and back.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ipoib::conformance::siege {

enum class Do : std::uint8_t {
    join,
    join_for,
    leave,
    leave_for,
    subscribe,
    unsubscribe,
    port_down,
    port_up,
    reregister,
    restart
};

/// What a join gives that is not as the group has it, or does not give.
enum class Fault : std::uint8_t { none, p_key, q_key, sl, flow, rate, no_port, no_state, no_q_key };
inline constexpr unsigned faults = 9;
/// The most that JoinState and the components of a MCMemberRecord can be.
inline constexpr unsigned all_join_states = 15, all_join_components = (1u << 18) - 1;

struct Step {
    Do what = Do::join;
    unsigned port = 0;          ///< who asks, or to whom it happens
    unsigned of = 0;            ///< join_for, leave_for: whose membership
    unsigned group = 0;         ///< by number
    unsigned states = 0;        ///< JoinState
    Fault fault = Fault::none;  ///< of a join
    /// Of a join: which components it gives, as bits of the ComponentMask; 0: all but MLID, PacketLifeTime and
    /// ProxyJoin.
    std::uint32_t components = 0;
    std::uint16_t trap = 0;  ///< subscribe, unsubscribe: 66, 67, or 0xffff for all
    friend bool operator==(const Step&, const Step&) = default;
};

struct History {
    std::vector<Step> steps;
    friend bool operator==(const History&, const History&) = default;
};

/// "port 0 joins group 1 as FullMember".
[[nodiscard]] std::string words(const Step& step);
/// As a file: JSON, a line for each step. The remarks beside the steps are for people.
[[nodiscard]] std::string text(const History& history, const std::vector<std::string>& remarks = {});
/// Throws std::invalid_argument, with what is wrong.
[[nodiscard]] History parse_history(std::string_view text);

}  // namespace ipoib::conformance::siege
