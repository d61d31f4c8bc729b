// SPDX-License-Identifier: GPL-2.0-or-later
// An adapter at a cable that leads nowhere, and the subnet manager's part played by hand, for the tests.
#pragma once

#include "fabric/node/hca.hpp"
#include "fabric/node/mad_frame.hpp"
#include "protocol/build/ipoib.hpp"
#include "protocol/wire/node_record.hpp"
#include "protocol/wire/port_info.hpp"
#include "protocol/wire/smp.hpp"

#include "catch2.hpp"

#include <algorithm>
#include <vector>

namespace ipoib::fabric::testing {

using namespace wire;

inline constexpr std::uint64_t test_guid = 0x0002c90300a10009;
inline constexpr std::uint16_t test_lid = 9, test_sm_lid = 1;

/// Keeps what an adapter sends.
struct Cable : FrameSink {
    void receive(const Frame& frame) override { sent.push_back(frame); }
    /// The MAD of the only frame, which is taken away.
    [[nodiscard]] MadOctets take_mad() {
        REQUIRE(sent.size() == 1);
        Packet packet;
        decode(sent[0].octets(), packet);
        REQUIRE(packet.payload.size() == mad_size);
        MadOctets mad{};
        std::copy(packet.payload.begin(), packet.payload.end(), mad.begin());
        sent.clear();
        return mad;
    }
    std::vector<Frame> sent;
};

inline constexpr auto smp_data_at = LidSmp::data.at.bit / 8;

/// A directed-route SMP as it comes over the cable between the first switch and the node.
inline MadOctets directed(Method method, std::uint16_t attribute, std::uint32_t modifier = 0, Octets data = {}) {
    constexpr std::uint8_t hops = 2;
    MadOctets mad{};
    const MutableOctets all{mad};
    set_field(all, DirectedSmp::base_version, 1);
    set_field(all, DirectedSmp::mgmt_class, MgmtClass::subn_directed_route);
    set_field(all, DirectedSmp::class_version, 1);
    set_field(all, DirectedSmp::method, method);
    set_field(all, DirectedSmp::hop_pointer, hops);
    set_field(all, DirectedSmp::hop_count, hops);
    set_field(all, DirectedSmp::transaction_id, 0x1234);
    set_field(all, DirectedSmp::attribute_id, attribute);
    set_field(all, DirectedSmp::attribute_modifier, modifier);
    set_field(all, DirectedSmp::dr_slid, permissive_lid);
    set_field(all, DirectedSmp::dr_dlid, permissive_lid);
    std::copy(data.begin(), data.end(), mad.begin() + smp_data_at);
    return mad;
}
/// The same as a LID-routed one.
inline MadOctets lid_routed(Method method, std::uint16_t attribute, std::uint32_t modifier = 0, Octets data = {}) {
    auto mad = directed(method, attribute, modifier, data);
    const MutableOctets all{mad};
    set_field(all, LidSmp::mgmt_class, MgmtClass::subn_lid_routed);
    set_field(all, LidSmp::class_specific, 0);
    set_field(all, LidSmp::reserved256, {});
    return mad;
}
inline Frame smp_frame(const MadOctets& mad, std::uint16_t dlid = permissive_lid) {
    return mad_frame(
        {.slid = dlid == permissive_lid ? permissive_lid : test_sm_lid, .dlid = dlid, .src_qp = 0, .dest_qp = 0}, mad);
}

/// Without the D bit that a directed-route one has there.
inline std::uint16_t status_of(const MadOctets& smp) { return View<LidSmp>::at(smp)[LidSmp::status] & 0x7fff; }

/// P_Keys as a block of the table holds them.
inline std::vector<std::uint8_t> p_key_block(const std::vector<std::uint16_t>& p_keys) {
    std::vector<std::uint8_t> block(64);
    for (std::size_t i = 0; i < p_keys.size(); ++i) write_bits(&block[2 * i], At{0}, 16, p_keys[i]);
    return block;
}

/// An adapter with its cable and a loop.
struct Node {
    explicit Node(HcaConfig config = {.port_guid = test_guid}, HcaBehaviour behaviour = {})
        : hca(loop, std::move(config), behaviour) {
        hca.connect(&cable);
        hca.on_event([this](PortEvent event) { events.push_back(event); });
    }
    /// Sends an SMP in and takes the answer.
    MadOctets ask(const MadOctets& smp, std::uint16_t dlid = permissive_lid) {
        hca.receive(smp_frame(smp, dlid));
        return cable.take_mad();
    }
    [[nodiscard]] Bytes<PortInfo> port_info() {
        Bytes<PortInfo> info;
        const auto answer = ask(directed(Method::get, smp_attribute::port_info));
        std::copy_n(answer.begin() + smp_data_at, PortInfo::size, info.octets.begin());
        return info;
    }
    /// What a manager sets first, with the state that it asks for.
    [[nodiscard]] Bytes<PortInfo> wanted(PortState state, std::uint16_t lid = test_lid) {
        return port_info()
            .set(PortInfo::lid, lid)
            .set(PortInfo::master_sm_lid, test_sm_lid)
            .set(PortInfo::neighbor_mtu, 4)
            .set(PortInfo::port_state, state)
            .set(PortInfo::port_physical_state, 0);
    }
    std::uint16_t set(const Bytes<PortInfo>& info) {
        return status_of(ask(directed(Method::set, smp_attribute::port_info, 1, info.octets)));
    }
    void set_p_keys(const std::vector<std::uint16_t>& p_keys) {
        (void)ask(directed(Method::set, smp_attribute::p_key_table, 0, p_key_block(p_keys)));
    }
    void bring_up(const std::vector<std::uint16_t>& p_keys = {0xffff}) {
        set_p_keys(p_keys);
        REQUIRE(set(wanted(PortState::no_change)) == 0);
        REQUIRE(set(wanted(PortState::armed)) == 0);
        REQUIRE(set(wanted(PortState::active)) == 0);
        REQUIRE(hca.is_active());
        events.clear();
    }
    [[nodiscard]] build::Node address(std::uint32_t qpn) const {
        return {.lid = test_lid, .gid = hca.facts().gid, .qpn = qpn, .ipv4 = 0x0a010009};
    }

    Loop loop;
    Cable cable;
    Hca hca;
    std::vector<PortEvent> events;
};

/// Another host, which only sends.
inline build::Node peer() {
    return {.lid = 7, .gid = Gid::of(std::uint64_t{0xfe80} << 48, 0x0002c90300a10007), .qpn = 0x50, .ipv4 = 0x0a010007};
}

/// The frame with both CRCs zero, as frames are inside the process.
inline Frame without_crcs(std::vector<std::uint8_t> octets) {
    std::fill(octets.end() - icrc_size - vcrc_size, octets.end(), std::uint8_t{0});
    return Frame{octets};
}
inline Frame without_crcs(const build::PacketBuilder& packet) { return without_crcs(packet.build()); }

}  // namespace ipoib::fabric::testing
