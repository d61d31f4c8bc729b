// SPDX-License-Identifier: GPL-2.0-or-later
// The channel to the implementation under test: requests and answers of the DUT control protocol (interfaces.md).
#pragma once

#include "fabric/loop.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace ipoib::conformance {

/// The most octets of a request or an answer, the newline not counted.
inline constexpr std::size_t longest_control_line = std::size_t{64} * 1024;

/// The version of the protocol, which `hello` tells.
inline constexpr std::uint64_t control_version = 1;

/// What came back for a request.
struct DutControlReply {
    std::string line;   ///< the answer, one line of JSON; empty when there is none
    std::string error;  ///< why the channel failed: it died, hung, flooded; nothing more can be asked then
};

/// One DUT's adapter: in this process or another.
class DutControl {
public:
    virtual ~DutControl() = default;
    /// Sends one request line (without newline) and runs the loop until its answer, at most `patience`.
    [[nodiscard]] virtual DutControlReply ask(const std::string& request, fabric::Duration patience) = 0;
    /// Waits as long as a process of the DUT is stopped, by a debugger or SIGSTOP; ends early when the program is told
    /// to stop. Whether one was: what should have come meanwhile had no chance to.
    [[nodiscard]] virtual bool waits_for_stopped() { return false; }
    /// The process that the adapter is, to be named to a person; 0: it is none of its own.
    [[nodiscard]] virtual int process() const { return 0; }
    /// What the adapter wrote to standard error since the last call, for the evidence.
    [[nodiscard]] virtual std::string diagnostics() { return {}; }
};

}  // namespace ipoib::conformance
