// SPDX-License-Identifier: GPL-2.0-or-later
// What ports ask of a subnet administrator, one after another, as a list that goes to a file and back.
#pragma once

#include <array>
#include <cstdint>
#include <map>
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
    port_moves,
    reregister,
    restart
};

/// The groups that histories are about, the plainest first, by the same names on every fabric, which may lack some.
inline constexpr std::array<std::string_view, 9> group_names{
    "ip-1", "ip-2", "ip-3", "not-ip", "chosen-1", "chosen-2", "other-ip", "broadcast", "other-broadcast"};
/// Their places there.
namespace group_number {
inline constexpr unsigned ip = 0,        ///< and the two after it: of the link
    not_ip = 3,                          ///< of no IPoIB link
    chosen = 4,                          ///< and the one after it: their MGIDs are the SA's to choose
    other_ip = 6,                        ///< of a second partition
    broadcast = 7, other_broadcast = 8;  ///< of the configuration: of the link, and of that partition
}

/// What a join gives that is not as the group has it, or does not give.
enum class Fault : std::uint8_t { none, p_key, q_key, sl, flow, rate, no_port, no_state, no_q_key };
inline constexpr unsigned faults = 9;
/// The most that JoinState and the components of a MCMemberRecord can be.
inline constexpr unsigned all_join_states = 15, all_join_components = (1u << 18) - 1;

struct Step {
    Do what = Do::join;
    unsigned port = 0;          ///< who asks, or to whom it happens
    unsigned of = 0;            ///< join_for, leave_for: whose membership
    unsigned group = 0;         ///< its place in group_names
    unsigned states = 0;        ///< JoinState
    Fault fault = Fault::none;  ///< of a join
    /// Of a join or leave: which components it gives, as bits of the ComponentMask; 0: of a join all but MLID,
    /// PacketLifeTime and ProxyJoin, of a leave MGID, PortGID and JoinState.
    std::uint32_t components = 0;
    bool is_twice = false;   ///< a join, leave or subscription: the request comes once more, as after a lost answer
    std::uint16_t trap = 0;  ///< subscribe, unsubscribe: 66, 67, or 0xffff for all
    friend bool operator==(const Step&, const Step&) = default;
};

enum class Membership : std::uint8_t { none, limited, full };

/// What a port is on its fabric: in the partition of the link, in the second one that histories know, and whether its
/// MTU is less than the link's.
struct Role {
    Membership link = Membership::full, other = Membership::none;
    bool is_narrow = false;
    friend bool operator==(const Role&, const Role&) = default;
};

struct History {
    std::vector<Step> steps;
    std::map<unsigned, Role> ports{};  ///< those that steps name, by their numbers; none: whatever ports there are
    friend bool operator==(const History&, const History&) = default;
};

/// "a full member of the link, no member of the other partition".
[[nodiscard]] std::string words(const Role& role);
/// Whether a step names a group, and whether it asks for another port.
[[nodiscard]] bool is_of_group(Do what) noexcept;
[[nodiscard]] bool is_for_another(Do what) noexcept;
/// "port 0 joins ip-1 as FullMember".
[[nodiscard]] std::string words(const Step& step);
/// As a file: JSON, a line for each step. The remarks beside the steps are for people.
[[nodiscard]] std::string text(const History& history, const std::vector<std::string>& remarks = {});
/// Throws std::invalid_argument, with what is wrong.
[[nodiscard]] History parse_history(std::string_view text);

}  // namespace ipoib::conformance::siege
