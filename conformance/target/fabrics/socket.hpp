// SPDX-License-Identifier: GPL-2.0-or-later
// What the words behind socket: say.
#pragma once

#include "conformance/target/fabric_kind.hpp"
#include "fabric/socket/fabric.hpp"

namespace ipoib::conformance {

/// socket:PATH[,PATH]...[,tap=PATH][,sm-key=N][,name=NAME]. Throws std::invalid_argument.
[[nodiscard]] fabric::SocketOptions socket_options(const Opening& opening);

}  // namespace ipoib::conformance
