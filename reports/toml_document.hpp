// SPDX-License-Identifier: GPL-2.0-or-later
// Reads TOML that a person wrote, or that only looks so.
#pragma once

#include <toml++/toml.h>

#include <optional>
#include <string_view>

#include "reports/complaints.hpp"

namespace ipoib::reports {

/// The document, in ASCII as `to_ascii_toml` makes it; nothing where it is none, and what is wrong is among the
/// complaints.
[[nodiscard]] std::optional<toml::table> toml_document(std::string_view text, std::string_view source,
                                                       Complaints& complaints);

}  // namespace ipoib::reports
