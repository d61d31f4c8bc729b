// SPDX-License-Identifier: GPL-2.0-or-later
// What is done to a node, in order: frames with lies, lies in the answers of others, events of the link, requests to
// its host. As a list that goes to a file and back.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace ipoib::conformance::fuzz {

struct Verb;

/// Something that is done once. What its verb does not use is as it is here.
struct Operation {
    const Verb* verb = nullptr;
    std::string packet{};                ///< of `send`: a name of material.hpp; empty: the octets
    std::vector<std::uint8_t> octets{};  ///< of `send`: a frame of another fabric, LRH to VCRC, to be made to fit here
    std::string of{};                    ///< of `answers`: whose
    std::vector<std::string> lies{};     ///< as lie.hpp has them
    std::uint32_t value = 0;
    std::uint32_t times = 1, after = 0;  ///< of `answers`: so many pass before
    std::uint32_t pause = 0;             ///< ms, once it is done
    friend bool operator==(const Operation&, const Operation&) = default;
};

struct Session {
    std::string scenario = "default";
    std::vector<Operation> operations;
    friend bool operator==(const Session&, const Session&) = default;
};

/// As much as a file may have, and what chance makes at most.
inline constexpr std::size_t most_operations = 2000, usual_operations = 24;

/// As a file: JSON, a line for each operation. The remarks are for people.
[[nodiscard]] std::string text(const Session& session, const std::vector<std::string>& remarks = {});
/// Throws std::invalid_argument, with what is wrong.
[[nodiscard]] Session parse_session(std::string_view text);

}  // namespace ipoib::conformance::fuzz
