// SPDX-License-Identifier: GPL-2.0-or-later
// What the user says of a subnet: parameters and members of groups that a capture does not show. interfaces.md,
// `--assume` and `--sa`.
#pragma once

#include "protocol/state/doubt.hpp"
#include "protocol/state/entities.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ipoib::assumptions {

/// A parameter of a group that can be told or not. The MGID always is.
enum class Parameter : std::uint8_t {
    p_key,
    q_key,
    mtu,
    sl,
    traffic_class,
    flow_label,
    hop_limit,
    scope,
    mlid,
    rate,
    lifetime,
};
inline constexpr unsigned parameter_count = 11;
constexpr std::uint32_t bit(Parameter parameter) noexcept {
    return std::uint32_t{1} << static_cast<unsigned>(parameter);
}

/// A port's part in a group, as the SA's record states it.
struct StatedMember {
    wire::Gid port_gid{};
    std::uint8_t join_state = 0;   ///< bits of wire::join_state
    bool proxy = false;            ///< joined by another port
    std::string node_description;  ///< printable; empty where the list has none
};

struct StatedGroup {
    state::GroupParameters parameters;  ///< in the record's own units and codes; zero where nothing was told
    std::uint32_t given = 0;            ///< which of them were told, a set of bit(Parameter)
    std::vector<StatedMember> members;  ///< by port GID, each port once
    /// The list shows members of this group, so who is not in it was no member. An SA names the members only to those
    /// it trusts: to anybody else each group looks as if it had none, which says nothing.
    bool members_are_listed = false;
    /// Where records of this group say different things: "mtu 1024, but 2048 in line 9". The first one holds.
    std::vector<std::string> contradictions;
    /// Where two records say different things of one member: "fe80::1 JoinState 0x4, but 0x1 in another record". The
    /// last one holds, since in between it may have asked for something.
    std::vector<std::string> member_contradictions;

    [[nodiscard]] bool tells(Parameter parameter) const noexcept { return (given & bit(parameter)) != 0; }
};

/// A port as the SA's NodeRecord, PortInfoRecord and P_KeyTableRecords describe it.
struct StatedPort {
    wire::Gid gid{};                                   ///< subnet prefix and port GUID
    std::uint16_t lid = 0;                             ///< 0: not told
    std::uint8_t mtu = 0;                              ///< code of NeighborMTU, what its link carries; 0: not told
    std::uint8_t rate = 0;                             ///< code of its link's width and speed; 0: not told
    std::optional<std::vector<std::uint16_t>> p_keys;  ///< without empty entries
    std::string node_description;                      ///< printable; may be empty
    bool is_router = false;                            ///< between IB subnets
    bool has_unknown_rate = false;                     ///< a width or speed is told that is not known here
    /// The groups that the switch at the other end of its link has room for (MulticastFDBCap), where that is told.
    std::optional<std::uint16_t> switch_groups{};
    /// Packets that the port has dropped for their key since somebody cleared these counters, which stop at 65535.
    std::optional<std::uint16_t> p_key_violations{}, q_key_violations{};
};

struct Statement {
    std::vector<StatedGroup> groups;  ///< in the order of the list, each MGID once
    std::vector<StatedPort> ports;    ///< by GID, each once
    state::Source source = state::Source::nothing;
    std::string origin;                          ///< "--assume", or the file's name: for reports
    std::size_t not_groups = 0;                  ///< records of an MGID that is no multicast GID, where such are kept
    std::optional<std::uint64_t> subnet_prefix;  ///< where the user has named the subnet
    std::vector<state::Vouch> vouched = {};      ///< what the user vouches for of the capture
    /// The groups that the switch with the least room has room for (MulticastFDBCap), where switches are listed.
    std::optional<std::uint16_t> switch_groups;
};

/// What `--assume` says: "pkey=0x8001,qkey=0x0b1b,mtu=2048,..." about the broadcast group of one link, and
/// "whole,from-start,steady-clock" about the capture (state::Assumption), each also of one port: "whole=GUID". Numbers
/// are decimal, or hex behind 0x.
///   pkey       of the link, 0xffff unless given; always told, and with the full-membership bit, which may be left out
///   qkey, sl, tclass, flowlabel, hoplimit, mlid
///   mtu        of the group, in octets: 256 to 4096
///   rate       in Gb/s as people write it (2.5, 10, 56), or code=N
///   scope      of the broadcast-GID; where it is not told, the MGID has 2 but the link may have any
///   prefix     of the subnet: "fe80::", or 64 bits as a number
/// Throws std::invalid_argument with a sentence on what is wrong.
[[nodiscard]] Statement parse_assumption(std::string_view text);

/// Bounds of a list of the SA's records.
inline constexpr std::size_t largest_sa_file = std::size_t{64} << 20;
inline constexpr std::size_t most_groups = 65536, most_members = std::size_t{1} << 20;

/// What no administrator should say of groups: records of one group that contradict each other, an MGID that is no
/// multicast GID, in saquery's text an MLID or MTU out of range. Kept, they can be judged; a blank Scope, as some
/// administrators have it in a member's record, then counts as not told.
enum class Irregularities : bool { refused, kept };

/// A list of the SA's records: what `saquery -g`, `saquery -m` and `saquery MCMR` print, alone or one after the other,
/// with that of `saquery NR`, `saquery PIR` and `saquery PKTR` for the ports; or JSON: an array of objects with mgid
/// and any of pkey, qkey, mtu, sl, tclass, flow_label, hop_limit, scope, mlid, rate (units as in parse_assumption;
/// numbers, or strings for hex), pkt_life (its code), and members: an array of {port_gid, join_state, proxy,
/// node_description}, empty where the group is known to have none. What is said of a group in several places is put
/// together. Other lines and members of objects are ignored. Throws std::runtime_error with file, line and what is
/// wrong: irregularities (unless they are to be kept), other values out of range, a record cut off, more than the
/// bounds allow, no record at all.
[[nodiscard]] Statement read_sa_file(const std::string& path, Irregularities are = Irregularities::refused);

/// The same of text that was read already; `origin` names it.
[[nodiscard]] Statement parse_sa_list(std::string_view text, const std::string& origin,
                                      Irregularities are = Irregularities::refused);

}  // namespace ipoib::assumptions
