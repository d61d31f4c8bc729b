// SPDX-License-Identifier: GPL-2.0-or-later
// Asking the simulated administrator, with stacks on the fabric that map well or wrongly.
#include "conformance/audit/audit.hpp"
#include "conformance/engine/simulated_dut.hpp"
#include "conformance/engine/simulated_target.hpp"
#include "protocol/wire/packet.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>
#include <catch2.hpp>
#include <set>

using namespace ipoib;
using namespace ipoib::audit;
using namespace ipoib::wire;
using namespace std::chrono_literals;
using conformance::Target;
using reports::Verdict;

namespace {

using Ids = std::set<std::string>;

/// A stack that is up and has joined groups, and what an administrator that is asked says of it.
struct Asked {
    explicit Asked(const Target& target, bool is_trusted = true)
        : options(conformance::simulated_options(target, 1, fabric::Loop::Clock::virtual_time)),
          fabric(options),
          dut(fabric, options.scenario->dut_guid, conformance::mutant_named(target.dut, "mutant:")) {
        do_it(R"({"id":1,"do":"up"})");
        do_it(R"({"id":2,"do":"add_address","address":"10.1.0.9/24"})");
        // What an administrator refuses, it does not hold.
        (void)dut.control().ask(R"({"id":3,"do":"join","group":"239.192.168.1"})", 60s);
        (void)dut.control().ask(R"({"id":4,"do":"join","group":"ff05::1:3"})", 60s);
        (void)fabric.loop().run_until([] { return false; }, fabric.loop().now() + 5s);
        fabric.observe([&](const fabric::Sighting& sighting) {
            if (sighting.sender == fabric::Sender::tester) note(sighting.octets);
        });
        inventory = survey(*fabric.ports().front(), is_trusted, 1s, {});
    }
    void do_it(const std::string& request) {
        const auto reply = dut.control().ask(request, 60s);
        CAPTURE(request, reply.line);
        REQUIRE(reply.line.find("\"ok\"") != std::string::npos);
    }
    void note(Octets frame) {
        Packet packet;
        decode(frame, packet);
        REQUIRE(packet.mad);
        if (packet.mad[Mad::mgmt_class] == MgmtClass::subn_adm)
            methods.insert(packet.mad[Mad::method]);
        else
            ++others;
    }
    [[nodiscard]] Ids wrong() const {
        Ids ids;
        for (const auto& result : judge(inventory, selected_rules({})).results)
            if (result.verdict == Verdict::fail || result.verdict == Verdict::inconc) ids.insert(result.id);
        return ids;
    }

    fabric::SimulatedOptions options;
    fabric::SimulatedFabric fabric;
    conformance::SimulatedDut dut;
    std::set<Method> methods;
    std::size_t others = 0;
    Inventory inventory;
};

}  // namespace

TEST_CASE("Survey: nothing but Get and GetTable leaves the port") {
    for (const bool is_trusted : {true, false}) {
        const Asked asked{{}, is_trusted};
        CHECK(asked.methods == std::set{Method::get, Method::get_table});
        CHECK(asked.others == 0);
    }
}

TEST_CASE("Survey: the reference stack's groups have nothing against them, on every kind of link") {
    for (const auto* scenario : {"default", "controlled", "scope5", "mtu4k", "modified-guid"}) {
        CAPTURE(scenario);
        const Asked asked{{.scenario = scenario}};
        CHECK(asked.wrong() == Ids{});
        CHECK(asked.inventory.groups.size() > 3);
        CHECK(asked.inventory.doubt.empty());
        CHECK(asked.inventory.notes.empty());
        REQUIRE(asked.inventory.ports.size() == 1);
        const auto& port = asked.inventory.ports.front();
        CHECK(port.gid.interface_id() == asked.options.scenario->dut_guid);
        CHECK(port.lid != 0);
        CHECK(port.mtu >= 4);
        CHECK(port.rate != 0);
        CHECK_FALSE(port.node_description.empty());
        REQUIRE(port.p_keys);
        CHECK(std::ranges::find(*port.p_keys, asked.inventory.groups.front().parameters.p_key) != port.p_keys->end());
    }
}

TEST_CASE("Survey: groups of a stack that maps wrongly are found") {
    const auto wrong = [](const char* mutant) { return Asked{{.dut = std::string("mutant:") + mutant}}.wrong(); };
    CHECK(wrong("maps-32-bits") == Ids{"RULE-RFC4391-4-08-audit"});
    CHECK(wrong("mgid-not-transient") == Ids{"RULE-RFC4391-4-02-audit"});
    CHECK(wrong("creates-with-small-mtu") == Ids{"RULE-RFC4391-10-16-audit"});
    // A good administrator has refused this; then there is nothing to be found.
    CHECK(wrong("mgid-limited-pkey") == Ids{});
}
