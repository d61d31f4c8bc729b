// SPDX-License-Identifier: GPL-2.0-or-later
// Takes packets apart, changes them, and builds them again.
#include "conformance/metamorphic/mutated.hpp"

#include "conformance/metamorphic/source.hpp"
#include "traffic-gen/profile.hpp"

#include <map>
#include <set>
#include <stdexcept>
#include <tuple>

namespace ipoib::metamorphic {
namespace {

using wire::Packet;

/// What kind of packet it is: its headers, and what a MAD asks for.
using Shape = std::tuple<wire::Parts, const wire::HeaderSpec*, wire::Method, std::uint16_t>;
Shape shape_of(const Packet& packet) {
    const auto* other = packet.others_count ? packet.others[0].header : nullptr;
    if (!packet.mad) return {packet.found, other, wire::Method{}, 0};
    return {packet.found, other, packet.mad[wire::Mad::method], packet.mad[wire::Mad::attribute_id]};
}

/// By profile, those of its packets.
std::map<std::string_view, std::set<Shape>> shapes_of_profiles() {
    std::map<std::string_view, std::set<Shape>> shapes;
    Packet one;
    for (const auto* mutation : traffic::all_mutations()) {
        auto& known = shapes[mutation->profile];
        if (!known.empty()) continue;
        const auto source = played(*traffic::find_profile(mutation->profile));
        for (const auto& frame : source->frames()) {
            wire::decode(frame.octets, one, frame.medium, frame.wire_length);
            known.insert(shape_of(one));
        }
    }
    return shapes;
}

/// A mutation is made for the packets of its profile; others may lack what it looks at.
bool is_meant(const traffic::Mutation& mutation, const Packet& packet) {
    static const auto shapes = shapes_of_profiles();
    return shapes.at(mutation.profile).contains(shape_of(packet));
}

}  // namespace

bool can_be_built_again(const Frame& frame, Packet& packet) {
    if (frame.medium != wire::Medium::infiniband || frame.origin.is_rebuilt) return false;
    wire::decode(frame.octets, packet, frame.medium, frame.wire_length);
    return packet.lrh && !packet.is_truncated && packet.tail == wire::Tail::both &&
           wire::check_crcs(frame.octets, packet.tail).icrc == wire::Check::good;
}

std::vector<std::uint8_t> mutated(const traffic::Mutation& mutation, const Packet& packet) {
    if (!is_meant(mutation, packet)) return {};
    auto builder = build::PacketBuilder::of(packet);
    const std::vector<std::uint8_t> before(builder.octets().begin(), builder.octets().end());
    const auto frame = builder.build();
    if (!std::ranges::equal(frame, packet.octets)) return {};
    try {
        mutation.change(builder);
    } catch (const std::logic_error&) {
        return {};  // meant for packets with a header that this one lacks
    }
    if (std::ranges::equal(builder.octets(), before)) return {};
    return builder.build();
}

}  // namespace ipoib::metamorphic
