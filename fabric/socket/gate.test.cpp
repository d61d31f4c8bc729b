// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/socket/gate.hpp"

#include "catch2.hpp"
#include "fabric/node/mad_frame.hpp"
#include "protocol/wire/lrh.hpp"

#include <set>

namespace ipoib::fabric {
namespace {
using namespace wire;
using namespace std::chrono_literals;

/// A frame known by its DLID.
Frame frame(std::uint16_t number, std::uint8_t vl = 0) {
    std::array<std::uint8_t, shortest_frame> octets{};
    set_field(MutableOctets{octets}, Lrh::dlid, number);
    set_field(MutableOctets{octets}, Lrh::vl, vl);
    return Frame{octets};
}
std::uint16_t number_of(const Frame& frame) { return View<Lrh>::at(frame.octets())[Lrh::dlid]; }

struct Bench : FrameSink {
    void receive(const Frame& frame) override { passed.push_back(number_of(frame)); }
    void tap_tells(std::uint16_t number) {
        told.insert(number);
        gate.look();
    }
    Loop loop;
    std::set<std::uint16_t> told;
    std::vector<std::uint16_t> passed, untold;
    Gate gate{loop, *this, [this](const Frame& frame) { return told.contains(number_of(frame)); },
              [this](const Frame& frame) { untold.push_back(number_of(frame)); }};
};
using Numbers = std::vector<std::uint16_t>;

TEST_CASE("Gate: what came before the tap has told of it waits, in order") {
    Bench bench;
    bench.tap_tells(1);
    bench.gate.receive(frame(1));
    CHECK(bench.passed == Numbers{1});
    bench.gate.receive(frame(2));
    bench.gate.receive(frame(3));
    bench.tap_tells(3);
    CHECK(bench.passed == Numbers{1});
    bench.tap_tells(2);
    CHECK(bench.passed == Numbers{1, 2, 3});
    bench.loop.run_for(10s);
    CHECK(bench.untold.empty());
}

TEST_CASE("Gate: what the tap never tells of passes late, and what waits behind it at its own time") {
    Bench bench;
    bench.gate.receive(frame(1));
    bench.loop.run_for(Gate::patience / 2);
    bench.gate.receive(frame(2));
    bench.gate.receive(frame(3));
    bench.told.insert(3);
    bench.loop.run_for(Gate::patience / 2);
    CHECK(bench.passed == Numbers{1});
    bench.loop.run_for(Gate::patience);
    CHECK(bench.passed == Numbers{1, 2, 3});
    CHECK(bench.untold == Numbers{1, 2});
}

TEST_CASE("Gate: subnet management does not wait, and a gate that closes forgets") {
    Bench bench;
    bench.gate.receive(frame(1));
    bench.gate.receive(frame(2, management_vl));
    CHECK(bench.passed == Numbers{2});
    bench.gate.close();
    bench.loop.run_for(10s);
    CHECK(bench.passed == Numbers{2});
}

}  // namespace
}  // namespace ipoib::fabric
