// SPDX-License-Identifier: GPL-2.0-or-later
// Fabrics that ports of this host's HCAs are part of: what their words say, and how one is looked at.
#pragma once

#include "conformance/target/fabric_kind.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace ipoib::conformance {

namespace kinds {
extern const FabricKind umad, verbs;
}

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

/// DEVICE[/PORT]. Throws std::invalid_argument.
[[nodiscard]] HcaTarget::Port hca_port(std::string_view word);
/// What follows the colon: [DEVICE[/PORT]][,pkey=N][,sm-key=N]; `take_other` takes a word of its own kind, or does not
/// know it either. `syntax` is what messages say that it is. Throws std::invalid_argument.
[[nodiscard]] HcaTarget hca_target(const Opening& opening, std::string_view syntax,
                                   bool (*take_other)(HcaTarget& target, std::string_view word));
/// [DEVICE[/PORT]][,pkey=N][,sm-key=N][,issm]. Throws std::invalid_argument.
[[nodiscard]] HcaTarget umad_target(const Opening& opening);
/// [DEVICE[/PORT]][,pkey=N][,gid=N][,second=DEVICE[/PORT]][,sm-key=N]. Throws std::invalid_argument.
[[nodiscard]] HcaTarget verbs_target(const Opening& opening);

/// A port, by whatever kind it is named, through its MAD device alone. Throws as FabricKind says.
[[nodiscard]] std::unique_ptr<fabric::Fabric> look_at_hca(const Opening& opening, const HcaTarget& target);

}  // namespace ipoib::conformance
