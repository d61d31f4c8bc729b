// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/node/test_member.hpp"

namespace ipoib::fabric {
namespace {

using namespace testing;

TEST_CASE("Adapter: a multicast packet reaches those attached to its group") {
    Member node;
    Taker attached{node.hca}, elsewhere{node.hca};
    REQUIRE(node.hca.attach(*attached.queue_pair, node.mgid, group_mlid));
    REQUIRE(node.hca.attach(*elsewhere.queue_pair, mgid_for_ipv4(0xe0000106, 0xffff, 2), group_mlid));
    CHECK(node.takes(node.multicast()));
    CHECK(attached.count == 1);
    CHECK(elsewhere.count == 0);

    CHECK_FALSE(node.takes(node.multicast().set(Lrh::dlid, group_mlid + 1)));
    CHECK(node.hca.drops().unattached == 1);
    node.hca.detach(*node.taker.queue_pair, node.mgid, group_mlid);
    CHECK_FALSE(node.takes(node.multicast()));
    CHECK(attached.count == 2);
}

/// What one wrong adapter takes, and a right one does not.
struct Wrong {
    const char* name;
    bool HcaBehaviour::*right;
    std::uint64_t HcaDrops::*counter;
    PacketBuilder (*packet)(const Member&);
};

TEST_CASE("Adapter: each wrong behaviour takes just what a right adapter drops") {
    const Wrong all[] = {
        {"DestQP", &HcaBehaviour::discards_wrong_dest_qp, &HcaDrops::dest_qp,
         [](const Member& m) { return m.multicast().set(Bth::dest_qp, 0x48); }},
        {"MGID", &HcaBehaviour::discards_unattached_mgid, &HcaDrops::unattached,
         [](const Member& m) { return m.multicast().set(Grh::dgid, mgid_for_ipv4(0xe0000109, 0xffff, 2)); }},
        {"Q_Key", &HcaBehaviour::discards_wrong_q_key, &HcaDrops::q_key,
         [](const Member& m) { return m.multicast().set(Deth::q_key, 1); }},
        {"P_Key", &HcaBehaviour::discards_wrong_p_key, &HcaDrops::p_key,
         [](const Member& m) { return m.multicast().set(Bth::p_key, 0x8001); }},
        {"GRH", &HcaBehaviour::discards_multicast_without_grh, &HcaDrops::no_grh,
         [](const Member& m) { return m.multicast().remove<Grh>(); }},
    };
    for (const auto& wrong : all) {
        CAPTURE(wrong.name);
        Member right;
        CHECK_FALSE(right.takes(wrong.packet(right)));
        CHECK(right.hca.drops().*wrong.counter == 1);
        HcaBehaviour behaviour;
        behaviour.*wrong.right = false;
        Member mutant{behaviour};
        CHECK(mutant.takes(wrong.packet(mutant)));
        CHECK(mutant.hca.drops().*wrong.counter == 0);
        // It is wrong in that alone.
        for (const auto& other : all)
            if (other.right != wrong.right && other.right != &HcaBehaviour::discards_unattached_mgid)
                CHECK_FALSE(mutant.takes(other.packet(mutant)));
    }
}

TEST_CASE("Adapter: one that delivers to the first attached queue pair leaves the others out") {
    Member node{{.delivers_to_all_attached = false}};
    Taker second{node.hca};
    REQUIRE(node.hca.attach(*second.queue_pair, node.mgid, group_mlid));
    CHECK(node.takes(node.multicast()));
    CHECK(second.count == 0);
}

TEST_CASE("Adapter: the attach table has room for its limit, each attachment counted once") {
    for (const bool enforces : {true, false}) {
        Node node{{.port_guid = test_guid, .attach_limit = 2}, {.enforces_attach_limit = enforces}};
        Taker first{node.hca}, second{node.hca};
        const auto mgid = [](std::uint32_t n) { return mgid_for_ipv4(0xe0000100 + n, 0xffff, 2); };
        CHECK(node.hca.attach(*first.queue_pair, mgid(1), 0xc001));
        CHECK(node.hca.attach(*first.queue_pair, mgid(1), 0xc001));
        CHECK(node.hca.attach(*second.queue_pair, mgid(1), 0xc001));
        CHECK(node.hca.attach(*first.queue_pair, mgid(2), 0xc002) == !enforces);
        CHECK(node.hca.attach(*first.queue_pair, mgid(1), 0xc001));
        node.hca.destroy(second.queue_pair);
        CHECK(node.hca.attach(*first.queue_pair, mgid(2), 0xc002));
        CHECK(node.hca.attach(*first.queue_pair, mgid(3), 0xc003) == !enforces);
        node.hca.detach(*first.queue_pair, mgid(2), 0xc009);
        CHECK(node.hca.attach(*first.queue_pair, mgid(3), 0xc003) == !enforces);
        node.hca.detach(*first.queue_pair, mgid(2), 0xc002);
        CHECK(node.hca.attach(*first.queue_pair, mgid(3), 0xc003));
    }
}

TEST_CASE("Adapter: what is multicast comes back to the other attached queue pairs of the sender's adapter") {
    for (const bool loops_back : {true, false}) {
        Member node{{.loops_back = loops_back}};
        Taker other{node.hca}, stranger{node.hca};
        REQUIRE(node.hca.attach(*other.queue_pair, node.mgid, group_mlid));
        node.hca.send(without_crcs(node.multicast()), node.taker.queue_pair);
        // Not within the call: whoever sends need not expect to receive.
        CHECK(other.count == 0);
        node.loop.run_for(std::chrono::seconds{1});
        CHECK(node.taker.count == 0);
        CHECK(other.count == (loops_back ? 1 : 0));
        CHECK(stranger.count == 0);
        CHECK(node.cable.sent.size() == 1);

        node.hca.send(without_crcs(node.multicast()));
        node.loop.run_for(std::chrono::seconds{1});
        CHECK(node.taker.count == (loops_back ? 1 : 0));
        CHECK(other.count == (loops_back ? 2 : 0));
        CHECK(node.cable.sent.size() == 2);
    }
}

TEST_CASE("Adapter: what comes back is judged as what arrives") {
    Member node;
    Taker other{node.hca};
    REQUIRE(node.hca.attach(*other.queue_pair, node.mgid, group_mlid));
    node.hca.send(without_crcs(node.multicast().set(Deth::q_key, 1)), node.taker.queue_pair);
    node.hca.send(without_crcs(node.multicast().set(Bth::dest_qp, 5)), node.taker.queue_pair);
    node.loop.run_for(std::chrono::seconds{1});
    CHECK(other.count == 0);
    CHECK(node.hca.drops().q_key == 1);
    CHECK(node.hca.drops().dest_qp == 1);
}

TEST_CASE("Adapter: unicast to the own LID comes back and does not leave") {
    Member node;
    Taker other{node.hca};
    auto own = node.address(other.queue_pair->qpn);
    node.hca.send(without_crcs(build::udp(own, own, plain, 8)), node.taker.queue_pair);
    node.loop.run_for(std::chrono::seconds{1});
    CHECK(other.count == 1);
    CHECK(node.cable.sent.empty());
}

TEST_CASE("Adapter: a queue pair that is destroyed while packets are handed out gets none") {
    Member node;
    // Each of two destroys the other: whoever is first stays alone.
    QueuePair *first = nullptr, *second = nullptr;
    int taken = 0;
    first = node.hca.create(0x0b1b, 0xffff, [&](const Datagram&) {
        ++taken;
        node.hca.destroy(second);
        node.hca.destroy(first);
    });
    second = node.hca.create(0x0b1b, 0xffff, [&](const Datagram&) { ++taken; });
    REQUIRE(node.hca.attach(*first, node.mgid, group_mlid));
    REQUIRE(node.hca.attach(*second, node.mgid, group_mlid));
    CHECK(node.takes(node.multicast()));
    CHECK(taken == 1);
    CHECK(node.takes(node.multicast()));
    CHECK(taken == 1);
}

TEST_CASE("Adapter: a thousand of them take the same broadcast frame, each its own way") {
    const auto mgid = broadcast_gid(0xffff, 2);
    auto packet = build::arp_request(peer(), 0x0a010009, plain);
    const auto frame = without_crcs(packet);
    std::vector<std::unique_ptr<Node>> nodes;
    int taken = 0;
    for (int i = 0; i < 1000; ++i) {
        auto node = std::make_unique<Node>();
        node->bring_up();
        auto* queue_pair = node->hca.create(0x0b1b, 0xffff, [&](const Datagram& d) {
            if (d.packet->arp && d.packet->octets.data() == frame.octets().data()) ++taken;
        });
        if (i % 2 == 0) REQUIRE(node->hca.attach(*queue_pair, mgid, 0xc000));
        nodes.push_back(std::move(node));
    }
    for (auto& node : nodes) node->hca.receive(frame);
    CHECK(taken == 500);
}

}  // namespace
}  // namespace ipoib::fabric
