// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/simulated/routing.hpp"

#include "catch2.hpp"

namespace ipoib::fabric::simulated {
namespace {

using namespace wire;

constexpr std::uint16_t mlid = 0xc021;
constexpr std::uint8_t up = 1;

/// Three levels: the top, `left` at its port 30 and `right` at its port 31, `far` at port 30 of `right`.
struct Tree {
    Tree() {
        top = routing.add({.ports = 36});
        left = routing.add({.parent = top, .parent_port = 30, .uplink = up, .ports = 36});
        right = routing.add({.parent = top, .parent_port = 31, .uplink = up, .ports = 36});
        far = routing.add({.parent = right, .parent_port = 30, .uplink = up, .ports = 36});
        routing.place(0x10, top, 10);
        routing.place(0x11, left, 11);
        routing.place(0x12, right, 12);
        routing.place(0x13, far, 20);
        (void)routing.take_changes();
    }
    [[nodiscard]] unsigned port(Routing::Index at, std::uint16_t lid) const {
        OctetArray<64> data{};
        routing.fill({at, smp_attribute::linear_forwarding_table, std::uint32_t{lid} / 64}, data);
        return LinearBlock::read(data, lid % 64);
    }
    /// The ports that a switch copies the group's packets to.
    [[nodiscard]] std::vector<unsigned> copies(Routing::Index at) const {
        std::vector<unsigned> found;
        for (std::uint8_t position = 0; position < 3; ++position) {
            OctetArray<64> data{};
            const MulticastModifier where{.block = (mlid - 0xc000) / 32, .position = position};
            routing.fill({at, smp_attribute::multicast_forwarding_table, where.value()}, data);
            const unsigned mask = MulticastBlock::read(data, (mlid - 0xc000) % 32);
            for (unsigned i = 0; i < 16; ++i)
                if (mask >> i & 1) found.push_back(position * 16u + i);
        }
        return found;
    }
    Routing routing;
    Routing::Index top, left, right, far;
};
using Ports = std::vector<unsigned>;

TEST_CASE("Routing: every switch knows the port towards every LID") {
    const Tree tree;
    CHECK(tree.port(tree.top, 0x10) == 10);
    CHECK(tree.port(tree.top, 0x11) == 30);
    CHECK(tree.port(tree.top, 0x13) == 31);
    CHECK(tree.port(tree.left, 0x11) == 11);
    CHECK(tree.port(tree.left, 0x13) == up);
    CHECK(tree.port(tree.right, 0x13) == 30);
    CHECK(tree.port(tree.right, 0x11) == up);
    CHECK(tree.port(tree.far, 0x13) == 20);
    CHECK(tree.port(tree.far, 0x10) == up);
    CHECK(tree.port(tree.top, 0x20) == no_port);
}

TEST_CASE("Routing: a LID that is gone leads nowhere, and every switch is to be told") {
    Tree tree;
    tree.routing.remove(0x13);
    CHECK(tree.port(tree.top, 0x13) == no_port);
    CHECK(tree.port(tree.far, 0x13) == no_port);
    CHECK(tree.routing.take_changes().size() == 4);
    tree.routing.remove(0x13);
    CHECK(tree.routing.take_changes().empty());
}

TEST_CASE("Routing: a new switch is to be told of everything") {
    Tree tree;
    tree.routing.route(mlid, {{0x10, 0x11}, {}});
    (void)tree.routing.take_changes();
    const auto added = tree.routing.add({.parent = tree.far, .parent_port = 30, .uplink = up, .ports = 36});
    std::set<std::uint16_t> attributes;
    for (const auto& block : tree.routing.take_changes()) {
        CHECK(block.at == added);
        attributes.insert(block.attribute);
    }
    CHECK(attributes.size() == 2);
    CHECK(tree.port(added, 0x13) == up);
}

TEST_CASE("Routing: a group's packets reach its members by the ways between them and no others") {
    Tree tree;
    tree.routing.route(mlid, {{0x11, 0x13}, {}});
    CHECK(tree.copies(tree.left) == Ports{up, 11});
    CHECK(tree.copies(tree.top) == Ports{30, 31});
    CHECK(tree.copies(tree.right) == Ports{up, 30});
    CHECK(tree.copies(tree.far) == Ports{up, 20});

    SECTION("and none when it is over") {
        tree.routing.route(mlid, {});
        for (const auto at : {tree.top, tree.left, tree.right, tree.far}) CHECK(tree.copies(at).empty());
    }
}

TEST_CASE("Routing: members on one switch need no other") {
    Tree tree;
    tree.routing.place(0x14, tree.far, 21);
    tree.routing.route(mlid, {{0x13, 0x14}, {}});
    CHECK(tree.copies(tree.far) == Ports{20, 21});
    for (const auto at : {tree.top, tree.left, tree.right}) CHECK(tree.copies(at).empty());
}

TEST_CASE("Routing: a port that only sends is connected to the tree and gets no copy") {
    Tree tree;
    tree.routing.route(mlid, {{0x13}, {0x11}});
    CHECK(tree.copies(tree.left) == Ports{up});
    CHECK(tree.copies(tree.top) == Ports{31});
    CHECK(tree.copies(tree.right) == Ports{30});
    CHECK(tree.copies(tree.far) == Ports{20});
}

TEST_CASE("Routing: a port that receives and sends only counts once, as receiver") {
    Tree tree;
    tree.routing.route(mlid, {{0x11, 0x13}, {0x11}});
    CHECK(tree.copies(tree.left) == Ports{up, 11});
}

TEST_CASE("Routing: who may send is told for the ports of each switch") {
    Tree tree;
    tree.routing.route(mlid, {{0x13}, {0x11}});
    const auto senders = tree.routing.take_senders();
    REQUIRE(senders.size() == 2);
    CHECK(senders[0].at == tree.left);
    CHECK(senders[0].mlid == mlid);
    CHECK(senders[0].ports.has(11));
    CHECK(senders[1].at == tree.far);
    CHECK(senders[1].ports.has(20));
}

TEST_CASE("Routing: a member that moves takes its place in the tree along") {
    Tree tree;
    tree.routing.route(mlid, {{0x10, 0x13}, {}});
    tree.routing.remove(0x13);
    CHECK(tree.copies(tree.top) == Ports{10});
    tree.routing.place(0x13, tree.left, 13);
    CHECK(tree.copies(tree.top) == Ports{10, 30});
    CHECK(tree.copies(tree.left) == Ports{up, 13});
    CHECK(tree.copies(tree.far).empty());
}

TEST_CASE("Routing: only the blocks whose content changed are to be written") {
    Tree tree;
    tree.routing.route(mlid, {{0x10}, {}});
    const auto changed = tree.routing.take_changes();
    REQUIRE(changed.size() == 1);
    CHECK(*changed.begin() == Routing::Block{tree.top, smp_attribute::multicast_forwarding_table,
                                             MulticastModifier{.block = (mlid - 0xc000) / 32, .position = 0}.value()});
    tree.routing.route(mlid, {{0x10}, {}});
    CHECK(tree.routing.take_changes().empty());
}

TEST_CASE("Routing: LIDs that are none, or nowhere, are left out") {
    Tree tree;
    tree.routing.place(0, tree.top, 3);
    tree.routing.place(0xc000, tree.top, 3);
    tree.routing.route(0x0010, {{0x10, 0x11}, {}});
    tree.routing.route(0xffff, {{0x10, 0x11}, {}});
    CHECK(tree.routing.take_changes().empty());
    tree.routing.route(mlid, {{0x10, 0x99, 0xfffe}, {}});
    CHECK(tree.copies(tree.top) == Ports{10});
}

}  // namespace
}  // namespace ipoib::fabric::simulated
