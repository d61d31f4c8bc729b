// SPDX-License-Identifier: GPL-2.0-or-later
// Nodes that are silent, wrong or hostile.
#include "fabric/simulated/subnet_test.hpp"
#include "protocol/wire/node_record.hpp"
#include "protocol/wire/port_info.hpp"

#include <random>

namespace ipoib::fabric::simulated {
namespace {

using namespace testing;
using namespace wire;
using namespace std::chrono_literals;

/// Overwrites a field of an attribute in an answer.
template <class Attribute, class T>
void lie(SmpFrame& smp, std::uint16_t id, const Field<Attribute, T>& field, const std::type_identity_t<T>& value) {
    if (smp.smp()[LidSmp::attribute_id] == id && smp.smp()[LidSmp::method] == Method::get_resp)
        set_field(smp.data(), field, value);
}

TEST_CASE("Subnet manager: a node that never answers is asked three times and holds up nobody") {
    World world;
    Stranger silent;
    silent.plug_into(world.subnet);
    Host host{world.subnet, host_guid(1)};
    CHECK(world.subnet.bring_up(host.guid(), 1ms));
    world.run(5s);
    CHECK(silent.asked == std::vector<std::uint16_t>(3, smp_attribute::node_info));
    CHECK(world.subnet.view().ports().size() == 2);
}

TEST_CASE("Subnet manager: a node that answers later is brought up by a later sweep") {
    World world;
    Stranger late;
    late.plug_into(world.subnet);
    world.run(5s);
    Hca hca{world.loop, {.port_guid = host_guid(1)}};
    hca.connect(late.switch_port);
    world.run(5s);
    CHECK_FALSE(hca.facts().is_active);
    late.switch_port->unplug();
    struct Awake : FrameSink {
        explicit Awake(Hca& to) : adapter(to) {}
        void receive(const Frame& frame) override {
            if (is_awake) adapter.receive(frame);
        }
        Hca& adapter;
        bool is_awake = false;
    } node{hca};
    hca.connect(&world.subnet.plug(node, NodeRole::other));
    world.run(5s);
    node.is_awake = true;
    CHECK(world.subnet.bring_up(host_guid(1), 20s));
    CHECK(hca.facts().is_active);
}

TEST_CASE("Subnet manager: a node that stops answering half way holds up nobody") {
    for (const auto last : {smp_attribute::node_info, smp_attribute::node_description, smp_attribute::port_info}) {
        CAPTURE(last);
        World world;
        Host model{world.subnet, host_guid(1)};
        REQUIRE(model.bring_up());
        const auto node_info = world.known(host_guid(1))->node_info, port_info = world.known(host_guid(1))->port_info;
        Stranger node;
        node.answer = [&](SmpFrame& smp) {
            const auto id = smp.smp()[LidSmp::attribute_id];
            std::copy(node_info.begin(), node_info.end(), smp.data().begin());
            set_field(smp.data(), NodeInfo::port_guid, host_guid(2));
            if (id == smp_attribute::port_info) std::copy(port_info.begin(), port_info.end(), smp.data().begin());
            if (id == last) node.answer = nullptr;
        };
        node.plug_into(world.subnet);
        Host host{world.subnet, host_guid(3)};
        CHECK(world.subnet.bring_up(host.guid(), 1ms));
        world.run(5s);
        CHECK_FALSE(world.known(host_guid(2)));
    }
}

TEST_CASE("Subnet manager: a node that lies where it must be believed is left alone, the others are not") {
    const auto brings_up = [](Liar::Lie how) {
        World world;
        Liar liar{world.subnet, host_guid(1), std::move(how)};
        Host host{world.subnet, host_guid(2)};
        REQUIRE(world.subnet.bring_up(host.guid(), 1ms));
        world.run(5s);
        REQUIRE(world.subnet.view().ports().size() <= 3);
        const auto* port = world.known(host_guid(1));
        return port && port->is_active;
    };
    CHECK(brings_up([](SmpFrame&) {}));
    // It says that it is a switch, even one that exists.
    CHECK_FALSE(brings_up(
        [](SmpFrame& smp) { lie(smp, smp_attribute::node_info, NodeInfo::node_type, NodeInfo::switch_node); }));
    CHECK_FALSE(brings_up([](SmpFrame& smp) {
        lie(smp, smp_attribute::node_info, NodeInfo::node_type, NodeInfo::switch_node);
        lie(smp, smp_attribute::node_info, NodeInfo::node_guid, 0x0002c90300fe0001);
        lie(smp, smp_attribute::node_info, NodeInfo::num_ports, 255);
    }));
    CHECK_FALSE(brings_up([](SmpFrame& smp) { lie(smp, smp_attribute::node_info, NodeInfo::port_guid, 0); }));
    // It has another LID than it was given, an MTU that there is not, a state that does not change.
    CHECK_FALSE(brings_up([](SmpFrame& smp) { lie(smp, smp_attribute::port_info, PortInfo::lid, 0x1234); }));
    CHECK_FALSE(brings_up([](SmpFrame& smp) { lie(smp, smp_attribute::port_info, PortInfo::mtu_cap, 0); }));
    CHECK_FALSE(brings_up(
        [](SmpFrame& smp) { lie(smp, smp_attribute::port_info, PortInfo::port_state, PortState::initialize); }));
    CHECK_FALSE(
        brings_up([](SmpFrame& smp) { lie(smp, smp_attribute::port_info, PortInfo::port_state, PortState::down); }));
    // It refuses what it must take; what it need not have it may refuse.
    const auto refuses = [&](std::uint16_t id) {
        return !brings_up([id](SmpFrame& smp) {
            const bool is_answer = smp.smp()[LidSmp::method] == Method::get_resp;
            if (is_answer && smp.smp()[LidSmp::attribute_id] == id)
                smp.set(DirectedSmp::status, mad_status::unsupported_method_attribute);
        });
    };
    CHECK(refuses(smp_attribute::node_info));
    CHECK(refuses(smp_attribute::port_info));
    CHECK(refuses(smp_attribute::p_key_table));
    CHECK_FALSE(refuses(smp_attribute::guid_info));
    CHECK_FALSE(refuses(smp_attribute::node_description));
}

TEST_CASE("Subnet manager: of two ports with one GUID the first is brought up") {
    World world;
    Host first{world.subnet, host_guid(1)};
    REQUIRE(first.bring_up());
    Host second{world.subnet, host_guid(1)};
    world.run(30s);
    CHECK_FALSE(second.hca.facts().is_active);
    CHECK(first.hca.facts().is_active);
    CHECK(world.known(host_guid(1))->is_active);
    // When the first is gone the second takes its place.
    first.switch_port->unplug();
    CHECK(world.subnet.bring_up(host_guid(1), 20s));
    CHECK(second.hca.facts().is_active);
}

TEST_CASE("Subnet manager: nobody takes over the GUID of the manager's port or of a switch") {
    World world;
    constexpr std::uint64_t switch_guid = 0x0002c90300fe0001;
    // They are there before the sweep has come to the manager's own port.
    Host thief{world.subnet, world.subnet.sm_hca().config().port_guid}, other{world.subnet, switch_guid};
    Host host{world.subnet, host_guid(1)};
    REQUIRE(host.bring_up());
    world.run(30s);
    CHECK_FALSE(thief.hca.facts().is_active);
    CHECK_FALSE(other.hca.facts().is_active);
    CHECK(host.join() == 0);
}

TEST_CASE("Subnet manager: answers that nobody asked for change nothing") {
    World world;
    Stranger node;
    node.plug_into(world.subnet);
    Host host{world.subnet, host_guid(1)};
    REQUIRE(host.bring_up());
    SmpFrame smp;
    smp.set(DirectedSmp::method, Method::get_resp)
        .set(DirectedSmp::is_returning, true)
        .set(DirectedSmp::hop_count, 2)
        .set(DirectedSmp::hop_pointer, 2)
        .set(DirectedSmp::return_path, OctetArray<64>{0, 1, 1})
        .set(DirectedSmp::attribute_id, smp_attribute::node_info);
    for (std::uint64_t transaction = 0; transaction < 200; ++transaction)
        node.switch_port->receive(smp.set(DirectedSmp::transaction_id, transaction).frame());
    world.run(1s);
    CHECK(world.subnet.view().ports().size() == 2);
    CHECK(host.join() == 0);
}

TEST_CASE("Subnet: frames that are not whole are counted at the switch_port and go nowhere") {
    World world;
    Hosts hosts{world.subnet, 2};
    REQUIRE(hosts.bring_up());
    const auto whole = build::udp(hosts[0].node(), hosts[1].node(), hosts[0].link(), 40).build();
    auto& switch_port = *hosts[0].switch_port;
    std::uint64_t sent = 0;
    const auto send = [&](Octets octets) {
        switch_port.receive(Frame{octets});
        ++sent;
    };
    for (std::size_t length = 1; length < whole.size(); ++length) send(Octets{whole}.first(length));
    switch_port.receive(Frame{});
    ++sent;
    auto longer = whole;
    longer.resize(longer.size() + 4);
    send(longer);
    const auto with = [&](const auto& field, auto value) {
        auto changed = whole;
        set_field(MutableOctets{changed}, field, value);
        send(changed);
    };
    for (const std::uint16_t words : std::initializer_list<std::uint16_t>{0, 1, 6, 2047})
        with(Lrh::packet_length, words);
    for (std::uint8_t version = 1; version < 16; ++version) with(Lrh::version, version);
    // A GRH that has no room.
    std::vector<std::uint8_t> no_room(46);
    set_field(MutableOctets{no_room}, Lrh::lnh, Lnh::global);
    set_field(MutableOctets{no_room}, Lrh::packet_length, 11);
    send(no_room);
    world.run();
    CHECK(world.subnet.counters().malformed == sent);
    CHECK(hosts[1].received.empty());
    switch_port.receive(Frame{whole});
    world.run();
    CHECK(hosts[1].received.size() == 1);
}

/// A Set that a manager might send to a switch.
std::vector<std::uint8_t> set_to_switch() {
    SmpFrame smp;
    smp.set(DirectedSmp::method, Method::set)
        .set(DirectedSmp::attribute_id, smp_attribute::port_info)
        .set(DirectedSmp::hop_count, 1)
        .set(DirectedSmp::hop_pointer, 1);
    const auto frame = smp.frame();
    return {frame.octets().begin(), frame.octets().end()};
}

TEST_CASE("Subnet: no octets from a node break anything") {
    World world;
    Hosts hosts{world.subnet, 2};
    REQUIRE(hosts.bring_up());
    std::mt19937_64 random{7};
    const auto frame = set_to_switch();
    for (unsigned i = 0; i < 20000; ++i) {
        auto octets = frame;
        // Most stay SMPs; all stay whole.
        for (unsigned changes = 1 + random() % 8; changes > 0; --changes) {
            const auto at = random() % octets.size();
            if (at == Lrh::packet_length.at.bit / 8 || at == Lrh::packet_length.at.bit / 8 + 1) continue;
            octets[at] = static_cast<std::uint8_t>(random());
        }
        hosts[0].switch_port->receive(Frame{octets});
    }
    world.run(30s);
    // Some of that changed the tables of the switch: a new sweep puts it right.
    world.subnet.start_manager();
    REQUIRE(hosts.bring_up());
    hosts[0].send_to(hosts[1]);
    world.run();
    CHECK(hosts[1].received.size() >= 1);
}

}  // namespace
}  // namespace ipoib::fabric::simulated
