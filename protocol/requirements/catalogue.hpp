// SPDX-License-Identifier: GPL-2.0-or-later
// The whole catalogue: the requirements of all documents, found by id, with what else a violation violates.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "protocol/requirements/iba.hpp"
#include "protocol/requirements/requirement.hpp"
#include "protocol/requirements/rfc4390.hpp"
#include "protocol/requirements/rfc4391.hpp"
#include "protocol/requirements/rfc4392.hpp"
#include "protocol/requirements/rfc4755.hpp"
#include "protocol/requirements/udmc.hpp"

namespace ipoib::requirements {

/// Every requirement, in document order: RFC4391, RFC4392, RFC4755, RFC4390, UDMC, IBA.
[[nodiscard]] std::span<const Requirement* const> all() noexcept;

/// The requirement with exactly this id, or nullptr.
[[nodiscard]] const Requirement* find(std::string_view id) noexcept;

/// The ids violated when `requirement` is: its own, and by same_as and part_of, step by step, all that follow from it.
/// In document order, each once. Empty for a requirement that is not in the catalogue.
[[nodiscard]] std::vector<std::string_view> closure(const Requirement& requirement);

}  // namespace ipoib::requirements
