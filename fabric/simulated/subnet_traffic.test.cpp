// SPDX-License-Identifier: GPL-2.0-or-later
// Groups and faults as hosts see them.
#include "fabric/simulated/subnet_test.hpp"
#include "protocol/wire/crc.hpp"

namespace ipoib::fabric::simulated {
namespace {

using namespace testing;
using namespace std::chrono_literals;

TEST_CASE("Subnet: two hundred hosts join, and each broadcast reaches all others once") {
    World world{"controlled", {.ports_per_switch = 12}};
    Hosts hosts{world.subnet, 200};
    REQUIRE(hosts.bring_up());
    for (const auto& host : hosts.all) REQUIRE(host->join() == 0);
    for (const std::size_t from : {0u, 77u, 199u}) hosts[from].broadcast();
    world.run();
    for (std::size_t i = 0; i < 200; ++i) {
        CAPTURE(i);
        CHECK(hosts[i].received.size() == (i == 0 || i == 77 || i == 199 ? 2 : 3));
    }
    CHECK(world.subnet.counters().multicast_copies == std::uint64_t{3} * 199);
    CHECK(world.subnet.counters().dropped_no_route == 0);
}

TEST_CASE("Subnet: who never joined reaches nobody, not even hosts at its own switch") {
    World world;
    Hosts hosts{world.subnet, 3};
    REQUIRE(hosts.bring_up());
    REQUIRE((hosts[0].join() == 0 && hosts[1].join() == 0));
    hosts[2].mlid = hosts[0].mlid;
    hosts[2].broadcast();
    world.run();
    CHECK(hosts[0].received.empty());
    CHECK(world.subnet.counters().dropped_no_route == 1);
    REQUIRE(hosts[2].join() == 0);
    hosts[2].broadcast();
    world.run();
    CHECK(hosts[0].received.size() == 1);
    CHECK(hosts[1].received.size() == 1);
}

TEST_CASE("Subnet: who joined only to send reaches the members and hears nothing") {
    World world{"default", {.ports_per_switch = 4}};
    Hosts hosts{world.subnet, 8};
    REQUIRE(hosts.bring_up());
    REQUIRE(hosts[0].join() == 0);
    REQUIRE(hosts[6].join() == 0);
    REQUIRE(hosts[7].join(wire::join_state::send_only_non_member) == 0);
    hosts[7].broadcast();
    hosts[0].broadcast();
    world.run();
    CHECK(hosts[0].received.size() == 1);
    CHECK(hosts[6].received.size() == 2);
    CHECK(hosts[7].received.empty());
    CHECK(world.subnet.counters().multicast_copies == 3);
}

/// What a host receives of a hundred frames over a cable with faults.
std::vector<std::vector<std::uint8_t>> received_over(const LinkFaults& faults, std::uint64_t seed,
                                                     std::uint64_t* bad = nullptr) {
    World world{"default", {.seed = seed}};
    Hosts hosts{world.subnet, 2};
    REQUIRE(hosts.bring_up());
    hosts[1].switch_port->set_faults(faults);
    for (std::size_t i = 0; i < 100; ++i) hosts[0].send_to(hosts[1], 40 + 4 * i);
    world.run(1s);
    // A version that was hit is seen before the CRCs are.
    const auto damaged = hosts[1].hca.drops().bad_crc + hosts[1].hca.drops().malformed;
    if (bad) *bad = damaged;
    CHECK(hosts[1].received.size() + world.subnet.counters().dropped_fault + damaged >= 100);
    return hosts[1].received;
}

TEST_CASE("Subnet: the faults of a cable follow from the seed") {
    const LinkFaults faults{.loss = 0.1, .duplication = 0.1, .reordering = 0.1, .corruption = 0.1};
    CHECK(received_over(faults, 1) == received_over(faults, 1));
    CHECK(received_over(faults, 1) != received_over(faults, 2));
    CHECK(received_over({}, 1).size() == 100);
}

TEST_CASE("Subnet: a corrupted frame is dropped by the adapter that gets it") {
    std::uint64_t bad = 0;
    CHECK(received_over({.corruption = 1}, 1, &bad).empty());
    CHECK(bad == 100);
}

TEST_CASE("Subnet: management passes a cable that loses everything else") {
    World world;
    Hosts hosts{world.subnet, 2};
    REQUIRE(hosts.bring_up());
    hosts[0].switch_port->set_faults({.loss = 1});
    CHECK(hosts[0].join() == 0);
    hosts[0].send_to(hosts[1]);
    hosts[1].send_to(hosts[0]);
    world.run();
    CHECK(hosts[0].received.empty());
    CHECK(hosts[1].received.empty());
    CHECK(world.subnet.counters().dropped_fault == 2);
    hosts[0].switch_port->set_faults({});
    hosts[0].send_to(hosts[1]);
    world.run();
    CHECK(hosts[1].received.size() == 1);
}

TEST_CASE("Subnet manager: a cable that loses one SMP in three, there or back, does not keep a port from coming up") {
    World world{"default", {.seed = 3}};
    Host host{world.subnet, host_guid(1)};
    host.switch_port->set_faults({.loss = 0.18, .spares_management = false});
    CHECK(world.subnet.bring_up(host.guid(), 60s));
    CHECK(world.subnet.counters().dropped_fault > 0);
}

TEST_CASE("Subnet manager: a port is active only when the switches know the way to it") {
    for (std::uint64_t seed = 1; seed <= 50; ++seed) {
        CAPTURE(seed);
        World world{"default", {.seed = seed, .ports_per_switch = 4}};
        Hosts hosts{world.subnet, 3};
        REQUIRE(hosts.bring_up());
        // What the manager sends is often lost, so the tables are late.
        REQUIRE(world.subnet.set_faults(world.subnet.sm_hca().config().port_guid,
                                        {.loss = 0.2, .spares_management = false}));
        hosts.all.push_back(std::make_unique<Host>(world.subnet, host_guid(9)));
        REQUIRE(world.subnet.bring_up(host_guid(9), 300s));
        hosts[0].send_to(hosts[3]);
        world.run();
        CHECK(hosts[3].received.size() == 1);
    }
}

TEST_CASE("Subnet: a delayed cable delays in both directions") {
    World world;
    Hosts hosts{world.subnet, 2};
    REQUIRE(hosts.bring_up());
    hosts[0].switch_port->set_faults({.delay = 5ms});
    hosts[0].send_to(hosts[1]);
    hosts[1].send_to(hosts[0]);
    world.run(4ms);
    CHECK(hosts[0].received.empty());
    CHECK(hosts[1].received.empty());
    world.run(2ms);
    CHECK(hosts[0].received.size() == 1);
    CHECK(hosts[1].received.size() == 1);
}

TEST_CASE("Subnet: the same seed gives the same counters and frames in the same order") {
    const auto run = [](std::uint64_t seed) {
        World world{"controlled", {.seed = seed, .ports_per_switch = 6}};
        std::vector<std::pair<Time, std::vector<std::uint8_t>>> seen;
        world.subnet.watch([&](Time time, const Frame& frame, NodeRole) {
            seen.emplace_back(time, std::vector<std::uint8_t>(frame.octets().begin(), frame.octets().end()));
        });
        Hosts hosts{world.subnet, 12};
        REQUIRE(hosts.bring_up());
        for (const auto& host : hosts.all) REQUIRE(host->join() == 0);
        for (const auto& host : hosts.all) {
            host->switch_port->set_faults({.loss = 0.1, .reordering = 0.3});
            host->broadcast();
        }
        world.run(1s);
        return seen;
    };
    CHECK(run(1) == run(1));
}

}  // namespace
}  // namespace ipoib::fabric::simulated
