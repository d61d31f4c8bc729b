// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/target/fabric_kind.hpp"

#include "catch2.hpp"
#include "conformance/target/test_fabric_kind.hpp"

using namespace ipoib;
using namespace ipoib::conformance;

TEST_CASE("Fabric kinds: words name one by what is fixed in a form of the use") {
    const auto scheme_of = [](std::string_view text, FabricUse use) {
        const auto* kind = fabric_kinds().find(text, use);
        return kind ? kind->scheme : std::string_view{};
    };
    for (const auto* text : {"simulated", "simulated:sa-mutant=x", "socket:", "umad:", "verbs:mlx5_0,second=a"})
        CHECK(scheme_of(text, FabricUse::run) == std::string_view(text).substr(0, std::string_view(text).find(':')));
    for (const auto* text :
         {"", "simulated:", "simulated:x", "socket", "umad", "verbs", "verb:", "sockets:/x", "toy:box"})
        CHECK(scheme_of(text, FabricUse::run).empty());
    for (const auto* text : {"simulated", "socket:/x", "verbs:"})
        CHECK_FALSE(scheme_of(text, FabricUse::traffic).empty());
    for (const auto* text : {"simulated:sa-mutant=x", "socket", "umad:x"})
        CHECK(scheme_of(text, FabricUse::traffic).empty());
    for (const auto* text : {"simulated", "umad", "verbs", "socket:"})
        CHECK_FALSE(scheme_of(text, FabricUse::audit).empty());
    CHECK(scheme_of("socket", FabricUse::audit).empty());
    CHECK(fabric_kinds().with_scheme_of("umad:x")->scheme == "umad");
    CHECK_FALSE(fabric_kinds().with_scheme_of("capture.pcap"));
}

TEST_CASE("Fabric kinds: every one says what is asked of it") {
    using fabric::Impact;
    CHECK(fabric_kinds().find(usual_fabric, FabricUse::run)->is_ours());
    for (const auto* text : {"umad:", "verbs:"}) {
        CHECK(fabric_kinds().find(text, FabricUse::run)->is_somebodys());
        CHECK(fabric_kinds().usual_impact(text) == Impact::dut);
    }
    for (const auto* text : {"simulated", "socket:", "nothing"})
        CHECK(fabric_kinds().usual_impact(text) == Impact::fabric);
    CHECK(fabric_kinds().schemes(FabricUse::run, Impact::dut) == "umad and verbs");
    CHECK(fabric_kinds().schemes(FabricUse::traffic, Impact::dut) == "verbs");
    CHECK(fabric_kinds().forms(FabricUse::traffic) == "simulated, socket:PATH or verbs:DEVICE");
    CHECK(fabric_kinds().help(FabricUse::audit) ==
          "umad:DEVICE[/PORT][,sm-key=N] or verbs:DEVICE[/PORT][,sm-key=N] (over a port of this host), "
          "socket:PATH[,sm-key=N] (a raw port), simulated (a rehearsal)");
}

TEST_CASE("Fabric kinds: a new one is told and found like the others") {
    CHECK(toy::kinds.find("toy:box,lid=3", FabricUse::run) == &toy::kind);
    CHECK_FALSE(toy::kinds.find("toy", FabricUse::run));
    CHECK_FALSE(toy::kinds.find("simulated", FabricUse::run));
    CHECK(toy::kinds.usual_impact("toy:box") == fabric::Impact::link);
    CHECK(toy::kinds.help(FabricUse::run) == "toy:BOX[,lid=N] (a box of toys)");
    CHECK(toy::kinds.help_on_hosts() == "; on toy: boxes");
    CHECK(toy::kinds.schemes(FabricUse::audit, fabric::Impact::link) == "toy");
    CHECK(toy::kinds.forms(FabricUse::run) == "toy:BOX");
}

TEST_CASE("Fabric kinds: what is said of an opening") {
    const Opening opening{.fabric = "toy:box:1", .timeout_scale = 0.5};
    CHECK(opening.words() == "box:1");
    CHECK(Opening{.fabric = "toy"}.words().empty());
    CHECK(opening.patience(std::chrono::seconds{4}) == std::chrono::seconds{2});
}
