// SPDX-License-Identifier: GPL-2.0-or-later
// A fabric that is only looked at: nobody joins anything, nothing is sent but questions to the subnet administrator.
#pragma once

#include "conformance/target/target.hpp"

#include <memory>

namespace ipoib::conformance {

class Outlook {
public:
    virtual ~Outlook() = default;
    [[nodiscard]] virtual fabric::Fabric& fabric() = 0;
};

/// The fabric that a target names; its DUT is of no account. One of ours has the reference stack on it. A port of this
/// host, whatever kind names it, is used through its MAD device alone. Throws std::invalid_argument for what cannot be
/// (a usage error), std::runtime_error for what fails.
[[nodiscard]] std::unique_ptr<Outlook> look_at(const Target& target, const FabricKinds& kinds = fabric_kinds());

}  // namespace ipoib::conformance
