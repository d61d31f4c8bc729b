// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/simulated/cable.hpp"

#include "catch2.hpp"
#include "protocol/build/samples.hpp"
#include "protocol/wire/crc.hpp"

#include <algorithm>

namespace ipoib::fabric::simulated {
namespace {

using namespace wire;
using namespace std::chrono_literals;

/// Frames that tell their number by their length.
Frame numbered(std::size_t number, bool has_crcs = true) {
    auto octets = build::udp(build::samples::host(1), build::samples::host(2), {}, 40 + 4 * number).build();
    if (!has_crcs) std::fill(octets.end() - 6, octets.end(), std::uint8_t{0});
    return Frame{octets};
}

struct End : FrameSink {
    explicit End(Loop& clock) : loop(clock) {}
    void receive(const Frame& frame) override {
        frames.push_back(frame);
        times.push_back(loop.now());
    }
    /// The numbers of the frames in their order.
    [[nodiscard]] std::vector<std::size_t> numbers() const {
        std::vector<std::size_t> all;
        const auto shortest = numbered(0).octets().size();
        for (const auto& frame : frames) all.push_back((frame.octets().size() - shortest) / 4);
        return all;
    }
    Loop& loop;
    std::vector<Frame> frames;
    std::vector<Time> times;
};

struct Rig {
    explicit Rig(const LinkFaults& faults, std::uint64_t seed = 1) : cable(loop, end, seed, lost) { cable.set(faults); }
    void send(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) cable.carry(numbered(i), loop.now() + 1us);
        loop.run_for(1s);
    }
    Loop loop;
    End end{loop};
    std::uint64_t lost = 0;
    CableDirection cable;
};
using Numbers = std::vector<std::size_t>;

TEST_CASE("Cable: without faults every frame arrives once, in order and in time") {
    Rig rig{{}};
    rig.send(3);
    CHECK(rig.end.numbers() == Numbers{0, 1, 2});
    CHECK(rig.end.times[2] == 1us);
    CHECK(rig.lost == 0);
}

TEST_CASE("Cable: loss takes the share of the frames that it says, and counts them") {
    Rig rig{{.loss = 0.25}};
    rig.send(1000);
    CHECK(rig.lost + rig.end.frames.size() == 1000);
    CHECK(rig.lost > 200);
    CHECK(rig.lost < 300);
    Rig all{{.loss = 1}};
    all.send(10);
    CHECK(all.end.frames.empty());
}

TEST_CASE("Cable: duplication brings the same octets again, right behind") {
    Rig rig{{.duplication = 1}};
    rig.send(2);
    CHECK(rig.end.numbers() == Numbers{0, 0, 1, 1});
    CHECK(rig.end.frames[0].is_same(rig.end.frames[1]));
}

TEST_CASE("Cable: reordering lets the next frame pass") {
    Rig rig{{.reordering = 1}};
    rig.send(4);
    CHECK(rig.end.numbers() == Numbers{1, 0, 3, 2});
}

TEST_CASE("Cable: a frame that none follows arrives all the same") {
    Rig rig{{.reordering = 1}};
    rig.send(3);
    CHECK(rig.end.numbers() == Numbers{1, 0, 2});
    rig.send(1);
    CHECK(rig.end.numbers() == Numbers{1, 0, 2, 0});
}

TEST_CASE("Cable: corruption turns one bit behind the LRH over, and both ends agree on the length") {
    for (const bool has_crcs : {true, false}) {
        CAPTURE(has_crcs);
        Rig rig{{.corruption = 1}};
        const auto whole = numbered(0);
        for (unsigned i = 0; i < 500; ++i) rig.cable.carry(numbered(0, has_crcs), 1us);
        rig.loop.run_for(1s);
        REQUIRE(rig.end.frames.size() == 500);
        for (const auto& frame : rig.end.frames) {
            const auto octets = frame.octets(), before = whole.octets();
            REQUIRE(octets.size() == before.size());
            unsigned bits = 0;
            for (std::size_t i = 0; i < octets.size(); ++i) {
                const auto changed = static_cast<unsigned>(octets[i] ^ before[i]);
                if (i < Lrh::size) REQUIRE(changed == 0);
                bits += static_cast<unsigned>(std::popcount(changed));
            }
            REQUIRE(bits == 1);
            REQUIRE(check_crcs(octets, detect_tail(octets)).vcrc == Check::bad);
        }
    }
}

TEST_CASE("Cable: delay is added to the time of the cable itself") {
    Rig rig{{.delay = 5ms}};
    rig.send(1);
    CHECK(rig.end.times == std::vector<Time>{5ms + 1us});
}

TEST_CASE("Cable: management is spared unless it is not to be") {
    using namespace build::samples;
    const auto member = host(1);
    const Frame sa_request{
        build::mc_member(member, sa(), Method::get, 1, build::broadcast_record(member, {}), 0).build()};
    Rig spared{{.loss = 1}}, all{{.loss = 1, .spares_management = false}};
    for (auto* rig : {&spared, &all}) {
        rig->cable.carry(sa_request, 1us);
        rig->loop.run_for(1s);
    }
    CHECK(spared.end.frames.size() == 1);
    CHECK(all.end.frames.empty());
}

TEST_CASE("Cable: frames too short for a BTH are no management") {
    Rig rig{{.loss = 1}};
    Bytes<Lrh> lrh;
    lrh.set(Lrh::lnh, Lnh::global);
    for (const std::size_t size : {8u, 20u, 40u, 48u}) {
        std::vector<std::uint8_t> octets(size);
        std::copy(lrh.octets.begin(), lrh.octets.end(), octets.begin());
        rig.cable.carry(Frame{octets}, 1us);
    }
    rig.loop.run_for(1s);
    CHECK(rig.lost == 4);
}

TEST_CASE("Cable: the same seed gives the same faults, another one others") {
    const LinkFaults faults{.loss = 0.2, .duplication = 0.2, .reordering = 0.2, .corruption = 0.2};
    const auto octets_of = [&](std::uint64_t seed) {
        Rig rig{faults, seed};
        rig.send(100);
        std::vector<std::vector<std::uint8_t>> all;
        for (const auto& frame : rig.end.frames) all.emplace_back(frame.octets().begin(), frame.octets().end());
        return all;
    };
    CHECK(octets_of(1) == octets_of(1));
    CHECK(octets_of(1) != octets_of(2));
}

TEST_CASE("Cable: what waits is gone when the link goes down") {
    Rig rig{{.reordering = 1}};
    rig.cable.carry(numbered(7), 1us);
    rig.cable.clear();
    rig.send(2);
    CHECK(rig.end.numbers() == Numbers{1, 0});
}

}  // namespace
}  // namespace ipoib::fabric::simulated
