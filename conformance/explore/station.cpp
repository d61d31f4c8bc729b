// SPDX-License-Identifier: GPL-2.0-or-later
// Nodes and their cables.
#include "conformance/explore/station.hpp"

#include "protocol/wire/bth.hpp"
#include "protocol/wire/grh.hpp"
#include "protocol/wire/lrh.hpp"
#include "protocol/wire/packet.hpp"

#include <algorithm>

namespace ipoib::conformance::explore {
using namespace wire;
using fabric::Frame;

namespace {

constexpr std::uint8_t mtu_4096 = 5;
constexpr unsigned attach_limit = 48;

enum class Class : std::uint8_t { subnet_management, mad, data };

/// By the queue pair that it is for; `frame` came from an adapter or a switch of ours, so it is as long as its headers.
Class class_of(Octets frame) noexcept {
    constexpr std::uint8_t management_lane = 15;
    const auto lrh = View<Lrh>::at(frame);
    if (!lrh || lrh[Lrh::vl] == management_lane) return Class::subnet_management;
    const auto at = Lrh::size + (lrh[Lrh::lnh] == Lnh::global ? Grh::size : 0);
    const auto bth = frame.size() < at ? View<Bth>{} : View<Bth>::at(frame.subspan(at));
    return bth && bth[Bth::dest_qp] == 1 ? Class::mad : Class::data;
}

bool is_udp(const Frame& frame) {
    Packet packet;
    decode(frame.octets(), packet);
    return packet.udp && !packet.payload.empty();
}

Frame damaged(const Frame& frame) {
    Packet packet;
    decode(frame.octets(), packet);
    std::vector<std::uint8_t> octets(frame.octets().begin(), frame.octets().end());
    octets.at(packet.offset_of(packet.payload.data()) + packet.payload.size() - 1) ^= 0xff;
    // The fabric carries it: its CRCs are those of what it carries.
    std::fill(octets.end() - static_cast<std::ptrdiff_t>(icrc_size + vcrc_size), octets.end(), std::uint8_t{0});
    return Frame{octets};
}

template <class Changed>
Changed changed_by(void (*change)(Changed&)) {
    Changed whole;
    if (change) change(whole);
    return whole;
}

}  // namespace

Cable::Cable(fabric::Loop& loop, fabric::FrameSink& node, std::function<void(fabric::FrameSink*)> connect,
             std::uint64_t seed)
    : loop_(loop), node_(node), connect_(std::move(connect)), random_(seed) {}

Cable::~Cable() {
    unplug();
    loop_.forget(late_up_);
    loop_.forget(late_down_);
}

void Cable::plug(fabric::Subnet& subnet, fabric::NodeRole role) {
    port_ = &subnet.plug(down_, role);
    port_->on_link([this](bool is_up) {
        if (!is_up) {
            loop_.forget(late_up_);
            loop_.forget(late_down_);
        }
        connect_(is_up ? &up_ : nullptr);
    });
    connect_(&up_);
}

void Cable::unplug() {
    if (auto* port = std::exchange(port_, nullptr)) port->unplug();
}

void Cable::End::receive(const Frame& frame) { cable.carry(frame, to_node); }

void Cable::carry(const Frame& frame, bool to_node) {
    if (!to_node && seen) seen(frame, true);
    if (spells_.empty()) return pass(frame, to_node);
    const auto what = class_of(frame.octets());
    const auto now = loop_.now();
    std::erase_if(spells_, [&](const Spell& spell) { return now >= spell.until || spell.count == 0; });
    if (what != Class::subnet_management) {
        for (auto& spell : spells_) {
            if (spell.to_node != to_node || spell.only_mads != (what == Class::mad)) continue;
            if (spell.what == Spell::What::damage && !is_udp(frame)) continue;
            if (spell.skip > 0) {
                --spell.skip;
                continue;
            }
            if (random_() % 100 >= spell.percent) continue;
            if (spell.count != ~0u) --spell.count;
            switch (spell.what) {
                case Spell::What::lose:
                    return;
                case Spell::What::repeat:
                    pass(frame, to_node);
                    break;
                case Spell::What::damage:
                    return pass(damaged(frame), to_node);
                case Spell::What::hold:
                    return loop_.deliver(now + spell.hold, to_node ? late_down_ : late_up_, frame);
            }
            break;
        }
    }
    pass(frame, to_node);
}

void Cable::pass(const Frame& frame, bool to_node) {
    if (!to_node) {
        if (port_) port_->receive(frame);
        return;
    }
    if (seen) seen(frame, false);
    node_.receive(frame);
}

Station::Station(fabric::Subnet& subnet, Config config)
    : subnet_(subnet),
      config_(std::move(config)),
      hca_(subnet.loop(),
           {.port_guid = config_.guid, .description = config_.name, .mtu = mtu_4096, .attach_limit = attach_limit},
           changed_by<fabric::HcaBehaviour>(config_.mutant ? config_.mutant->hca : nullptr)),
      cable_(
          subnet.loop(), hca_, [this](fabric::FrameSink* up) { hca_.connect(up); },
          config_.seed * 0x9e3779b97f4a7c15u + config_.guid),
      sa_(hca_) {
    cable_.plug(subnet, config_.role);
    begin();
    if (config_.mutant && config_.mutant->habit.act) arm_habit();
}

Station::~Station() {
    subnet_.loop().cancel(habit_timer_);
    node_.reset();
}

void Station::begin() {
    node_ = std::make_unique<stack::Node>(hca_, sa_, config_.mutant ? policies_of(*config_.mutant) : stack::Policies{});
    for (const auto& address : config_.addresses) static_cast<void>(interface().add_address(address));
    static_cast<void>(interface().sockets().listen({}, listening_port));
    if (config_.twin_addresses.empty()) return;
    twin_ = node_->create_child(config_.p_key);
    if (!twin_) return;
    for (const auto& address : config_.twin_addresses) static_cast<void>(twin_->add_address(address));
    static_cast<void>(twin_->sockets().listen({}, listening_port));
}

void Station::restart_stack() {
    twin_ = nullptr;
    node_.reset();
    // Who is gone repeats nothing.
    sa_.forget_all();
    begin();
}

void Station::send(const IpAddress& to, Octets payload) {
    constexpr std::uint8_t on_link = 1;
    static_cast<void>(interface().sockets().send(to, listening_port, payload, on_link));
}

void Station::arm_habit() {
    habit_timer_ = subnet_.loop().after(config_.mutant->habit.every, [this] {
        config_.mutant->habit.act(*node_);
        arm_habit();
    });
}

namespace {

IpAddress first_of(const std::vector<IpNetwork>& networks, bool is_v4) {
    const auto found =
        std::ranges::find_if(networks, [&](const IpNetwork& network) { return network.address.is_v4() == is_v4; });
    return found == networks.end() ? IpAddress{} : found->address;
}

}  // namespace

bool Station::has_p_key(std::uint16_t p_key) const {
    const auto table = hca_.facts().p_keys;
    return std::ranges::find(table, p_key) != table.end();
}

IpAddress Station::address(bool is_v4) const { return first_of(config_.addresses, is_v4); }
IpAddress Station::twin_address(bool is_v4) const { return first_of(config_.twin_addresses, is_v4); }

}  // namespace ipoib::conformance::explore
