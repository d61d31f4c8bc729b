// SPDX-License-Identifier: GPL-2.0-or-later
// A kind of traffic. One small file in profiles/ adds one, nothing else names it.
#pragma once

#include "protocol/build/management.hpp"
#include "protocol/registry.hpp"
#include "traffic-gen/stage.hpp"

#include <string_view>

namespace ipoib::traffic {

/// Who on a real fabric may notice it.
enum class Impact : std::uint8_t { observe, dut, link, fabric };
[[nodiscard]] std::string_view name(Impact) noexcept;

struct Profile {
    std::string_view name;  ///< "udp-multicast"
    std::string_view what;  ///< in a few words
    Impact impact = Impact::dut;
    /// What must have happened before its own packets make sense; null: each host has joined its links.
    void (*prepare)(Stage& stage) = nullptr;
    /// Sends its packets, as long as the stage goes on.
    void (*play)(Stage& stage) = nullptr;
    Registered<Profile> registered{this};
};

/// All profiles, by name.
[[nodiscard]] std::vector<const Profile*> all_profiles();
[[nodiscard]] const Profile* find_profile(std::string_view name);
/// A whole run.
void play(const Profile& profile, Stage& stage);

/// What several profiles send.
/// A host joins a group in some state, unless it is a member so already: the request, and the administrator's answer.
void join(Stage& stage, const build::Node& host, const build::Link& link, const wire::Gid& mgid, std::uint8_t state);
void leave(Stage& stage, const build::Node& host, const build::Link& link, const wire::Gid& mgid, std::uint8_t state);
/// All hosts join the broadcast groups of all links.
void bring_up(Stage& stage);
/// A host may send to a group, which somebody has joined.
void join_to_send(Stage& stage, const build::Node& host, const build::Link& link, const wire::Gid& mgid);
/// A host asks for another's address, and is answered.
void resolve(Stage& stage, const Net& net, std::size_t from, std::size_t to);
void resolve6(Stage& stage, const Net& net, std::size_t from, std::size_t to);

}  // namespace ipoib::traffic
