// SPDX-License-Identifier: GPL-2.0-or-later
// Any frame taken apart, changed and built again: as a replay does with frames of a capture that somebody else made.
#include "protocol/build/packet_builder.hpp"

#include <cstdlib>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace ipoib;
    if (size == 0) return 0;
    wire::Packet packet;
    // The seeds begin with a number of their medium.
    wire::decode(wire::Octets{data, size}.subspan(1), packet);
    if (!packet.lrh || packet.tail == wire::Tail::truncated) return 0;
    auto builder = build::PacketBuilder::of(packet);
    const auto once = builder.build();
    // What was built is whole, and stays as it is from then on.
    wire::decode(once, packet);
    const auto crcs = wire::check_crcs(once, wire::Tail::both);
    if (crcs.icrc == wire::Check::bad || crcs.vcrc == wire::Check::bad) std::abort();
    if (builder.has(wire::spec_of<wire::Encap>)) builder.set(wire::Encap::reserved, 1);
    if (builder.has(wire::spec_of<wire::Grh>)) builder.remove<wire::Grh>();
    (void)builder.build();
    return 0;
}
