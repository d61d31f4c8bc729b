// SPDX-License-Identifier: GPL-2.0-or-later
// Administrators that are wrong in some histories only: hardly any case finds them, since it asks one thing at a time.
#pragma once

#include "fabric/simulated/sa_lapse.hpp"

#include <span>
#include <string_view>

namespace ipoib::conformance {

struct Lapse {
    fabric::SaLapse lapse;
    std::string_view name;  ///< "proxy-leave-keeps-mlid": for --fabric simulated:sa-mutant=NAME
    std::string_view what;  ///< the change in words
};

[[nodiscard]] std::span<const Lapse> all_lapses() noexcept;
/// Null for a name that is none.
[[nodiscard]] const Lapse* find_lapse(std::string_view name) noexcept;

}  // namespace ipoib::conformance
