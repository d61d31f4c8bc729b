// SPDX-License-Identifier: GPL-2.0-or-later
// What follows the kind in --fabric: paths, a device, keys.
#pragma once

#include "fabric/socket/fabric.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ipoib::conformance {

/// PATH[,PATH]...[,tap=PATH][,sm-key=N]. Throws std::invalid_argument.
[[nodiscard]] fabric::SocketOptions socket_options(std::string_view list);

/// Ports of this host's HCAs: `--fabric umad:` and `--fabric verbs:`.
struct HcaTarget {
    struct Port {
        std::string device;  ///< empty: the only one
        int number = 0;      ///< 0: the only active one
    };
    Port port;
    std::uint16_t p_key = 0;     ///< of the link; 0: the first full one of the port
    std::uint64_t sm_key = 0;    ///< 0: not known
    bool raises_issm = false;    ///< umad only
    int gid_index = 0;           ///< verbs only
    std::optional<Port> second;  ///< verbs only
};
/// [DEVICE[/PORT]][,pkey=N][,sm-key=N][,issm]. Throws std::invalid_argument.
[[nodiscard]] HcaTarget umad_target(std::string_view list);
/// [DEVICE[/PORT]][,pkey=N][,gid=N][,second=DEVICE[/PORT]][,sm-key=N]. Throws std::invalid_argument.
[[nodiscard]] HcaTarget verbs_target(std::string_view list);

}  // namespace ipoib::conformance
