// SPDX-License-Identifier: GPL-2.0-or-later
// A change of a fabric from outside: typed, as a request of the fabric-control protocol, and what takes it back.
#pragma once

#include "fabric/change/link_faults.hpp"
#include "protocol/wire/mgid.hpp"

#include <array>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>

namespace ipoib::fabric {

/// A port by its GUID, or where that is 0 by its LID.
struct PortName {
    std::uint64_t guid = 0;
    std::uint16_t lid = 0;
    friend bool operator==(const PortName&, const PortName&) = default;
};

/// The whole link is set up anew, as a scenario says.
struct SetScenario {
    std::string name;
    friend bool operator==(const SetScenario&, const SetScenario&) = default;
};
/// The subnet manager stops, or starts: with the database of before, or with none. Or another one takes over, at a LID
/// that no port had before, with no database.
struct SetManager {
    bool runs = true, keeps_state = false, takes_over = false;
    friend bool operator==(const SetManager&, const SetManager&) = default;
};
/// The link of a port goes up or down.
struct SetPort {
    PortName port;
    bool is_up = true;
    friend bool operator==(const SetPort&, const SetPort&) = default;
};
/// A port's table gets a P_Key, or loses it. With an index the P_Key stands there from now on, and what stood there
/// where the P_Key was before, or behind all others.
struct SetPKey {
    PortName port;
    std::uint16_t p_key = 0;
    bool is_there = true;
    std::optional<std::uint16_t> index{};
    friend bool operator==(const SetPKey&, const SetPKey&) = default;
};
/// The subnet manager gives a port another LID; 0: one that nobody had before.
struct SetLid {
    PortName port;
    std::uint16_t lid = 0;
    friend bool operator==(const SetLid&, const SetLid&) = default;
};
/// The subnet manager starts anew, without its database, and gives the subnet this prefix.
struct SetPrefix {
    std::uint64_t prefix = wire::default_subnet_prefix;
    friend bool operator==(const SetPrefix&, const SetPrefix&) = default;
};
/// What the SA does wrong from now on; what is not named stays as it is, unless it is reset first.
struct SetSa {
    bool resets = false;
    std::optional<Duration> delay{};              ///< of every answer and report
    std::optional<bool> is_silent{};              ///< receives, never answers
    std::optional<std::uint32_t> drop_next{};     ///< so many requests go unanswered
    std::optional<std::uint32_t> busy_next{};     ///< so many requests are answered BUSY
    std::optional<std::uint16_t> refuse_joins{};  ///< status for every join; 0: none
    std::optional<wire::Gid> refuse_only{};       ///< only for this MGID
    friend bool operator==(const SetSa&, const SetSa&) = default;
};
/// The administrator creates a group like the broadcast group, but for what is said, or deletes it. The group is of the
/// partition that an IPoIB MGID names.
struct SetGroup {
    wire::Gid mgid;
    bool exists = true;
    std::optional<std::uint32_t> q_key{}, flow_label{};
    std::optional<std::uint8_t> sl{}, traffic_class{}, hop_limit{};
    std::optional<std::uint8_t> mtu{};  ///< code
    friend bool operator==(const SetGroup&, const SetGroup&) = default;
};
/// The SA tells the way to a GID that no port here has by this LID, which stands for a router; 0: by none any more. It
/// has this SL, if one is said.
struct SetPath {
    wire::Gid gid;
    std::uint16_t lid = 0;
    std::optional<std::uint8_t> sl{};
    friend bool operator==(const SetPath&, const SetPath&) = default;
};
/// What a port's cable does to the frames; by default nothing.
struct SetFaults {
    PortName port;
    LinkFaults faults{};
    friend bool operator==(const SetFaults&, const SetFaults&) = default;
};
/// Takes back what earlier changes did to the subnet manager, the administrator and, where the fabric can, the cables.
struct Restore {
    friend bool operator==(const Restore&, const Restore&) = default;
};

using FabricChange = std::variant<SetScenario, SetManager, SetPort, SetPKey, SetLid, SetPrefix, SetSa, SetGroup,
                                  SetPath, SetFaults, Restore>;

/// What they are called in the protocol, in the order of FabricChange.
inline constexpr std::array<std::string_view, std::variant_size_v<FabricChange>> change_verbs{
    "scenario", "sm", "port", "pkey", "lid", "prefix", "sa", "group", "path", "faults", "restore"};
[[nodiscard]] inline std::string_view verb(const FabricChange& change) noexcept { return change_verbs[change.index()]; }
/// How long the answer to a request may take where it does not say.
inline constexpr Duration usual_patience = std::chrono::seconds{10};
/// What is asked for, as people are told it: a request without its id.
[[nodiscard]] std::string text(const FabricChange& change);
/// As a request: one line of JSON, without its end.
[[nodiscard]] std::string request_text(const FabricChange& change, std::uint64_t id,
                                       Duration patience = usual_patience);

/// Why a request is not carried out.
struct ChangeRefused : std::runtime_error {
    ChangeRefused(bool unsupported, const std::string& message)
        : std::runtime_error(message), is_unsupported(unsupported) {}
    bool is_unsupported;  ///< the fabric does not know how to do that
};
/// The change that a request asks for. Members that its verb does not know are ignored. Throws ChangeRefused, whose
/// message names the member: unsupported where the verb is unknown.
[[nodiscard]] FabricChange parse_change(const std::string& request);

/// What takes a change back, where nothing but the change must be known for that; nothing where only the fabric knows
/// what was before. Taking back what is as it was before already is no error.
[[nodiscard]] std::optional<FabricChange> opposite(const FabricChange& change);

/// What a fabric says of a change.
struct ChangeAnswer {
    enum class Outcome : std::uint8_t { done, unsupported, failed };
    Outcome outcome = Outcome::done;
    std::string message{};  ///< why not
    [[nodiscard]] bool is_done() const noexcept { return outcome == Outcome::done; }
};
/// As the answer to that request, whose id it repeats: one line of JSON, without its end.
[[nodiscard]] std::string answer_text(const std::string& request, const ChangeAnswer& answer);
/// Of a line of JSON; one that makes no sense is a failure.
[[nodiscard]] ChangeAnswer parse_answer(const std::string& line);

}  // namespace ipoib::fabric
