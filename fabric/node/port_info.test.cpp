// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/node/test_node.hpp"

namespace ipoib::fabric {
namespace {

using namespace testing;

TEST_CASE("SMA: a port with a cable is in INIT and goes through ARMED to ACTIVE") {
    Node node;
    const auto state = [&] { return node.port_info()[PortInfo::port_state]; };
    CHECK(state() == PortState::initialize);
    CHECK(node.port_info()[PortInfo::port_physical_state] == 5);
    CHECK_FALSE(node.hca.facts().is_active);

    SECTION("in order") {
        CHECK(node.set(node.wanted(PortState::armed)) == 0);
        CHECK(state() == PortState::armed);
        CHECK_FALSE(node.hca.is_active());
        CHECK(node.events == std::vector{PortEvent::lid_change, PortEvent::sm_change});
        CHECK(node.set(node.wanted(PortState::active)) == 0);
        CHECK(state() == PortState::active);
        CHECK(node.events.back() == PortEvent::active);
        CHECK(node.events.size() == 3);

        const auto facts = node.hca.facts();
        CHECK(facts.is_active);
        CHECK(facts.lid == test_lid);
        CHECK(facts.sm_lid == test_sm_lid);
        CHECK(facts.mtu == 4);
        CHECK(facts.rate == 3);
        CHECK(facts.gid == Gid::of(0xfe80000000000000, test_guid));

        CHECK(node.set(node.wanted(PortState::armed)) == mad_status::invalid_field);
        CHECK(node.set(node.wanted(PortState::no_change)) == 0);
        CHECK(node.set(node.wanted(PortState::active)) == 0);
        CHECK(state() == PortState::active);
        CHECK(node.events.size() == 3);
    }
    SECTION("not past ARMED") {
        CHECK(node.set(node.wanted(PortState::active)) == mad_status::invalid_field);
        CHECK(node.set(node.wanted(PortState::initialize)) == mad_status::invalid_field);
        CHECK(state() == PortState::initialize);
        CHECK(node.hca.facts().lid == 0);
    }
}

TEST_CASE("SMA: a Set of PortInfo with an impossible value changes nothing") {
    Node node;
    const auto good = node.wanted(PortState::no_change);
    for (const auto& bad :
         {Bytes<PortInfo>{good}.set(PortInfo::lid, 0xc000), Bytes<PortInfo>{good}.set(PortInfo::lid, 0xffff),
          Bytes<PortInfo>{good}.set(PortInfo::neighbor_mtu, 0), Bytes<PortInfo>{good}.set(PortInfo::neighbor_mtu, 5),
          Bytes<PortInfo>{good}.set(PortInfo::port_state, static_cast<PortState>(9))})
        CHECK(node.set(bad) == mad_status::invalid_field);
    CHECK(node.hca.facts().lid == 0);
    CHECK(node.hca.facts().sm_lid == 0);
    CHECK(node.events.empty());
    CHECK(node.set(good) == 0);
    CHECK(node.set(Bytes<PortInfo>{good}.set(PortInfo::lid, 0)) == mad_status::invalid_field);
    CHECK(node.hca.facts().lid == test_lid);
    CHECK(status_of(node.ask(directed(Method::get, smp_attribute::port_info, 2))) == mad_status::invalid_field);
}

TEST_CASE("SMA: what only the adapter knows of PortInfo cannot be set") {
    Node node{{.port_guid = test_guid, .mtu = 5, .rate = 7, .is_sm = true}};
    auto wanted = node.wanted(PortState::no_change);
    wanted.set(PortInfo::capability_mask, 0).set(PortInfo::mtu_cap, 1).set(PortInfo::link_width_active, 1);
    CHECK(node.set(wanted) == 0);
    const auto info = node.port_info();
    CHECK((info[PortInfo::capability_mask] & PortInfo::is_sm) != 0);
    CHECK((info[PortInfo::capability_mask] & PortInfo::is_client_reregistration_supported) != 0);
    CHECK(info[PortInfo::mtu_cap] == 5);
    CHECK(info[PortInfo::neighbor_mtu] == 4);
    CHECK(info[PortInfo::link_width_active] == 2);
    CHECK(info[PortInfo::link_speed_active] == 4);
    CHECK(node.hca.facts().rate == 7);
    CHECK(node.hca.facts().mtu == 4);
}

TEST_CASE("SMA: a manager that changes LID, SM or asks to reregister is heard, and only then") {
    Node node;
    node.bring_up();
    CHECK(node.set(node.wanted(PortState::no_change)) == 0);
    CHECK(node.events.empty());
    CHECK(node.set(node.wanted(PortState::no_change, 33)) == 0);
    CHECK(node.events == std::vector{PortEvent::lid_change});
    node.events.clear();
    CHECK(node.set(node.wanted(PortState::no_change, 33).set(PortInfo::master_sm_lid, 2)) == 0);
    CHECK(node.events == std::vector{PortEvent::sm_change});
    node.events.clear();
    CHECK(node.set(
              node.wanted(PortState::no_change, 33).set(PortInfo::master_sm_lid, 2).set(PortInfo::master_sm_sl, 3)) ==
          0);
    CHECK(node.events == std::vector{PortEvent::sm_change});
    CHECK(node.hca.facts().sm_sl == 3);
}

TEST_CASE("SMA: ClientReregister is told, repeated in the answer, and not kept") {
    Node node;
    node.bring_up();
    const auto wanted = node.wanted(PortState::no_change).set(PortInfo::client_reregister, true);
    const auto answer = node.ask(directed(Method::set, smp_attribute::port_info, 1, wanted.octets));
    CHECK(smp_data<PortInfo>(answer)[PortInfo::client_reregister]);
    CHECK(node.events == std::vector{PortEvent::client_reregister});
    CHECK_FALSE(node.port_info()[PortInfo::client_reregister]);
}

TEST_CASE("SMA: the answer leaves before the listeners act on the change") {
    Node node;
    node.bring_up();
    std::size_t sent = 0;
    node.hca.on_event([&](PortEvent) { sent = node.cable.sent.size(); });
    node.hca.receive(
        smp_frame(directed(Method::set, smp_attribute::port_info, 1, node.wanted(PortState::no_change, 40).octets)));
    CHECK(sent == 1);
}

TEST_CASE("SMA: a port set to Down trains again unless it is disabled") {
    Node node;
    node.bring_up();
    SECTION("Down") {
        CHECK(node.set(node.wanted(PortState::down)) == 0);
        CHECK(node.events == std::vector{PortEvent::down});
        CHECK_FALSE(node.hca.is_active());
        CHECK(node.port_info()[PortInfo::port_state] == PortState::initialize);
    }
    SECTION("Disabled, then polling") {
        CHECK(node.set(node.wanted(PortState::no_change).set(PortInfo::port_physical_state, 3)) == 0);
        CHECK(node.events == std::vector{PortEvent::down});
        CHECK(node.port_info()[PortInfo::port_state] == PortState::down);
        CHECK(node.port_info()[PortInfo::port_physical_state] == 3);
        CHECK(node.set(node.wanted(PortState::no_change).set(PortInfo::port_physical_state, 2)) == 0);
        CHECK(node.port_info()[PortInfo::port_state] == PortState::initialize);
        CHECK(node.events.size() == 1);
    }
    node.bring_up();
}

TEST_CASE("SMA: an M_Key that is set locks out who does not know it") {
    static constexpr std::uint64_t key = 0x1122334455667788;
    Node node;
    CHECK(node.set(node.wanted(PortState::no_change).set(PortInfo::m_key, key)) == 0);
    const auto with_key = [](MadOctets mad) {
        set_field(MutableOctets{mad}, LidSmp::m_key, key);
        return mad;
    };
    const auto moved = node.wanted(PortState::no_change, 77).set(PortInfo::m_key, key);
    const auto set_moved = directed(Method::set, smp_attribute::port_info, 1, moved.octets);
    node.hca.receive(smp_frame(set_moved));
    CHECK(node.cable.sent.empty());
    CHECK(node.hca.facts().lid == test_lid);
    const auto get = directed(Method::get, smp_attribute::port_info);
    CHECK(smp_data<PortInfo>(node.ask(get))[PortInfo::m_key_violations] == 1);
    CHECK(smp_data<PortInfo>(node.ask(get))[PortInfo::m_key] == key);

    // Protection 1 hides the key, 2 everything.
    auto hidden = Bytes<PortInfo>{moved}.set(PortInfo::m_key_protect_bits, 1);
    (void)node.ask(with_key(directed(Method::set, smp_attribute::port_info, 1, hidden.octets)));
    CHECK(node.hca.facts().lid == 77);
    CHECK(smp_data<PortInfo>(node.ask(get))[PortInfo::m_key] == 0);
    CHECK(smp_data<PortInfo>(node.ask(with_key(get)))[PortInfo::m_key] == key);
    hidden.set(PortInfo::m_key_protect_bits, 2);
    (void)node.ask(with_key(directed(Method::set, smp_attribute::port_info, 1, hidden.octets)));
    node.hca.receive(smp_frame(get));
    CHECK(node.cable.sent.empty());
    CHECK(smp_data<PortInfo>(node.ask(with_key(get)))[PortInfo::lid] == 77);
}

TEST_CASE("Adapter: pulling the cable takes the port down, plugging it in begins anew") {
    Node node;
    node.bring_up();
    node.hca.connect(nullptr);
    CHECK(node.events == std::vector{PortEvent::down});
    CHECK_FALSE(node.hca.is_connected());
    CHECK_FALSE(node.hca.is_active());
    node.hca.receive(smp_frame(directed(Method::get, smp_attribute::node_info)));
    CHECK(node.hca.drops().not_active == 1);
    node.hca.connect(nullptr);
    CHECK(node.events.size() == 1);
    node.hca.connect(&node.cable);
    CHECK(node.port_info()[PortInfo::port_state] == PortState::initialize);
    CHECK(node.events.size() == 1);
    node.bring_up();
}

}  // namespace
}  // namespace ipoib::fabric
