// SPDX-License-Identifier: GPL-2.0-or-later
// What follows the kind in --fabric: paths, a device, keys.
#pragma once

#include "fabric/socket/fabric.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace ipoib::conformance {

/// PATH[,PATH]...[,tap=PATH][,sm-key=N]. Throws std::invalid_argument.
[[nodiscard]] fabric::SocketOptions socket_options(std::string_view list);

/// Where the management datagrams of `--fabric umad:` go.
struct UmadTarget {
    std::string device;        ///< empty: the only one
    int port = 0;              ///< 0: the only active one
    std::uint16_t p_key = 0;   ///< of the link; 0: the first full one of the port
    std::uint64_t sm_key = 0;  ///< 0: not known
    bool raises_issm = false;
};
/// [DEVICE[/PORT]][,pkey=N][,sm-key=N][,issm]. Throws std::invalid_argument.
[[nodiscard]] UmadTarget umad_target(std::string_view list);

}  // namespace ipoib::conformance
