// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/node/test_member.hpp"

namespace ipoib::fabric {
namespace {

using namespace testing;

TEST_CASE("MAD frame: is what the packet builder makes of the same headers") {
    MadOctets mad{};
    for (std::size_t i = 0; i < mad.size(); ++i) mad[i] = static_cast<std::uint8_t>(i);
    for (const std::uint32_t qp : {0u, 1u}) {
        const std::uint8_t vl = qp == 0 ? 15 : 0;
        PacketBuilder packet;
        packet.add(Bytes<Lrh>{}.set(Lrh::vl, vl).set(Lrh::sl, 3).set(Lrh::dlid, 0x1234).set(Lrh::slid, 0x5678))
            .add(Bytes<Bth>{}
                     .set(Bth::opcode, Opcode::ud_send_only)
                     .set(Bth::migration, true)
                     .set(Bth::p_key, 0x8123)
                     .set(Bth::dest_qp, qp))
            .add(Bytes<Deth>{}.set(Deth::q_key, qp == 0 ? 0 : 0x80010000).set(Deth::src_qp, qp))
            .add(mad);
        const auto expected = without_crcs(packet);
        const auto made =
            mad_frame({.slid = 0x5678, .dlid = 0x1234, .sl = 3, .p_key = 0x8123, .src_qp = qp, .dest_qp = qp}, mad);
        CHECK(
            std::equal(made.octets().begin(), made.octets().end(), expected.octets().begin(), expected.octets().end()));
    }
}

TEST_CASE("Adapter: a datagram reaches the queue pair of its DestQP, whole and decoded") {
    Member node;
    Taker other{node.hca};
    CHECK(node.taker.queue_pair->qpn == 0x48);
    CHECK(other.queue_pair->qpn == 0x49);
    CHECK(node.takes(node.unicast()));
    CHECK(node.taker.payload == 4 + 20 + 8 + 100);
    CHECK(other.count == 0);
}

TEST_CASE("Adapter: every reason to drop a datagram is counted under its name") {
    Member node;
    Taker limited{node.hca, 0x0b1b, 0x7fff}, absent{node.hca, 0x0b1b, 0x8123};
    const auto to = [&](const Taker& taker) {
        return build::udp(peer(), node.address(taker.queue_pair->qpn), plain, 8);
    };
    const auto is_counted = [&](const PacketBuilder& packet, std::uint64_t HcaDrops::*counter) {
        const auto before = node.hca.drops().*counter;
        const auto taken = node.taker.count + limited.count + absent.count;
        node.hca.receive(without_crcs(packet));
        return node.hca.drops().*counter == before + 1 && node.taker.count + limited.count + absent.count == taken;
    };
    CHECK(is_counted(node.unicast().set(Lrh::dlid, 10), &HcaDrops::other_lid));
    CHECK(is_counted(node.unicast().set(Lrh::dlid, permissive_lid), &HcaDrops::other_lid));
    CHECK(is_counted(node.unicast().set(Lrh::dlid, 0), &HcaDrops::other_lid));
    CHECK(is_counted(node.unicast().set(Bth::dest_qp, 0x4f), &HcaDrops::no_queue_pair));
    CHECK(is_counted(node.unicast().set(Bth::dest_qp, Bth::multicast_qp), &HcaDrops::no_queue_pair));
    CHECK(is_counted(node.unicast().set(Bth::dest_qp, 0), &HcaDrops::no_queue_pair));
    CHECK(is_counted(node.unicast().set(Bth::opcode, Opcode::rc_send_only), &HcaDrops::no_queue_pair));
    CHECK(is_counted(node.unicast().set(Bth::opcode, Opcode::uc_send_only), &HcaDrops::no_queue_pair));
    CHECK(is_counted(node.unicast().set(Bth::p_key, 0x8123), &HcaDrops::p_key));
    CHECK(is_counted(node.unicast().set(Bth::p_key, 0x8000), &HcaDrops::p_key));
    CHECK(is_counted(to(limited).set(Bth::p_key, 0x7fff), &HcaDrops::p_key));
    CHECK(is_counted(to(absent).set(Bth::p_key, 0x8123), &HcaDrops::p_key));
    CHECK(is_counted(node.unicast().set(Deth::q_key, 0x0b1c), &HcaDrops::q_key));
    CHECK(is_counted(build::udp(peer(), node.address(0x48), plain, 2048 - 31), &HcaDrops::too_long));
    CHECK(is_counted(node.unicast().set(Lrh::version, 1), &HcaDrops::malformed));
    CHECK(is_counted(node.unicast().set(Bth::version, 1), &HcaDrops::malformed));
    CHECK(is_counted(node.unicast().set(Lrh::lnh, Lnh::raw), &HcaDrops::malformed));
    CHECK(is_counted(node.unicast().set(Lrh::lnh, Lnh::ipv6), &HcaDrops::malformed));
    CHECK(is_counted(node.unicast().set(Lrh::packet_length, 20), &HcaDrops::malformed));
    CHECK(is_counted(node.unicast().set(Lrh::vl, 15), &HcaDrops::malformed));
    CHECK(node.takes(node.unicast()));
}

TEST_CASE("Adapter: the P_Key matches when the partition does and one side is a full member") {
    Node node;
    node.bring_up({0x8123, 0x7fff});
    Taker full{node.hca, 0x0b1b, 0x8123}, limited{node.hca, 0x0b1b, 0x7fff}, any{node.hca, 0x0b1b, 0x8123};
    any.queue_pair->takes_any_p_key = true;
    const auto takes = [&](Taker& taker, std::uint16_t p_key) {
        const auto before = taker.count;
        node.hca.receive(
            without_crcs(build::udp(peer(), node.address(taker.queue_pair->qpn), plain, 8).set(Bth::p_key, p_key)));
        return taker.count == before + 1;
    };
    CHECK(takes(full, 0x8123));
    CHECK(takes(full, 0x0123));
    CHECK_FALSE(takes(full, 0xffff));
    CHECK(takes(limited, 0xffff));
    CHECK_FALSE(takes(limited, 0x7fff));
    CHECK(takes(any, 0x0123));
    CHECK(takes(any, 0xffff));
    CHECK_FALSE(takes(any, 0x7fff));
    CHECK_FALSE(takes(any, 0x8000));
    // Gone from the table, the partition is gone for the queue pair.
    node.set_p_keys({0xffff});
    CHECK_FALSE(takes(full, 0x8123));
    CHECK(node.port_info()[PortInfo::p_key_violations] == 5);
}

TEST_CASE("Adapter: the largest payload of the active MTU passes, one word more does not") {
    Member node;
    constexpr std::size_t headers = Encap::size + 20 + 8;
    CHECK(node.takes(build::udp(peer(), node.address(0x48), plain, 2048 - headers)));
    CHECK_FALSE(node.takes(build::udp(peer(), node.address(0x48), plain, 2048 - headers + 1)));
}

TEST_CASE("Adapter: a GRH of a unicast packet names a GID of the port") {
    Member node;
    const auto with_grh = [&] {
        return build::unicast_with_grh(peer(), node.address(0x48), plain).set(Encap::type, EtherType::ipv4);
    };
    CHECK(node.takes(with_grh()));
    CHECK_FALSE(node.takes(with_grh().set(Grh::dgid, peer().gid)));
    CHECK(node.hca.drops().other_gid == 1);
    CHECK_FALSE(node.takes(with_grh().set(Grh::version, 4)));
    CHECK_FALSE(node.takes(with_grh().set(Grh::next_header, 0x3a)));
    CHECK(node.hca.drops().malformed == 2);
}

TEST_CASE("Adapter: an LMC gives the port as many LIDs") {
    Member node;
    REQUIRE(node.set(node.wanted(PortState::no_change, 0x20).set(PortInfo::lmc, 2)) == 0);
    for (const auto lid : std::initializer_list<std::uint16_t>{0x1f, 0x20, 0x23, 0x24})
        CHECK(node.takes(node.unicast().set(Lrh::dlid, lid)) == (lid == 0x20 || lid == 0x23));
}

TEST_CASE("Adapter: CRCs that were computed are checked, zero ones were not") {
    Member node;
    const auto takes = [&](std::vector<std::uint8_t> octets) {
        const auto before = node.taker.count;
        node.hca.receive(Frame{octets});
        return node.taker.count == before + 1;
    };
    CHECK(takes(node.unicast().build()));
    CHECK_FALSE(takes(node.unicast().damage_icrc(1).build()));
    CHECK_FALSE(takes(node.unicast().damage_vcrc(1).build()));
    CHECK_FALSE(takes(node.multicast().damage_icrc(0x80000000).build()));
    CHECK(node.hca.drops().bad_crc == 3);
}

TEST_CASE("Adapter: every truncation of a frame is dropped") {
    Member node;
    for (const auto& packet : {node.unicast(), node.multicast()}) {
        const auto whole = without_crcs(packet);
        for (std::size_t size = 0; size < whole.octets().size(); ++size) {
            const Frame cut{whole.octets().first(size)};
            const auto before = node.hca.drops().malformed;
            node.hca.receive(cut);
            if (node.taker.count != 0 || node.hca.drops().malformed != before + 1) FAIL("cut to " << size);
        }
        // The same with the length put right: whatever is taken is no more than the frame holds.
        for (std::size_t size = Lrh::size; size < whole.octets().size(); size += 4) {
            std::vector<std::uint8_t> cut(whole.octets().begin(),
                                          whole.octets().begin() + static_cast<std::ptrdiff_t>(size));
            set_field(MutableOctets{cut}, Lrh::packet_length, static_cast<std::uint16_t>(size / 4));
            cut.resize(size + vcrc_size);
            std::fill(cut.end() - 6, cut.end(), std::uint8_t{0});
            node.taker.payload = 0;
            node.hca.receive(Frame{cut});
            CHECK(node.taker.payload <= size);
        }
        node.taker.count = 0;
    }
}

TEST_CASE("Adapter: before the manager has made it active a port only takes and sends SMPs") {
    Node node;
    Taker taker{node.hca};
    const auto packet = build::udp(peer(), node.address(taker.queue_pair->qpn), plain, 8);
    REQUIRE(node.set(node.wanted(PortState::no_change)) == 0);
    node.hca.receive(without_crcs(packet));
    node.hca.send(without_crcs(packet));
    CHECK(taker.count == 0);
    CHECK(node.cable.sent.empty());
    CHECK(node.hca.drops().not_active == 2);

    // ARMED takes, but does not send.
    REQUIRE(node.set(node.wanted(PortState::armed)) == 0);
    node.hca.receive(without_crcs(packet));
    node.hca.send(without_crcs(packet));
    CHECK(taker.count == 1);
    CHECK(node.cable.sent.empty());
}

TEST_CASE("Adapter: MADs go by class, when P_Key and Q_Key are right") {
    Node node;
    node.bring_up({0x8123});
    int administration = 0, communication = 0;
    node.hca.on_mad(MgmtClass::subn_adm, [&](const Datagram&) { ++administration; });
    node.hca.on_mad(MgmtClass::communication, [&](const Datagram&) { ++communication; });
    MadOctets mad{};
    set_field(MutableOctets{mad}, Mad::base_version, 1);
    const auto send = [&](MgmtClass mgmt_class, std::uint16_t p_key, std::uint32_t q_key = gsi_q_key) {
        set_field(MutableOctets{mad}, Mad::mgmt_class, mgmt_class);
        const auto frame = mad_frame({.slid = 7, .dlid = test_lid, .p_key = p_key}, mad);
        std::vector<std::uint8_t> octets(frame.octets().begin(), frame.octets().end());
        set_field(MutableOctets{octets}.subspan(Lrh::size + Bth::size), Deth::q_key, q_key);
        node.hca.receive(Frame{octets});
    };
    send(MgmtClass::subn_adm, 0x8123);
    send(MgmtClass::subn_adm, 0x0123);
    send(MgmtClass::communication, 0x8123);
    CHECK(administration == 2);
    CHECK(communication == 1);
    send(MgmtClass::performance, 0x8123);
    CHECK(node.hca.drops().no_queue_pair == 1);
    send(MgmtClass::subn_adm, 0xffff);
    CHECK(node.hca.drops().p_key == 1);
    send(MgmtClass::subn_adm, 0x8123, 0x0b1b);
    CHECK(node.hca.drops().q_key == 1);
    node.set_p_keys({0x0123});
    send(MgmtClass::subn_adm, 0x0123);
    CHECK(node.hca.drops().p_key == 2);
    node.hca.on_mad(MgmtClass::subn_adm, nullptr);
    send(MgmtClass::subn_adm, 0x8123);
    CHECK(administration == 2);
    CHECK(node.hca.drops().no_queue_pair == 2);
    // A MAD has 256 octets.
    auto node_to_gsi = node.address(1);
    const build::Link management{.p_key = 0x8123, .q_key = gsi_q_key};
    node.hca.receive(without_crcs(build::udp(peer(), node_to_gsi, management, 8)));
    CHECK(node.hca.drops().malformed == 1);
}

TEST_CASE("Adapter: queue pair numbers are never used twice, and run out at the limit") {
    Node node{{.port_guid = test_guid, .most_queue_pairs = 2}};
    auto* first = node.hca.create(1, 0xffff, nullptr);
    auto* second = node.hca.create(1, 0xffff, nullptr);
    REQUIRE(second != nullptr);
    CHECK(node.hca.create(1, 0xffff, nullptr) == nullptr);
    const auto number = first->qpn;
    node.hca.destroy(first);
    node.hca.destroy(nullptr);
    auto* third = node.hca.create(1, 0xffff, nullptr);
    REQUIRE(third != nullptr);
    CHECK(third->qpn > second->qpn);
    CHECK(number < second->qpn);
}

TEST_CASE("Adapter: a handler may make other frames arrive and keeps its own packet") {
    Member node;
    Taker inner{node.hca};
    std::uint16_t before = 0, after = 0;
    auto* outer = node.hca.create(0x0b1b, 0xffff, [&](const Datagram& d) {
        before = d.packet->udp[Udp::length];
        node.hca.receive(without_crcs(build::udp(peer(), node.address(inner.queue_pair->qpn), plain, 500)));
        after = d.packet->udp[Udp::length];
    });
    node.hca.receive(without_crcs(build::udp(peer(), node.address(outer->qpn), plain, 100)));
    CHECK(before == 108);
    CHECK(after == 108);
    CHECK(inner.payload == 4 + 20 + 8 + 500);
}

TEST_CASE("Adapter: a handler may replace itself") {
    Node node;
    node.bring_up();
    int first = 0, second = 0;
    node.hca.on_mad(MgmtClass::subn_adm, [&, owned = std::vector<int>(100)](const Datagram&) {
        node.hca.on_mad(MgmtClass::subn_adm, [&](const Datagram&) { ++second; });
        first += static_cast<int>(owned.size());
    });
    MadOctets mad{};
    set_field(MutableOctets{mad}, Mad::base_version, 1);
    set_field(MutableOctets{mad}, Mad::mgmt_class, MgmtClass::subn_adm);
    node.hca.receive(mad_frame({.slid = 7, .dlid = test_lid}, mad));
    node.hca.receive(mad_frame({.slid = 7, .dlid = test_lid}, mad));
    CHECK(first == 100);
    CHECK(second == 1);
}

TEST_CASE("Adapter: listeners hear in the order of registration and may leave while they are told") {
    Node node;
    std::vector<int> heard;
    std::uint32_t second = 0;
    node.hca.on_event([&](PortEvent) {
        heard.push_back(1);
        node.hca.remove_listener(second);
    });
    second = node.hca.on_event([&](PortEvent) { heard.push_back(2); });
    node.hca.on_event([&](PortEvent) { heard.push_back(3); });
    node.set_p_keys({0x8123});
    CHECK(heard == std::vector{1, 3});
}

TEST_CASE("Adapter: the tap sees every frame sent and every one that arrives, dropped or not") {
    Member node;
    std::vector<bool> seen;
    node.hca.tap = [&](const Frame&, bool is_sent) { seen.push_back(is_sent); };
    node.hca.receive(without_crcs(node.unicast().set(Lrh::dlid, 10)));
    node.hca.send(without_crcs(node.multicast()));
    node.loop.run_for(std::chrono::seconds{1});
    CHECK(seen == std::vector{false, true});
}

TEST_CASE("Adapter: one that is gone leaves no frame in flight behind") {
    Loop loop;
    Cable cable;
    auto node = std::make_unique<Member>();
    auto hca = std::make_unique<Hca>(loop, HcaConfig{.port_guid = test_guid});
    loop.deliver(std::chrono::seconds{1}, *hca, without_crcs(node->unicast()));
    hca.reset();
    loop.run_for(std::chrono::seconds{2});
    node->hca.send(without_crcs(node->multicast()));
    node.reset();
    CHECK(loop.now() == std::chrono::seconds{2});
}

}  // namespace
}  // namespace ipoib::fabric
