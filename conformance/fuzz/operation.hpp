// SPDX-License-Identifier: GPL-2.0-or-later
// What can be done in a session: one row for each verb, with its words, what it is about, its value, and how it is
// done.
#pragma once

#include "conformance/fuzz/session.hpp"

#include <span>

namespace ipoib::conformance::fuzz {

class Arena;

/// What an operation is about, for `--target`.
enum class Area : std::uint8_t { datagrams, connections, administration, link, host };

struct Verb {
    std::string_view name;   ///< "send"
    std::string_view words;  ///< for people; "{}" stands for its value
    Area area = Area::datagrams;
    std::uint32_t least = 0, most = 0;  ///< of its value; both 0: it has none
    void (*act)(Arena& arena, const Operation& operation);
    bool has_lies = false;
};

[[nodiscard]] std::span<const Verb> all_verbs();
/// Null for a name that is none.
[[nodiscard]] const Verb* find_verb(std::string_view name);

/// Whose answers can be lied in.
inline constexpr std::string_view answerers[]{"sa", "cm", "sm", "arp", "data"};

}  // namespace ipoib::conformance::fuzz
