// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/simulated/directed_route.hpp"

#include "catch2.hpp"

namespace ipoib::fabric::simulated {
namespace {

using namespace wire;

constexpr unsigned ports = 36;
constexpr std::uint8_t in_port = 7;

/// A directed-route SMP whose paths leave by port 10 + i at hop i and come back by port 20 + i.
struct Traveller {
    explicit Traveller(unsigned pointer, unsigned count, bool is_returning = false) {
        OctetArray<64> forth{}, back{};
        for (std::uint8_t i = 1; i < 64; ++i) {
            forth[i] = static_cast<std::uint8_t>(10 + i % 20);
            back[i] = static_cast<std::uint8_t>(11 + i % 20);
        }
        smp.set(DirectedSmp::hop_pointer, static_cast<std::uint8_t>(pointer))
            .set(DirectedSmp::hop_count, static_cast<std::uint8_t>(count))
            .set(DirectedSmp::is_returning, is_returning)
            .set(DirectedSmp::dr_slid, DirectedSmp::permissive_lid)
            .set(DirectedSmp::dr_dlid, DirectedSmp::permissive_lid)
            .set(DirectedSmp::initial_path, forth)
            .set(DirectedSmp::return_path, back);
    }
    Hop hop() { return take_hop(smp.octets, in_port, ports); }
    [[nodiscard]] unsigned pointer() const { return smp[DirectedSmp::hop_pointer]; }
    [[nodiscard]] unsigned came_in(unsigned hop) const { return smp[DirectedSmp::return_path][hop]; }
    Bytes<DirectedSmp> smp;
};

Hop out(std::uint8_t port) { return {.to = Hop::To::port, .port = port}; }
const Hop to_management{.to = Hop::To::management}, nowhere{};

TEST_CASE("Directed route: on the way out a switch goes one hop further and notes the way back") {
    Traveller smp{2, 4};
    CHECK(smp.hop() == out(13));
    CHECK(smp.pointer() == 3);
    CHECK(smp.came_in(2) == in_port);
    CHECK(smp.came_in(3) == 14);
}

TEST_CASE("Directed route: at the last hop the SMP is the switch's own") {
    Traveller smp{4, 4};
    CHECK(smp.hop() == to_management);
    CHECK(smp.pointer() == 5);
    CHECK(smp.came_in(4) == in_port);

    SECTION("and its answer goes back by the return path") {
        smp.smp.set(DirectedSmp::is_returning, true);
        CHECK(smp.hop() == out(in_port));
        CHECK(smp.pointer() == 4);
    }
}

TEST_CASE("Directed route: on the way back a switch goes one hop back") {
    Traveller smp{3, 4, true};
    CHECK(smp.hop() == out(13));
    CHECK(smp.pointer() == 2);
}

TEST_CASE("Directed route: an SMP that came back to a switch without a manager stays there") {
    Traveller smp{1, 4, true};
    CHECK(smp.hop() == to_management);
    CHECK(smp.pointer() == 0);
    CHECK(Traveller{0, 4, true}.hop() == to_management);
}

TEST_CASE("Directed route: an SMP of no hops is the switch's own, and its answer leads nowhere else") {
    Traveller smp{0, 0};
    CHECK(smp.hop() == to_management);
    CHECK(smp.pointer() == 1);
    smp.smp.set(DirectedSmp::is_returning, true);
    CHECK(smp.hop() == to_management);
}

TEST_CASE("Directed route: a part that is LID-routed begins and ends at the LIDs that the SMP names") {
    Traveller smp{2, 2};
    smp.smp.set(DirectedSmp::dr_dlid, 0x11);
    CHECK(smp.hop() == Hop{.to = Hop::To::lid, .lid = 0x11});
    CHECK(smp.pointer() == 3);

    Traveller begins{0, 2};
    begins.smp.set(DirectedSmp::dr_slid, 0x22);
    CHECK(begins.hop() == out(11));
    CHECK(begins.pointer() == 1);

    Traveller returns{1, 2, true};
    returns.smp.set(DirectedSmp::dr_slid, 0x22);
    CHECK(returns.hop() == Hop{.to = Hop::To::lid, .lid = 0x22});
    CHECK(returns.pointer() == 0);
}

TEST_CASE("Directed route: a first hop that its sender did not make is not made by a switch") {
    CHECK(Traveller{0, 3}.hop() == nowhere);
}

TEST_CASE("Directed route: a hop pointer behind the end is discarded") {
    CHECK(Traveller{5, 4}.hop() == to_management);
    CHECK(Traveller{6, 4}.hop() == nowhere);
    CHECK(Traveller{255, 4}.hop() == nowhere);
    CHECK(Traveller{6, 4, true}.hop() == nowhere);
    CHECK(Traveller{255, 4, true}.hop() == nowhere);
}

TEST_CASE("Directed route: a hop count that the paths have no room for is discarded") {
    CHECK(Traveller{1, 63}.hop() == out(12));
    CHECK(Traveller{63, 63}.hop() == to_management);
    for (const unsigned count : {64u, 128u, 255u})
        for (const unsigned pointer : {0u, 1u, 63u, 64u, 255u}) {
            CHECK(Traveller{pointer, count}.hop() == nowhere);
            CHECK(Traveller{pointer, count, true}.hop() == nowhere);
        }
}

TEST_CASE("Directed route: a port that the switch does not have is discarded") {
    for (const std::uint8_t port : {std::uint8_t{0}, std::uint8_t{ports + 1}, std::uint8_t{255}}) {
        OctetArray<64> path{};
        path.fill(port);
        Traveller forth{1, 2}, back{2, 2, true};
        forth.smp.set(DirectedSmp::initial_path, path);
        back.smp.set(DirectedSmp::return_path, path);
        CHECK(forth.hop() == nowhere);
        CHECK(back.hop() == nowhere);
    }
}

TEST_CASE("Directed route: no hop pointer and hop count reach beyond the paths") {
    for (unsigned count = 0; count < 256; ++count)
        for (unsigned pointer = 0; pointer < 256; ++pointer)
            for (const bool is_returning : {false, true}) {
                Traveller smp{pointer, count, is_returning};
                // Nothing but the hop pointer and the return path may change.
                auto before = smp.smp;
                const auto hop = smp.hop();
                before.set(DirectedSmp::hop_pointer, smp.smp[DirectedSmp::hop_pointer])
                    .set(DirectedSmp::return_path, smp.smp[DirectedSmp::return_path]);
                REQUIRE(before.octets == smp.smp.octets);
                REQUIRE((hop.to == Hop::To::nowhere || count <= DirectedSmp::max_hops));
            }
}

}  // namespace
}  // namespace ipoib::fabric::simulated
