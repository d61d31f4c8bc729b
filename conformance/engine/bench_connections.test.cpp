// SPDX-License-Identifier: GPL-2.0-or-later
// How cases on connections take what the text leaves to the DUT, and one deviation for one.
#include "catch2.hpp"
#include "conformance/engine/active.hpp"

#include <algorithm>

using namespace ipoib;
using namespace ipoib::conformance;
using reports::Result;
using reports::Verdict;

namespace {

Result run_case(const char* id, const char* dut) {
    const Target target{.dut = dut};
    ActiveRun active;
    active.cases = {find_case(id)};
    REQUIRE(active.cases[0] != nullptr);
    const auto rig = make_rig(target);
    return run(active, *rig).results.at(0);
}

bool notes(const Result& result, std::string_view words) {
    return std::any_of(result.notes.begin(), result.notes.end(),
                       [&](const std::string& note) { return note.find(words) != std::string::npos; });
}

}  // namespace

TEST_CASE("Connections: a DUT that listens where Linux does is charged with that alone") {
    CHECK(run_case("IPOIB-4755-3.5-VAL-002", "mutant:service-id-10").verdict == Verdict::fail);
    for (const auto* id : {"IPOIB-4755-2.2-VAL-001", "IPOIB-4755-3.2-INO-001", "IPOIB-4755-3.3-INO-001",
                           "IPOIB-4755-3.3-INO-002", "IPOIB-4755-6-INV-001", "IPOIB-4755-7-VAL-002"}) {
        CAPTURE(id);
        const auto result = run_case(id, "mutant:service-id-10");
        CHECK(result.verdict == Verdict::pass);
        CHECK(notes(result, "Service-ID 10h"));
    }
}

TEST_CASE("Connections: to begin none is the DUT's choice") {
    for (const auto* id : {"IPOIB-4755-3.5-VAL-001", "IPOIB-4755-3.3-INO-001", "IPOIB-4755-5.1-VAL-001"}) {
        CAPTURE(id);
        const auto result = run_case(id, "mutant:permitted-begins-no-connection");
        CHECK(result.verdict == Verdict::na);
        CHECK(result.message == "the DUT begins no connection, which is its choice");
    }
    CHECK(run_case("IPOIB-4755-7-VAL-002", "mutant:permitted-begins-no-connection").verdict == Verdict::pass);
}

TEST_CASE("Connections: the Receive MTU that a DUT announces is noted") {
    CHECK(notes(run_case("IPOIB-4755-5-VAL-002", "reference"), "a Receive MTU of 2048 octets, not more"));
}
