// SPDX-License-Identifier: GPL-2.0-or-later
// SHA-256, as sha256sum(1) tells it.
#pragma once

#include <string>
#include <string_view>

namespace ipoib::conformance::replay {

/// 64 hexadecimal digits.
[[nodiscard]] std::string sha256(std::string_view octets);

}  // namespace ipoib::conformance::replay
