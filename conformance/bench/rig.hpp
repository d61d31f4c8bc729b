// SPDX-License-Identifier: GPL-2.0-or-later
// What gives a run its sessions: a fabric with a DUT on it.
#pragma once

#include "conformance/bench/session.hpp"

#include <string>
#include <utility>
#include <vector>

namespace ipoib::conformance {

/// Makes sessions. A rig wholly inside this process makes a new fabric and DUT for each case; any other keeps them.
class Rig {
public:
    virtual ~Rig() = default;
    /// The session for the next case. Throws SessionBroken, ChannelBroken.
    virtual Session& prepare(std::uint64_t seed) = 0;
    /// After a case: what it left behind is undone, or thrown away. A session that broke is not used again.
    struct CaseEnd {
        bool changed_fabric = false, is_broken = false;
    };
    /// What could not be put back, so that no further case can be judged here; empty where all could.
    [[nodiscard]] virtual std::string clean_up(CaseEnd end) = 0;
    /// What can be done here, before anything is sent; facts for the report, known after the first prepare().
    [[nodiscard]] virtual fabric::Abilities abilities() const = 0;
    /// The requests that the DUT's adapter says it knows. It is asked, and on a fabric that lasts nothing is sent. To
    /// be called before the first prepare(). Throws ChannelBroken.
    [[nodiscard]] virtual std::vector<std::string> dut_can() { return prepare(1).dut().abilities(); }
    [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> fabric_facts() const = 0;
    [[nodiscard]] virtual bool is_virtual() const = 0;
};

}  // namespace ipoib::conformance
