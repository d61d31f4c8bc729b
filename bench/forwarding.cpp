// SPDX-License-Identifier: GPL-2.0-or-later
// Forwards frames from one node to another through a switch of the simulated fabric: the CPU is what counts.
#include "fabric/simulated/subnet.hpp"
#include "protocol/build/ipoib.hpp"

#include <cstdio>
#include <cstdlib>

namespace {

using namespace ipoib;
using namespace ipoib::fabric;

/// Lets an adapter answer the subnet manager, and only counts all else.
struct Counter : FrameSink {
    Counter(Loop& loop, std::uint64_t guid) : hca(loop, {.port_guid = guid}) {}
    void receive(const Frame& frame) override {
        constexpr std::uint8_t management_lane = 15;
        if (wire::View<wire::Lrh>::at(frame.octets())[wire::Lrh::vl] == management_lane)
            hca.receive(frame);
        else
            ++count;
    }
    Hca hca;
    std::uint64_t count = 0;
};

}  // namespace

/// Arguments: how many frames, a million by default; octets of UDP payload in each, 64 by default.
int main(int count, char** arguments) {
    const auto frames = count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 1'000'000;
    const auto size = count > 2 ? std::strtoull(arguments[2], nullptr, 10) : 64;
    constexpr std::uint64_t from_guid = 0x0002c90300100001, to_guid = 0x0002c90300100002;
    constexpr Duration patience = std::chrono::seconds{1};

    Loop loop;
    Subnet subnet{loop, scenarios().front(), {}};
    Counter from{loop, from_guid}, to{loop, to_guid};
    auto& switch_port = subnet.plug(from, NodeRole::other);
    from.hca.connect(&switch_port);
    to.hca.connect(&subnet.plug(to, NodeRole::other));
    if (!subnet.bring_up(from_guid, patience) || !subnet.bring_up(to_guid, patience)) return 1;

    const build::Node sender{.lid = from.hca.facts().lid, .gid = from.hca.facts().gid, .qpn = 0x48, .ipv4 = 0x0a000001};
    const build::Node receiver{.lid = to.hca.facts().lid, .gid = to.hca.facts().gid, .qpn = 0x48, .ipv4 = 0x0a000002};
    const auto octets = build::udp(sender, receiver, {}, size).build();
    // As many at a time as a node has in flight that sends as fast as it can.
    constexpr std::uint64_t burst = 64;
    for (std::uint64_t sent = 0; sent < frames;) {
        for (std::uint64_t i = 0; i < burst && sent < frames; ++i, ++sent) switch_port.receive(Frame{octets});
        loop.run_until([&] { return to.count == sent; }, loop.now() + patience);
    }
    if (to.count != frames) return 1;
    std::puts("ok");
    return 0;
}
