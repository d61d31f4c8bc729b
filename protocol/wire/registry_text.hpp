// SPDX-License-Identifier: GPL-2.0-or-later
// What is known of a header, for people: its page in words, and the names of its fields in Wireshark's filters.
// Allocates: not for the decode path.
#pragma once

#include "protocol/wire/registry.hpp"

#include <string>
#include <vector>

namespace ipoib::wire {

/// The plugin's filter for each field of a header, in their order: "rfc4391.mc_member_record.join_state". No two are
/// the same.
[[nodiscard]] std::vector<std::string> filters_of(const HeaderSpec& header);

/// All of a row: title, section, where decoding finds the header, and a line for each field.
[[nodiscard]] std::string explanation(const RegistryRow& row);
/// One field of it, with the names that its values have.
[[nodiscard]] std::string explanation(const RegistryRow& row, const FieldSpec& field);

}  // namespace ipoib::wire
