// SPDX-License-Identifier: GPL-2.0-or-later
// Names and values of a group's parameters, as people write them and as saquery prints them.
#pragma once

#include "conformance/assumptions/statement.hpp"

#include <stdexcept>

namespace ipoib::assumptions {

/// What is wrong, and in which line; 0 where no line is meant.
struct Wrong {
    std::size_t line = 0;
    std::string what;
};

/// A piece of the user's text for a message: in quotes, printable, cut where it is long.
[[nodiscard]] std::string shown(std::string_view text);
/// Without blanks at both ends.
[[nodiscard]] std::string_view trimmed(std::string_view text);

/// A GID in any usual form, also "0xfe80000000000000 : 0x0002c90300000001" as old tools print it.
[[nodiscard]] std::optional<wire::Gid> gid_in(std::string_view text);

/// A GUID: 16 hex digits, also with 0x, in groups of four, or as the last half of a GID.
[[nodiscard]] std::optional<std::uint64_t> guid_in(std::string_view text);

/// A name in lower case without underscores: "FlowLabel", "flow_label" and "flowlabel" are the same.
[[nodiscard]] std::string plain_name(std::string_view name);
/// The parameter of this plain name.
[[nodiscard]] std::optional<Parameter> parameter_named(std::string_view plain);
[[nodiscard]] std::string_view name_of(Parameter);

/// The value for GroupParameters of what a person says: MTU in octets, rate in Gb/s or "code=N". Throws
/// std::invalid_argument.
[[nodiscard]] std::uint32_t said_value(Parameter, std::string_view text);
/// The same of what saquery prints: MTU, rate and lifetime are octets of the record, with the selector in their upper
/// two bits. Throws std::invalid_argument.
[[nodiscard]] std::uint32_t printed_value(Parameter, std::string_view text);

[[nodiscard]] std::uint32_t value_of(const state::GroupParameters&, Parameter);
void set(StatedGroup&, Parameter, std::uint32_t value);
/// A value as a person says it: "0x8001", "2048", "10 Gb/s".
[[nodiscard]] std::string text_of(Parameter, std::uint32_t value);

}  // namespace ipoib::assumptions
