// SPDX-License-Identifier: GPL-2.0-or-later
// Fuzz target: decoders and rules. The first octet of the input chooses the medium, the rest is the frame.
#include "protocol/rules/rule.hpp"
#include "protocol/wire/dhcp.hpp"
#include "protocol/wire/igmp.hpp"
#include "protocol/wire/medium.hpp"
#include "protocol/wire/mld.hpp"
#include "protocol/wire/text.hpp"

#include <cstdlib>

namespace {

using namespace ipoib;

void require(bool claim) {
    if (!claim) std::abort();
}

void look_at(const wire::Packet& packet) {
    const auto* begin = packet.octets.data();
    const auto* end = begin + packet.octets.size();
    packet.for_each_header([&](const wire::HeaderSpec& header, const std::uint8_t* at) {
        require(at >= begin && at + header.size <= end);
        for (const auto& field : header.fields) require(!wire::value_text(field, at).empty() || field.width > 64);
    });
    if (packet.stop) require(packet.stop.offset <= packet.octets.size());
    const state::GroupParameters broadcast{
        .mgid = wire::broadcast_gid(0xffff, 2), .q_key = 0x0b1b, .p_key = 0xffff, .mtu = 4};
    const state::Known known{
        .facts = state::facts(state::Fact::broadcast_gid, state::Fact::broadcast_record) | state::whole_record,
        .broadcast = &broadcast,
        .broadcast_gid = &broadcast.mgid};
    for (const auto& rule : rules::all()) {
        if ((rule.needs & ~packet.found) != 0 || (rule.knows & ~known.facts) != 0 ||
            (rule.applies && !rule.applies(packet, known)))
            continue;
        if (rule.notes) static_cast<void>(rule.notes(packet, known));
        if (!rule.holds || rule.holds(packet, known)) continue;
        if (rule.expected_of) require(!rule.expected_of(packet, known).empty());
        if (rule.actual_of) static_cast<void>(rule.actual_of(packet, known));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size == 0) return 0;
    wire::Packet packet;
    const wire::Octets frame{data + 1, size - 1};
    wire::decode(frame, packet, wire::media()[data[0] % wire::media().size()].medium, size % 3 == 0 ? size + 10 : 0);
    look_at(packet);
    if (packet.lrh) static_cast<void>(wire::check_crcs(frame, packet.tail));
    return 0;
}
