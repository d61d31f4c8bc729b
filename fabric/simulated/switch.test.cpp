// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/simulated/switch.hpp"

#include "fabric/simulated/smp_test.hpp"
#include "protocol/wire/node_record.hpp"

namespace ipoib::fabric::simulated {
namespace {

using namespace testing;
using namespace wire;

constexpr std::uint64_t guid = 0x0002c90300fe0001;
constexpr std::uint16_t group_mlid = 0xc003;
constexpr Duration hop{500};

/// A switch with a node at each of its ports; the test is the manager, at port 1.
struct OneSwitch {
    explicit OneSwitch(bool is_active = true) {
        for (std::uint8_t port = 1; port <= 8; ++port) at.attach(port, &node[port]);
        if (!is_active) return;
        for (std::uint32_t port = 1; port <= 8; ++port) {
            set_port(port, PortState::armed);
            set_port(port, PortState::active);
        }
    }
    void send(std::uint8_t port, const Frame& frame) { at.take(frame, port, Time{1000}); }
    SmpFrame ask(const SmpFrame& smp) {
        send(1, smp.frame());
        return node[1].take_smp();
    }
    std::uint16_t set_port(std::uint32_t port, PortState state) {
        const auto info = Bytes<PortInfo>{}.set(PortInfo::neighbor_mtu, 4).set(PortInfo::port_state, state);
        return status_of(ask(directed(Method::set, smp_attribute::port_info, port, {}, info.octets)));
    }
    std::uint16_t set_lid(std::uint16_t lid) {
        const auto info = Bytes<PortInfo>{}.set(PortInfo::lid, lid);
        return status_of(ask(directed(Method::set, smp_attribute::port_info, 0, {}, info.octets)));
    }
    /// LID 10 + n is behind port n.
    void route_lids() {
        OctetArray<64> block;
        block.fill(no_port);
        for (std::uint8_t port = 1; port <= 8; ++port) LinearBlock::write(block, 10u + port, port);
        REQUIRE(status_of(ask(directed(Method::set, smp_attribute::linear_forwarding_table, 0, {}, block))) == 0);
    }
    void route_group(std::uint16_t mask, std::initializer_list<std::uint8_t> senders) {
        OctetArray<64> block{};
        MulticastBlock::write(block, group_mlid - 0xc000, mask);
        REQUIRE(status_of(ask(directed(Method::set, smp_attribute::multicast_forwarding_table, 0, {}, block))) == 0);
        PortMask ports;
        for (const auto port : senders) ports.set(port);
        at.set_senders(group_mlid, ports);
    }
    /// How many frames came out of each port from 1 on.
    [[nodiscard]] std::vector<std::size_t> counts() const {
        std::vector<std::size_t> all;
        for (std::size_t port = 1; port <= 8; ++port) all.push_back(node[port].frames.size());
        return all;
    }
    Subnet::Counters counters;
    Switch at{guid, 8, hop, counters};
    std::array<Drain, 9> node;
};
using Counts = std::vector<std::size_t>;

TEST_CASE("Switch: a unicast frame leaves by its LID's port, one hop later, octet for octet") {
    OneSwitch rig;
    rig.route_lids();
    const auto frame = data_frame(12, 15);
    rig.send(2, frame);
    CHECK(rig.counts() == Counts{0, 0, 0, 0, 1, 0, 0, 0});
    CHECK(rig.node[5].frames[0].is_same(frame));
    CHECK(rig.node[5].arrivals[0] == Time{1000} + hop);
    CHECK(rig.counters.forwarded == 1);
}

TEST_CASE("Switch: a frame whose LID leads nowhere, or back, is dropped") {
    OneSwitch rig;
    rig.route_lids();
    for (const unsigned dlid : {0x0000u, 0x0009u, 0x0030u, 0xbfffu, 0xffffu, 12u})
        rig.send(2, data_frame(12, static_cast<std::uint16_t>(dlid)));
    CHECK(rig.counts() == Counts(8));
    CHECK(rig.counters.dropped_no_route == 6);
}

TEST_CASE("Switch: a table entry of a port that it does not have is harmless") {
    OneSwitch rig;
    OctetArray<64> block;
    for (std::uint8_t i = 0; i < 64; ++i) block[i] = static_cast<std::uint8_t>(191 + i);
    (void)rig.ask(directed(Method::set, smp_attribute::linear_forwarding_table, 0, {}, block));
    for (std::uint16_t dlid = 0; dlid < 64; ++dlid) rig.send(2, data_frame(1, dlid));
    CHECK(rig.counts() == Counts(8));
    rig.route_group(0xffff, {2});
    rig.send(2, multicast_frame(1, group_mlid));
    CHECK(rig.counts() == Counts{1, 0, 1, 1, 1, 1, 1, 1});
}

TEST_CASE("Switch: a multicast frame goes to every port of its mask, never back") {
    OneSwitch rig;
    rig.route_group(0b0011'0110, {1, 2});
    rig.send(2, multicast_frame(12, group_mlid));
    CHECK(rig.counts() == Counts{1, 0, 0, 1, 1, 0, 0, 0});
    CHECK(rig.counters.multicast_copies == 3);
    CHECK(rig.counters.forwarded == 1);
}

TEST_CASE("Switch: who joined only to send reaches the members and gets nothing") {
    OneSwitch rig;
    rig.route_group(0b0001'0000, {4, 7});
    rig.send(7, multicast_frame(17, group_mlid));
    CHECK(rig.counts() == Counts{0, 0, 0, 1, 0, 0, 0, 0});
    rig.send(4, multicast_frame(14, group_mlid));
    CHECK(rig.node[7].frames.empty());
}

TEST_CASE("Switch: a multicast frame from a port that never joined is dropped") {
    OneSwitch rig;
    rig.route_group(0b0001'0100, {2, 4});
    rig.send(3, multicast_frame(13, group_mlid));
    rig.send(2, multicast_frame(12, group_mlid + 1));
    rig.send(2, multicast_frame(12, 0xfffe));
    CHECK(rig.counts() == Counts(8));
    CHECK(rig.counters.dropped_no_route == 3);
}

TEST_CASE("Switch: data passes only between active ports") {
    OneSwitch rig{false};
    rig.route_lids();
    rig.route_group(0xffff, {1, 2});
    const auto arrive = [&] {
        rig.send(1, data_frame(11, 12));
        rig.send(2, data_frame(12, 11));
        rig.send(1, multicast_frame(11, group_mlid));
        return rig.counts();
    };
    CHECK(arrive() == Counts(8));
    CHECK(rig.set_port(1, PortState::armed) == 0);
    CHECK(rig.set_port(1, PortState::active) == 0);
    CHECK(arrive() == Counts(8));
    CHECK(rig.set_port(2, PortState::armed) == 0);
    CHECK(arrive() == Counts(8));
    CHECK(rig.set_port(2, PortState::active) == 0);
    CHECK(arrive() == Counts{1, 2, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("Switch: the states of a port come in their order") {
    OneSwitch rig{false};
    const auto refused = mad_status::invalid_field;
    CHECK(rig.set_port(3, PortState::active) == refused);
    CHECK(rig.set_port(3, PortState::down) == refused);
    CHECK(rig.set_port(3, PortState::initialize) == refused);
    CHECK(rig.set_port(3, PortState::armed) == 0);
    CHECK(rig.set_port(3, PortState::no_change) == 0);
    CHECK(rig.at.state(3) == PortState::armed);
    CHECK(rig.set_port(3, PortState::active) == 0);
    CHECK(rig.set_port(3, PortState::armed) == refused);
    CHECK(rig.at.state(3) == PortState::active);
    CHECK(rig.set_port(9, PortState::armed) == refused);
    rig.at.attach(3, nullptr);
    CHECK(rig.set_port(3, PortState::armed) == refused);
    CHECK(rig.at.state(3) == PortState::down);
}

TEST_CASE("Switch: it tells what it is") {
    OneSwitch rig;
    auto smp = rig.ask(directed(Method::get, smp_attribute::node_info));
    CHECK(status_of(smp) == 0);
    const auto info = View<NodeInfo>::at(smp.data());
    CHECK(info[NodeInfo::node_type] == NodeInfo::switch_node);
    CHECK(info[NodeInfo::num_ports] == 8);
    CHECK(info[NodeInfo::node_guid] == guid);
    CHECK(info[NodeInfo::local_port_num] == 1);
    CHECK(smp.smp()[LidSmp::transaction_id] == 0x77);
    CHECK(smp.directed()[DirectedSmp::is_returning]);
    CHECK(smp.directed()[DirectedSmp::hop_pointer] == 1);
    CHECK(smp.lrh()[Lrh::dlid] == DirectedSmp::permissive_lid);

    smp = rig.ask(directed(Method::get, smp_attribute::switch_info));
    CHECK(View<SwitchInfo>::at(smp.data())[SwitchInfo::linear_cap] == 0xc000);
    smp = rig.ask(directed(Method::get, smp_attribute::guid_info));
    CHECK(GuidBlock::read(smp.data(), 0) == guid);
    smp = rig.ask(directed(Method::get, smp_attribute::node_description));
    CHECK(smp.data()[0] == 'i');
    smp = rig.ask(directed(Method::get, smp_attribute::port_info, 4));
    CHECK(View<PortInfo>::at(smp.data())[PortInfo::local_port_num] == 4);
    CHECK(View<PortInfo>::at(smp.data())[PortInfo::port_state] == PortState::active);
}

TEST_CASE("Switch: what it cannot do it refuses with the status for that") {
    OneSwitch rig;
    const auto status = [&](Method method, std::uint16_t attribute, std::uint32_t modifier = 0) {
        return status_of(rig.ask(directed(method, attribute, modifier)));
    };
    CHECK(status(Method::get, smp_attribute::sm_info) == mad_status::unsupported_method_attribute);
    CHECK(status(Method::set, smp_attribute::node_info) == mad_status::unsupported_method_attribute);
    CHECK(status(Method::get_table, smp_attribute::node_info) == mad_status::unsupported_method);
    CHECK(status(Method::get, smp_attribute::port_info, 9) == mad_status::invalid_field);
    CHECK(status(Method::get, smp_attribute::port_info, 0xffffffff) == mad_status::invalid_field);
    CHECK(status(Method::get, smp_attribute::linear_forwarding_table, 768) == mad_status::invalid_field);
    CHECK(status(Method::get, smp_attribute::p_key_table, 0x0001'0000) == mad_status::invalid_field);
    CHECK(rig.set_lid(0) == mad_status::invalid_field);
    CHECK(rig.set_lid(0xc000) == mad_status::invalid_field);
}

TEST_CASE("Switch: responses and traps that end at a switch are not answered") {
    OneSwitch rig;
    for (const auto method : {Method::get_resp, Method::trap, Method::trap_repress})
        rig.send(1, directed(method, smp_attribute::node_info).frame());
    CHECK(rig.counts() == Counts(8));
}

TEST_CASE("Switch: its P_Key table holds what was set") {
    OneSwitch rig;
    OctetArray<64> block{};
    PKeyBlock::write(block, 0, 0xffff);
    PKeyBlock::write(block, 31, 0x8123);
    (void)rig.ask(directed(Method::set, smp_attribute::p_key_table, 0, {}, block));
    auto smp = rig.ask(directed(Method::get, smp_attribute::p_key_table));
    CHECK(PKeyBlock::read(smp.data(), 31) == 0x8123);
}

TEST_CASE("Switch: a directed route may lead through it and back out of the same port") {
    OneSwitch rig;
    for (const std::uint8_t port : {std::uint8_t{5}, std::uint8_t{1}}) {
        rig.send(1, directed(Method::get, smp_attribute::node_info, 0, {port}).frame());
        auto smp = rig.node[port].take_smp();
        CHECK(smp.directed()[DirectedSmp::hop_pointer] == 2);
        CHECK(smp.directed()[DirectedSmp::return_path][1] == 1);
        CHECK(rig.counts() == Counts(8));
    }
}

TEST_CASE("Switch: a LID-routed SMP reaches it by its LID and is answered to the asker's") {
    OneSwitch rig;
    rig.route_lids();
    REQUIRE(rig.set_lid(20) == 0);
    auto smp = directed(Method::get, smp_attribute::node_info);
    smp.set(LidSmp::mgmt_class, MgmtClass::subn_lid_routed).set(LidSmp::class_specific, 0);
    smp.set(Lrh::slid, 13).set(Lrh::dlid, 20);
    rig.send(2, smp.frame());
    auto answer = rig.node[3].take_smp();
    CHECK(answer.lrh()[Lrh::dlid] == 13);
    CHECK(answer.lrh()[Lrh::slid] == 20);
    CHECK(answer.smp()[LidSmp::method] == Method::get_resp);

    smp.set(Lrh::slid, DirectedSmp::permissive_lid).set(Lrh::dlid, DirectedSmp::permissive_lid);
    rig.send(2, smp.frame());
    CHECK(rig.node[2].frames.size() == 1);
}

TEST_CASE("Switch: an SMP for another LID is forwarded as it is, in any state of the ports") {
    OneSwitch rig{false};
    rig.route_lids();
    auto smp = directed(Method::get, smp_attribute::node_info);
    smp.set(Lrh::slid, 11).set(Lrh::dlid, 16);
    const auto frame = smp.frame();
    rig.send(1, frame);
    CHECK(rig.counts() == Counts{0, 0, 0, 0, 0, 1, 0, 0});
    CHECK(rig.node[6].frames[0].is_same(frame));
}

TEST_CASE("Switch: SMPs that are none are counted and dropped") {
    OneSwitch rig;
    const auto good = directed(Method::get, smp_attribute::node_info);
    auto wrong_class = good, wrong_version = good;
    wrong_class.set(LidSmp::mgmt_class, MgmtClass::subn_adm);
    wrong_version.set(LidSmp::base_version, 2);
    for (const auto& smp : {wrong_class, wrong_version}) rig.send(1, smp.frame());
    const auto frame = good.frame();
    std::vector<std::uint8_t> octets(frame.octets().begin(), frame.octets().end());
    auto damaged = octets;
    write_crcs(damaged);
    damaged[100] ^= 1;
    rig.send(1, Frame{damaged});
    for (std::size_t length = 26; length < octets.size(); length += 4) rig.send(1, Frame{Octets{octets}.first(length)});
    CHECK(rig.counts() == Counts(8));
    CHECK(rig.counters.malformed == 3 + 66);
    write_crcs(octets);
    rig.send(1, Frame{octets});
    CHECK(rig.counts() == Counts{1, 0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("Switch: tables that point at each other send no frame round") {
    Subnet::Counters counters;
    Switch upper{guid, 8, hop, counters}, lower{guid + 1, 8, hop, counters};
    Drain above, below;
    upper.attach(1, &above);
    lower.attach(1, &below);
    Switch::join(upper, 8, lower, 8);
    const auto set = [&](Switch& at, std::uint16_t attribute, std::uint32_t modifier, Octets data) {
        at.take(directed(Method::set, attribute, modifier, {}, data).frame(), 1, Time{});
    };
    OctetArray<64> lids, groups;
    lids.fill(8);
    groups.fill(0xff);
    for (auto* at : {&upper, &lower}) {
        for (const auto state : {PortState::armed, PortState::active})
            for (const std::uint32_t port : {1u, 8u}) {
                const auto info = Bytes<PortInfo>{}.set(PortInfo::neighbor_mtu, 4).set(PortInfo::port_state, state);
                set(*at, smp_attribute::port_info, port, info.octets);
            }
        set(*at, smp_attribute::linear_forwarding_table, 0, lids);
        set(*at, smp_attribute::multicast_forwarding_table, 0, groups);
        PortMask all;
        all.set(1);
        at->set_senders(group_mlid, all);
    }
    above.frames.clear();
    below.frames.clear();

    upper.take(data_frame(1, 5), 1, Time{});
    auto smp = directed(Method::get, smp_attribute::node_info);
    smp.set(Lrh::dlid, 5);
    upper.take(smp.frame(), 1, Time{});
    CHECK(above.frames.empty());
    CHECK(below.frames.empty());
    CHECK(counters.dropped_no_route == 2);
    upper.take(multicast_frame(1, group_mlid), 1, Time{});
    CHECK(above.frames.empty());
    CHECK(below.frames.size() == 1);
}

}  // namespace
}  // namespace ipoib::fabric::simulated
