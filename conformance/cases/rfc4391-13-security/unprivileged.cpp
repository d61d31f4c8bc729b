// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case setup_needs_privileges{
    .id = "IPOIB-4391-13-INV-001",
    .title = "A program without privileges cannot change the interface or speak to the SM and SA",
    .checks = {&rfc4391::setup_protected},
    .pass_if = "the operating system refuses everything that the adapter tries without privileges",
    .tags = {"robust"},
    .dut_can = {"unprivileged"},
    .steps =
        [](Bench& bench) {
            bench.step("The adapter tries it as a user without privileges");
            const auto attempts = bench.dut->unprivileged();
            bench.precondition(!attempts.empty(), "there is something to try");
            for (const auto& [what, is_refused] : attempts)
                bench.require(is_refused, "a refusal to " + what, "it was let");
            bench.note(std::to_string(attempts.size()) + " attempts were refused");
        },
};

}  // namespace ipoib::conformance
