// SPDX-License-Identifier: GPL-2.0-or-later
// The DUT of `--dut none` and `--dut sa`: nothing can be asked of it. interfaces.md, "DUT control".
#pragma once

#include "conformance/dut/control.hpp"

namespace ipoib::conformance {

/// Greets as an adapter that can do nothing; all else is unsupported.
class NoControl : public DutControl {
public:
    [[nodiscard]] DutControlReply ask(const std::string& request, fabric::Duration patience) override;
};

}  // namespace ipoib::conformance
