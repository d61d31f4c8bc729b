// SPDX-License-Identifier: GPL-2.0-or-later
// What hosts believe beside what a subnet administrator holds, a capture shows, and other hosts believe: who is not
// where they think they are. docs/host-state.md has the findings.
#pragma once

#include "conformance/assumptions/statement.hpp"
#include "conformance/hosts/host_state.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ipoib::hosts {

/// A link-layer address that an IP address was announced with, the latest one.
struct Announcement {
    wire::Gid address{};
    std::uint16_t p_key = 0;  ///< with the membership bit
    wire::Gid gid{};
    std::uint32_t qpn = 0;
    std::int64_t since = 0;  ///< when, in ns since 1970
};

/// A port that is in no way a member of a group: refused, or left.
struct Absence {
    wire::Gid mgid{}, port{};
    std::int64_t since = 0;  ///< in ns since 1970
};

/// What is known of a subnet besides what its hosts say. Each part may be untold.
struct Surroundings {
    std::string who = "the SA";                    ///< who says of groups and ports, in a sentence
    std::vector<assumptions::StatedGroup> groups;  ///< by MGID
    std::vector<assumptions::StatedPort> ports;    ///< by GID
    std::vector<wire::Gid> seen_lids;              ///< by GID: ports whose LID is only one that they sent from
    std::vector<Announcement> announcements;       ///< by address
    std::vector<Absence> absent;                   ///< by MGID and port
    bool groups_are_whole = false;                 ///< a group that is not there does not exist
    std::vector<std::uint16_t> p_keys;             ///< where not empty: groups of other partitions are not told
    std::int64_t began = 0, ended = 0;             ///< of a capture, in ns since 1970; 0: of any time
};

/// How long before and after a capture, or another state, a state may be from to be compared with what seldom changes,
/// in ns; and with what does.
inline constexpr std::int64_t nearness = std::int64_t{3600} * 1'000'000'000,
                              freshness = std::int64_t{60} * 1'000'000'000;

struct HostFinding {
    std::string name;  ///< permanent, such as "host-not-member"
    std::string text;
    std::uint64_t prefix = 0;  ///< of the subnet
    std::uint16_t p_key = 0;   ///< of the link, with the membership bit
    std::vector<wire::Gid> ports;
    std::vector<wire::Gid> groups{};
};

struct Comparison {
    std::vector<HostFinding> findings;  ///< by name, what mostly follows from others last
    std::vector<std::string> notes;     ///< what could not be compared, and why
};

[[nodiscard]] Comparison compare(std::span<const HostState> hosts, const Surroundings& around);

}  // namespace ipoib::hosts
