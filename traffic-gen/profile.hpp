// SPDX-License-Identifier: GPL-2.0-or-later
// A kind of traffic. One small file in profiles/ adds one, nothing else names it.
#pragma once

#include "fabric/impact.hpp"
#include "protocol/build/management.hpp"
#include "protocol/registry.hpp"
#include "traffic-gen/stage.hpp"

#include <string_view>

namespace ipoib::traffic {

using fabric::Impact;

enum class Families : std::uint8_t { ipv4, ipv6, both };

struct Profile {
    std::string_view name;  ///< "udp-multicast"
    std::string_view what;  ///< in a few words
    Impact impact = Impact::dut;
    Families families = Families::both;  ///< in which it speaks with a neighbour
    bool needs_neighbour = true;         ///< one host alone cannot play it
    /// Of IP and what is over it, where a payload has the size that was asked for.
    std::size_t headers = wire::Ipv6::size + wire::Udp::size;
    std::string_view no_fabric = {};  ///< why it cannot be played on a fabric; empty: it can
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
/// False where a real one has refused.
bool join(Stage& stage, const build::Node& host, const build::Link& link, const wire::Gid& mgid, std::uint8_t state);
void leave(Stage& stage, const build::Node& host, const build::Link& link, const wire::Gid& mgid, std::uint8_t state);
/// In captures only; on a fabric it has happened.
/// The subnet manager brings up a port, which cannot have been on any link before.
void come_up(Stage& stage, const build::Node& host, const build::Link& link);
/// All hosts come up, join the broadcast groups of all links, and tell them where they are.
void bring_up(Stage& stage);
/// A host may send to a group, which somebody has joined; false where it may not.
bool join_to_send(Stage& stage, const build::Node& host, const build::Link& link, const wire::Gid& mgid);
/// A host asks for another's address, and is answered.
void resolve(Stage& stage, const Net& net, std::size_t from, std::size_t to);
void resolve6(Stage& stage, const Net& net, std::size_t from, std::size_t to);

}  // namespace ipoib::traffic
