// SPDX-License-Identifier: GPL-2.0-or-later
// Ports of this host's HCAs as a fabric, where the program has libibverbs.
#pragma once

#include "conformance/target/fabric_options.hpp"
#include "fabric/port.hpp"

#include <memory>
#include <string>

namespace ipoib::conformance {

struct VerbsChoice {
    HcaTarget target;
    std::string control{};    ///< a command that changes the fabric; empty: none
    unsigned interfaces = 0;  ///< queue pairs, at each of the ports in turn; at least one at each
};

/// Throws std::invalid_argument for what cannot be (a usage error), std::runtime_error for what fails.
[[nodiscard]] std::unique_ptr<fabric::Fabric> open_verbs(const VerbsChoice& choice, fabric::Duration patience);
/// What can be done there, told without using a port: it need not be there.
[[nodiscard]] fabric::Abilities verbs_abilities(const VerbsChoice& choice);

}  // namespace ipoib::conformance
