// SPDX-License-Identifier: GPL-2.0-or-later
// What the system says of an error number.
#pragma once

#include <string>
#include <system_error>

namespace ipoib::fabric {

/// The message of an `errno`.
[[nodiscard]] inline std::string reason(int error) { return std::generic_category().message(error); }

}  // namespace ipoib::fabric
