// SPDX-License-Identifier: GPL-2.0-or-later
#include "catch2.hpp"
#include "fabric/simulated/directed_route.hpp"
#include "lab/kernel/vib_pure.hpp"

namespace {

using namespace ipoib::wire;

constexpr unsigned ports = 36;
constexpr std::uint8_t in_port = 7;

/// A directed-route SMP whose paths leave by port 11 + i at hop i, there and back.
Bytes<DirectedSmp> traveller(unsigned pointer, unsigned count, bool is_returning = false,
                             std::uint16_t slid = DirectedSmp::permissive_lid,
                             std::uint16_t dlid = DirectedSmp::permissive_lid) {
    OctetArray<64> path{};
    for (std::size_t i = 0; i < path.size(); ++i) path[i] = static_cast<std::uint8_t>(11 + i % 20);
    return Bytes<DirectedSmp>{}
        .set(DirectedSmp::hop_pointer, static_cast<std::uint8_t>(pointer))
        .set(DirectedSmp::hop_count, static_cast<std::uint8_t>(count))
        .set(DirectedSmp::is_returning, is_returning)
        .set(DirectedSmp::dr_slid, slid)
        .set(DirectedSmp::dr_dlid, dlid)
        .set(DirectedSmp::initial_path, path)
        .set(DirectedSmp::return_path, path);
}
vib_hop hop(Bytes<DirectedSmp>& smp) { return vib_take_hop(smp.octets.data(), in_port, ports); }
unsigned pointer(const Bytes<DirectedSmp>& smp) { return smp[DirectedSmp::hop_pointer]; }

TEST_CASE("Kernel directed route: on the way out one hop further, and the way back is noted") {
    auto smp = traveller(2, 4);
    const auto next = hop(smp);
    CHECK(next.to == VIB_HOP_PORT);
    CHECK(next.port == 14);
    CHECK(pointer(smp) == 3);
    CHECK(smp[DirectedSmp::return_path][2] == in_port);
    CHECK(smp[DirectedSmp::return_path][3] == 14);
}

TEST_CASE("Kernel directed route: the last hop is the switch, and its answer goes back") {
    auto smp = traveller(4, 4);
    CHECK(hop(smp).to == VIB_HOP_MANAGEMENT);
    CHECK(pointer(smp) == 5);
    smp.set(DirectedSmp::is_returning, true);
    const auto back = hop(smp);
    CHECK(back.to == VIB_HOP_PORT);
    CHECK(back.port == in_port);
    CHECK(pointer(smp) == 4);
}

TEST_CASE("Kernel directed route: a LID-routed part begins and ends at the LIDs that the SMP names") {
    auto ends = traveller(2, 2, false, DirectedSmp::permissive_lid, 0x11);
    const auto to = hop(ends);
    CHECK(to.to == VIB_HOP_LID);
    CHECK(to.lid == 0x11);
    auto begins = traveller(0, 2, false, 0x22);
    CHECK(hop(begins).port == 12);
    CHECK(pointer(begins) == 1);
    auto returns = traveller(1, 2, true, 0x22);
    CHECK(hop(returns).lid == 0x22);
    CHECK(pointer(returns) == 0);
}

TEST_CASE("Kernel directed route: a port that the switch does not have is discarded") {
    for (const std::uint8_t port : {std::uint8_t{0}, std::uint8_t{ports + 1}, std::uint8_t{255}}) {
        OctetArray<64> path{};
        path.fill(port);
        auto forth = traveller(1, 2), back = traveller(2, 2, true);
        forth.set(DirectedSmp::initial_path, path);
        back.set(DirectedSmp::return_path, path);
        CHECK(hop(forth).to == VIB_HOP_NOWHERE);
        CHECK(hop(back).to == VIB_HOP_NOWHERE);
    }
}

TEST_CASE("Kernel directed route: every hop pointer and hop count goes as in the simulated fabric") {
    using Simulated = ipoib::fabric::simulated::Hop::To;
    for (unsigned count = 0; count < 256; ++count)
        for (unsigned at = 0; at < 256; ++at)
            for (const bool is_returning : {false, true})
                for (const std::uint16_t slid : {DirectedSmp::permissive_lid, std::uint16_t{0x22}})
                    for (const std::uint16_t dlid : {DirectedSmp::permissive_lid, std::uint16_t{0x11}}) {
                        auto ours = traveller(at, count, is_returning, slid, dlid), theirs = ours;
                        const auto next = hop(ours);
                        const auto expected = ipoib::fabric::simulated::take_hop(theirs.octets, in_port, ports);
                        CAPTURE(count, at, is_returning, slid, dlid);
                        REQUIRE((next.to == VIB_HOP_NOWHERE) == (expected.to == Simulated::nowhere));
                        REQUIRE((next.to == VIB_HOP_MANAGEMENT) == (expected.to == Simulated::management));
                        REQUIRE((next.to == VIB_HOP_LID) == (expected.to == Simulated::lid));
                        REQUIRE(next.port == expected.port);
                        REQUIRE(next.lid == expected.lid);
                        REQUIRE(ours.octets == theirs.octets);
                    }
}

}  // namespace
