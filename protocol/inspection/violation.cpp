// SPDX-License-Identifier: GPL-2.0-or-later
// Words for a broken rule, its sender and its link.
#include "protocol/inspection/violation.hpp"

#include "protocol/wire/text.hpp"

namespace ipoib::inspection {
using namespace wire;

std::string Violation::field_name() const {
    return field ? std::string(header->name) + '.' + std::string(field->name) : std::string{};
}

namespace {

void locate(Violation& violation, std::size_t header) {
    const auto bit = violation.field->at.bit;
    const auto first = bit / 8u;
    violation.offset = header + first;
    violation.length = (bit + violation.field->width + 7u) / 8u - first;
}

}  // namespace

Violation describe(const rules::Rule& rule, const Packet& packet, const state::Known& known) {
    Violation violation{.field = rule.points_at.spec(), .header = rule.points_at.header()};
    if (violation.field) {
        violation.at = rule.at ? rule.at(packet) : rule.points_at.in(packet);
        const auto* begin = packet.octets.data();
        if (violation.at && violation.at >= begin && violation.at < begin + packet.octets.size())
            locate(violation, packet.offset_of(violation.at));
        if (violation.at) violation.actual = value_text(*violation.field, violation.at);
    }
    if (rule.actual_of) violation.actual = rule.actual_of(packet, known);
    if (violation.actual.empty()) violation.actual = "absent";
    violation.expected = rule.expected_of ? rule.expected_of(packet, known) : std::string(rule.expected);
    return violation;
}

Violation describe(const rules::Rule& rule, const Neglect& neglect, const state::Subnet& subnet) {
    Violation violation;
    violation.expected = std::string(rule.expected);
    violation.actual = "nothing of it within " + std::to_string(Duties::patience / 1'000'000'000) + " s";
    if (neglect.group != state::none) violation.actual += ", for " + text(subnet.groups()[neglect.group].mgid);
    return violation;
}

Gid group_of(const Packet& packet, const state::Known& known) {
    if (known.group) return known.group->mgid;
    return packet.grh && packet.grh[Grh::dgid].is_multicast() ? packet.grh[Grh::dgid] : Gid{};
}

std::string assume_text(state::Assumptions assumptions, std::string_view guid) {
    std::string words;
    for (const auto& spec : state::assumption_specs) {
        if ((assumptions & state::assumptions(spec.assumption)) == 0) continue;
        if (!words.empty()) words += ',';
        words += spec.name;
        if (!guid.empty()) words.append("=").append(guid);
    }
    return words;
}

std::string port_name(const state::Port& port) {
    return port.gid.is_zero() ? "LID " + hex(port.lid, 4) : hex(port.gid.interface_id(), 16).substr(2);
}

std::string sender_name(const Packet& packet, const state::Known& known) {
    if (known.sender) return port_name(*known.sender);
    if (packet.lrh) return "LID " + hex(packet.lrh[Lrh::slid], 4);
    if (packet.arp_addresses) return hex(packet.arp_addresses[ArpAddresses::sha_gid].interface_id(), 16).substr(2);
    if (packet.ipv4) return ipv4_text(packet.ipv4[Ipv4::source]);
    if (packet.ipv6) return text(packet.ipv6[Ipv6::source]);
    return "unknown";
}

std::string link_name(std::uint64_t prefix, std::uint16_t p_key) {
    return text(Gid::of(prefix, 0)) + '/' + hex(p_key, 4);
}

std::string link_name(const Packet& packet, const state::Known& known, const state::Subnet& subnet) {
    if (!packet.bth) return {};
    const auto prefix = packet.grh ? packet.grh[Grh::sgid].prefix() : subnet.prefix();
    return link_name(prefix, known.link && known.link->p_key ? known.link->p_key : packet.bth[Bth::p_key]);
}

}  // namespace ipoib::inspection
