// SPDX-License-Identifier: GPL-2.0-or-later
// What the words behind socket: say.
#pragma once

#include "fabric/socket/fabric.hpp"

#include <string_view>

namespace ipoib::conformance {

/// PATH[,PATH]...[,tap=PATH][,sm-key=N]. Throws std::invalid_argument.
[[nodiscard]] fabric::SocketOptions socket_options(std::string_view list);

}  // namespace ipoib::conformance
