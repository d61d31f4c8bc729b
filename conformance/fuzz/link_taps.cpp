// SPDX-License-Identifier: GPL-2.0-or-later
// The node's cable.
#include "conformance/fuzz/link_taps.hpp"

#include "conformance/fuzz/lie.hpp"
#include "protocol/wire/packet.hpp"
#include "protocol/wire/sa.hpp"

namespace ipoib::conformance::fuzz {
using namespace wire;

namespace {

std::string_view class_of(const Packet& packet) {
    if (packet.mad) {
        const auto mgmt_class = packet.mad[Mad::mgmt_class];
        if (mgmt_class == MgmtClass::subn_adm) return "sa";
        if (mgmt_class == MgmtClass::communication) return "cm";
    }
    if (packet.bth && packet.bth[Bth::dest_qp] == 0) return "sm";
    if (packet.arp) return "arp";
    return "data";
}

/// What makes one answer of a node another than the next, without its numbers.
std::uint64_t kind_of(const Packet& packet) {
    std::uint64_t kind = 0;
    const auto mix = [&](std::uint64_t value) {
        constexpr std::uint64_t prime = 0x100000001b3;
        kind = (kind ^ (value + 1)) * prime;
    };
    if (packet.bth) mix(static_cast<std::uint64_t>(packet.bth[Bth::opcode]));
    mix(packet.grh ? 1 : 0);
    if (packet.mad) {
        mix(static_cast<std::uint64_t>(packet.mad[Mad::mgmt_class]));
        mix(static_cast<std::uint64_t>(packet.mad[Mad::method]));
        mix(packet.mad[Mad::attribute_id]);
        mix(packet.mad[Mad::status]);
    }
    if (packet.encap) mix(static_cast<std::uint64_t>(packet.encap[Encap::type]));
    if (packet.arp) mix(packet.arp[Arp::operation]);
    if (packet.ipv4) mix(static_cast<std::uint64_t>(packet.ipv4[Ipv4::protocol]));
    if (packet.icmp) mix(static_cast<std::uint64_t>(packet.icmp[Icmp::type]));
    if (packet.icmpv6) mix(static_cast<std::uint64_t>(packet.icmpv6[Icmpv6::type]));
    return kind;
}

}  // namespace

LinkTaps::LinkTaps(fabric::Subnet& subnet, const std::string& path)
    : subnet_(subnet),
      listener_(subnet.loop(), path, [this](std::unique_ptr<fabric::RawPort> port) { accept(std::move(port)); }) {}

LinkTaps::~LinkTaps() { unplug(); }

void LinkTaps::accept(std::unique_ptr<fabric::RawPort> port) {
    unplug();
    port_ = std::move(port);
    port_->deliver_to(&up_);
    port_->on_closed([this](const std::string&) {
        unplug();
        port_.reset();
    });
    plug();
}

void LinkTaps::plug() {
    switch_port_ = &subnet_.plug(down_, fabric::NodeRole::other);
    switch_port_->on_link([this](bool is_up) {
        if (!is_up && port_) port_->send_link_down();
    });
}

void LinkTaps::unplug() {
    if (!switch_port_) return;
    switch_port_->on_link({});
    std::exchange(switch_port_, nullptr)->unplug();
}

void LinkTaps::replug() {
    if (!port_) return;
    unplug();
    port_->send_link_down();
    plug();
}

void LinkTaps::inject(Octets frame) {
    if (port_) port_->receive(fabric::Frame{frame});
}

std::optional<fabric::Frame> LinkTaps::changed(const fabric::Frame& frame) {
    Packet packet;
    decode(frame.octets(), packet);
    if (packet.stop || !packet.bth) return frame;
    const auto is_of = class_of(packet);
    for (auto spell = spells_.begin(); spell != spells_.end(); ++spell) {
        if (spell->of != is_of) continue;
        if (spell->after > 0) {
            --spell->after;
            return frame;
        }
        const auto lies = spell->lies;
        if (--spell->times == 0) spells_.erase(spell);
        if (loses(lies)) return std::nullopt;
        return fabric::Frame{build_with(build::PacketBuilder::of(packet), lies)};
    }
    return frame;
}

void LinkTaps::Down::receive(const fabric::Frame& frame) {
    if (!taps.port_) return;
    if (taps.spells_.empty()) return taps.port_->receive(frame);
    if (const auto changed = taps.changed(frame)) taps.port_->receive(*changed);
}

void LinkTaps::Up::receive(const fabric::Frame& frame) {
    Packet packet;
    decode(frame.octets(), packet);
    constexpr std::size_t most_kinds = 4096;
    if (packet.bth && taps.kinds_.size() < most_kinds) taps.kinds_.insert(kind_of(packet));
    if (packet.bth && taps.heard) taps.heard(packet);
    if (taps.switch_port_) taps.switch_port_->receive(frame);
}

}  // namespace ipoib::conformance::fuzz
