// SPDX-License-Identifier: GPL-2.0-or-later
// What a subnet administrator holds of multicast groups and of the ports in them: asked for, or read from files.
#pragma once

#include "conformance/assumptions/statement.hpp"
#include "fabric/port.hpp"

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ipoib::audit {

/// A question for a way from one member of a link to another.
struct AskedPath {
    wire::Gid link{};  ///< the broadcast group's MGID
    wire::Gid from{}, to{};
    bool has_path = false;
};

struct Inventory {
    std::vector<assumptions::StatedGroup> groups;  ///< by MGID, each once
    std::vector<assumptions::StatedPort> ports;    ///< by GID; those that the SA was asked about
    std::vector<AskedPath> paths;                  ///< between members of one link, as far as they were asked for
    /// Whether there are routers between this subnet and others, as far as that is told.
    std::optional<bool> has_router;
    std::vector<std::uint16_t> p_keys;  ///< of the port that asked: an SA may tell only of these partitions
    std::string origin;                 ///< "the SA at LID 0x0002", or the file's name
    std::string doubt;                  ///< why groups may be missing; empty: none is
    std::string p_key_doubt;            ///< why P_Keys of a port may be; empty: none is
    std::vector<std::string> notes;     ///< what was not asked for, or not told
    std::optional<std::uint16_t>
        switch_groups{};        ///< that the switch with the least room has room for, where a file tells
    std::size_t questions = 0;  ///< that were put to the SA
};

/// Of a list that a file gives. It may say less than the SA knows.
[[nodiscard]] Inventory inventory_of(assumptions::Statement file);

/// Told now and then how many of the members' ports have been asked about.
using Progress = std::function<void(std::size_t done, std::size_t all)>;

/// Called before each question: waits as long as there is to wait.
using Pace = std::function<void()>;

/// The most paths that a survey asks for.
inline constexpr std::size_t most_paths = 2000;

/// Asks the SA: GetTable of MCMemberRecord, then Get of NodeRecord, PortInfoRecord, LinkRecord and SwitchInfoRecord and
/// GetTable of P_KeyTableRecord for each member's port, then for routers, and at most `most_paths` PathRecords. Nothing
/// but Get and GetTable leaves the port. `is_trusted`: the port knows the SM_Key, so that the SA tells of members.
/// Throws std::runtime_error when the groups are not told, a question is not answered, or the run is interrupted.
[[nodiscard]] Inventory survey(fabric::Port& port, bool is_trusted, fabric::Duration patience, const Progress& progress,
                               const Pace& pace = {});

}  // namespace ipoib::audit
