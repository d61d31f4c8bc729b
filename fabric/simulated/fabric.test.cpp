// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/simulated/fabric.hpp"

#include "catch2.hpp"
#include "protocol/build/ipoib.hpp"

namespace ipoib::fabric {
namespace {

using namespace std::chrono_literals;
using Facts = std::vector<std::pair<std::string, std::string>>;

TEST_CASE("Simulated fabric: both tester's ports are up when it is there, in every scenario") {
    for (const auto& scenario : scenarios()) {
        CAPTURE(scenario.name);
        SimulatedFabric fabric{{.scenario = &scenario}};
        REQUIRE(fabric.ports().size() == 2);
        const auto first = fabric.ports()[0]->facts(), second = fabric.ports()[1]->facts();
        CHECK(first.is_active);
        CHECK(second.is_active);
        CHECK(first.gid.interface_id() == tester_guid);
        CHECK(second.gid.interface_id() == second_tester_guid);
        CHECK(first.p_keys.front() == scenario.link.p_key);
        CHECK(first.mtu == scenario.port_mtu);
        CHECK(first.qpn != 0);
        CHECK(fabric.subnet().sa().find(scenario.link.broadcast_gid()));
        CHECK(fabric.facts() ==
              Facts{{"kind", "simulated"}, {"clock", "virtual"}, {"scenario", std::string(scenario.name)}});
    }
}

TEST_CASE("Simulated fabric: with the real clock its ports come up as well, and the facts say so") {
    SimulatedFabric fabric{{.clock = Loop::Clock::real}};
    CHECK(fabric.ports()[0]->facts().is_active);
    CHECK(fabric.ports()[1]->facts().is_active);
    CHECK(fabric.facts()[1] == std::pair<std::string, std::string>{"clock", "real"});
}

TEST_CASE("Simulated fabric: it can do everything") {
    const SimulatedFabric fabric{{}};
    for (const auto ability : {Ability::any_frame, Ability::see_all, Ability::reports, Ability::fabric_control,
                               Ability::two_ports, Ability::trusted_sa, Ability::long_tables})
        CHECK(fabric.abilities().has(ability));
}

TEST_CASE("Simulated fabric: the observer sees who sent each frame") {
    SimulatedFabric fabric{{}};
    constexpr auto dut_guid = Scenario{}.dut_guid;
    Hca dut{fabric.loop(), {.port_guid = dut_guid}};
    fabric.subnet().plug(dut, NodeRole::other);
    std::map<Sender, unsigned> seen;
    fabric.observe([&](const Sighting& sighting) {
        CHECK_FALSE(sighting.octets.empty());
        CHECK(sighting.time == fabric.loop().now());
        ++seen[sighting.sender];
    });
    REQUIRE(fabric.subnet().bring_up(dut_guid, 1s));
    CHECK(seen[Sender::sa] > 0);
    CHECK(seen[Sender::other] > 0);
    CHECK(seen[Sender::tester] == 0);
    const auto facts = fabric.ports()[0]->facts(), to = fabric.ports()[1]->facts();
    const build::Node from{.lid = facts.lid, .gid = facts.gid, .qpn = facts.qpn};
    const build::Node other{.lid = to.lid, .gid = to.gid, .qpn = to.qpn};
    CHECK(fabric.ports()[0]->send(build::udp(from, other, {}, 40).build()).empty());
    CHECK(seen[Sender::tester] == 1);
    fabric.observe(nullptr);
    CHECK(fabric.ports()[0]->send(build::udp(from, other, {}, 40).build()).empty());
    CHECK(seen[Sender::tester] == 1);
}

TEST_CASE("Simulated fabric: the tester's port asks the administrator") {
    SimulatedFabric fabric{{}};
    wire::Bytes<wire::McMemberRecord> record;
    const auto mgid = fabric.subnet().scenario().link.broadcast_gid();
    record.set(wire::McMemberRecord::mgid, mgid);
    SaRequest request{.attribute = wire::attribute::mc_member_record,
                      .component_mask = wire::McMemberRecord::component::mgid};
    request.record.assign(record.octets.begin(), record.octets.end());
    const auto answer = fabric.ports()[0]->ask_sa(request, 1s);
    REQUIRE(answer.is_ok());
    CHECK(answer.first<wire::McMemberRecord>()[wire::McMemberRecord::mgid] == mgid);
}

}  // namespace
}  // namespace ipoib::fabric
