// SPDX-License-Identifier: GPL-2.0-or-later
// How cases on connections take what the text leaves to the DUT, and one deviation for one.
#include "catch2.hpp"
#include "conformance/bench/active.hpp"
#include "conformance/target/simulated_dut.hpp"
#include "conformance/target/target.hpp"

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

/// Writes down what the DUT is asked for.
class Overheard : public DutControl {
public:
    explicit Overheard(DutControl& dut) : dut_(dut) {}
    DutControlReply ask(const std::string& request, fabric::Duration deadline) override {
        requests.push_back(request);
        return dut_.ask(request, deadline);
    }
    std::vector<std::string> requests;

private:
    DutControl& dut_;
};

/// A DUT that is the same for all cases, and is in connected mode whatever they ask of it.
class ConnectedRig : public Rig {
public:
    ConnectedRig() {
        session_.begin();
        // Not by way of the session, which would undo it.
        constexpr auto deadline = std::chrono::seconds{1};
        const auto reply = dut_.control().ask(R"({"id":0,"do":"set_mode","mode":"connected"})", deadline);
        REQUIRE(reply.line.find("\"ok\":true") != std::string::npos);
    }
    Session& prepare(std::uint64_t) override { return session_; }
    std::string clean_up(CaseEnd) override {
        session_.undo();
        return {};
    }
    [[nodiscard]] fabric::Abilities abilities() const override { return fabric_.abilities(); }
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> fabric_facts() const override { return {}; }
    [[nodiscard]] bool is_virtual() const override { return true; }

private:
    fabric::SimulatedFabric fabric_{fabric::SimulatedOptions{}};
    SimulatedDut dut_{fabric_, fabric::Scenario{}.dut_guid, nullptr};

public:
    Overheard control{dut_.control()};

private:
    Session session_{fabric_, control, SessionOptions{}};
};

}  // namespace

TEST_CASE("Connections: what the DUT learned of the tester in one case does not outlive it") {
    ConnectedRig rig;
    const auto last_request = [&] {
        return rig.control.requests.empty() ? std::string{} : rig.control.requests.back();
    };
    for (const auto* id : {"IPOIB-4755-3.5-VAL-001", "IPOIB-4755-3.3-INO-001", "IPOIB-4755-3.4-VAL-001",
                           "IPOIB-4755-3.2-INV-001", "IPOIB-4391-7-VAL-002"}) {
        CAPTURE(id);
        ActiveRun active;
        active.cases = {find_case(id)};
        REQUIRE(active.cases[0] != nullptr);
        const auto result = run(active, rig).results.at(0);
        const bool is_of_connections = std::string_view(id).starts_with("IPOIB-4755");
        CHECK(result.verdict == (is_of_connections ? Verdict::pass : Verdict::na));
        const bool presents =
            std::string_view(id).ends_with("3.5-VAL-001") || std::string_view(id).ends_with("3.3-INO-001");
        CHECK((last_request().find("flush_neighbours") != std::string::npos) == presents);
    }
}

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
