// SPDX-License-Identifier: GPL-2.0-or-later
// Nodes that the DUT has not met, and what is sent once between it and them.
#pragma once

#include "conformance/explore/world.hpp"

#include <array>
#include <functional>
#include <string>
#include <vector>

namespace ipoib::conformance::explore {

/// Whom nobody has met is answered when it asks for the first time, and gets the first that is sent to it: nothing is
/// dropped while the way there is asked for.
class Newcomers {
public:
    explicit Newcomers(World& world) : world_(world) {}

    /// What did not arrive, in words. Each way has a newcomer of its own, so that its path is not known; where one does
    /// not come up, nothing is said of it.
    [[nodiscard]] std::vector<std::string> meet();

private:
    using Received = std::function<std::vector<Subject::Datagram>()>;

    [[nodiscard]] bool is_answered(bool is_v4);
    [[nodiscard]] bool is_reached(bool is_v4);
    /// Null: it does not come up.
    [[nodiscard]] Station* add();
    [[nodiscard]] const std::array<std::uint8_t, 8>& next_payload();
    [[nodiscard]] bool arrives(fabric::Duration limit, const Received& received);

    World& world_;
    std::array<std::uint8_t, 8> payload_{0xe2};
};

}  // namespace ipoib::conformance::explore
