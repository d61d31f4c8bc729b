// SPDX-License-Identifier: GPL-2.0-or-later
// Two implementations on one simulated fabric, as the command line names them: --dut and --against.
#pragma once

#include "conformance/interop/place.hpp"
#include "conformance/target/fabric_kind.hpp"

#include <functional>
#include <memory>
#include <string>

namespace ipoib::conformance {

/// What one of the two is.
struct Contender {
    std::string dut = "reference";  ///< reference, mutant:NAME or exec:COMMAND
    std::string start{};            ///< a command that is run as long as it takes part; empty: none
    std::string interface {};       ///< as its adapter names it; empty: its first

    /// It may take so long until its adapter greets; zero: as long as for any request.
    std::chrono::seconds starts_within{0};

    [[nodiscard]] bool is_ours() const noexcept { return dut == "reference" || dut.starts_with("mutant:"); }
};

/// In commands {port} stands for the path of the raw port, {guid} for a port GUID in hex that nobody else has.
struct MeetingPlaceOptions {
    std::string fabric{usual_fabric}, scenario = "default";
    std::string listen{};  ///< path of the raw port; empty: one of its own, where a command has {port}
    interop::Each<Contender> contenders{};
    double timeout_scale = 1;
    bool keeps_journal = false;  ///< of all that comes from fabric and adapters
    /// Told what a person at the terminal should know while a run goes on; null: nobody listens.
    std::function<void(const std::string&)> remark{};
};

/// Nothing is started before the first prepare(). Throws std::invalid_argument for what cannot be (a usage error).
[[nodiscard]] std::unique_ptr<interop::Place> make_meeting_place(const MeetingPlaceOptions& options);

}  // namespace ipoib::conformance
