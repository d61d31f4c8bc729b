// SPDX-License-Identifier: GPL-2.0-or-later
// How a wrong subnet administrator of the simulated fabric is named.
#pragma once

#include <string_view>

namespace ipoib::conformance {

inline constexpr std::string_view sa_mutant_form = "simulated:sa-mutant=NAME";
/// The name of the mutant follows it.
inline constexpr std::string_view sa_mutant_prefix = sa_mutant_form.substr(0, sa_mutant_form.find("NAME"));

}  // namespace ipoib::conformance
