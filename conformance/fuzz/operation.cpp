// SPDX-License-Identifier: GPL-2.0-or-later
// The table of verbs.
#include "conformance/fuzz/operation.hpp"

#include "conformance/fuzz/arena.hpp"
#include "conformance/fuzz/lie.hpp"
#include "conformance/fuzz/material.hpp"

#include <algorithm>
#include <array>

namespace ipoib::conformance::fuzz {
using namespace wire;

namespace {

constexpr std::uint16_t discard_port = 9;
constexpr std::uint32_t first_group = 0xef070800;  ///< 239.7.8.0
constexpr std::uint32_t longest_ms = 3000;

build::PacketBuilder packet_of(Scene& scene, const Operation& operation) {
    ++scene.number;
    if (operation.packet.empty()) return made_to_fit(scene, operation.octets);
    return find_material(operation.packet)->make(scene);
}

void send(Arena& arena, const Operation& operation) {
    Lies lies(operation.lies);
    for (std::uint32_t i = 0; i < operation.times; ++i) {
        arena.send(lies.build(packet_of(arena.scene(), operation)));
        // One after the other gets there, also over connections.
        constexpr std::uint32_t at_once = 8;
        if (i % at_once == at_once - 1) arena.loop().run_for(std::chrono::milliseconds{1});
    }
}

IpAddress group(std::uint32_t number) { return IpAddress::v4(first_group + number); }

void send_datagram(Arena& arena, const IpAddress& to, std::uint32_t size) {
    const auto payload = build::pattern(size);
    arena.ask([&](Dut& dut) { dut.send(to, discard_port, payload); });
}

void make_child(Arena& arena, const Operation& operation) {
    constexpr std::uint16_t full_member = 0x8000;
    constexpr std::size_t most_children = 3;
    if (arena.children.size() >= most_children) return;
    const auto p_key = static_cast<std::uint16_t>(full_member | operation.value);
    static_cast<void>(arena.subnet().add_p_key(arena.guid(), p_key));
    arena.loop().run_for(std::chrono::milliseconds{20});
    arena.ask([&](Dut& dut) { arena.children.push_back(dut.create_child(p_key)); });
}

void delete_child(Arena& arena, const Operation&) {
    if (arena.children.empty()) return;
    arena.ask([&](Dut& dut) { dut.delete_child(arena.children.back()); });
    arena.children.pop_back();
}

void bounce(Arena& arena, const Operation& operation) {
    static_cast<void>(arena.subnet().set_link(arena.guid(), false));
    arena.later(operation.value, [&arena] { static_cast<void>(arena.subnet().set_link(arena.guid(), true)); });
}

void lose_p_key(Arena& arena, const Operation& operation) {
    const auto p_key = arena.scene().link.p_key;
    static_cast<void>(arena.subnet().remove_p_key(arena.guid(), p_key));
    arena.later(operation.value, [&arena, p_key] { static_cast<void>(arena.subnet().add_p_key(arena.guid(), p_key)); });
}

/// For so long.
template <class Fault>
void fault_for(Arena& arena, std::uint32_t milliseconds, const Fault& fault) {
    fault(arena.subnet().sa().faults);
    arena.later(milliseconds, [&arena] { arena.subnet().sa().faults = {}; });
}

constexpr std::array verbs{
    Verb{"send", "a packet is sent to the node", Area::datagrams, 0, 0, send, true},
    Verb{"answers", "lies in what others say to the node", Area::administration, 0, 0,
         [](Arena& a, const Operation& o) {
             a.taps().cast({.of = o.of, .lies = o.lies, .after = o.after, .times = o.times});
         },
         true},
    Verb{"wait", "{} ms pass", Area::datagrams, 1, longest_ms,
         [](Arena& a, const Operation& o) { a.loop().run_for(std::chrono::milliseconds{o.value}); }},
    Verb{"settle", "all is as it was, as between two sessions", Area::datagrams, 0, 0,
         [](Arena& a, const Operation&) { a.settle(); }},
    Verb{"down", "the interface is taken down", Area::host, 0, 0,
         [](Arena& a, const Operation&) { a.ask([](Dut& d) { d.down(); }); }},
    Verb{"up", "the interface is told to come up", Area::host, 0, 0,
         [](Arena& a, const Operation&) { a.ask([](Dut& d) { d.up(); }); }},
    Verb{"mtu", "the interface's MTU is set to {}", Area::host, 68, 65520,
         [](Arena& a, const Operation& o) { a.ask([&](Dut& d) { d.set_mtu(o.value); }); }},
    Verb{"mode", "the interface's mode is set: 0 datagram, 1 connected", Area::host, 0, 1,
         [](Arena& a, const Operation& o) { a.ask([&](Dut& d) { d.set_mode(o.value ? "connected" : "datagram"); }); }},
    Verb{"join", "a program joins group {}", Area::host, 1, 8,
         [](Arena& a, const Operation& o) { a.ask([&](Dut& d) { d.join(group(o.value)); }); }},
    Verb{"leave", "a program leaves group {}", Area::host, 1, 8,
         [](Arena& a, const Operation& o) { a.ask([&](Dut& d) { d.leave(group(o.value)); }); }},
    Verb{"node-sends", "the node sends {} octets to the fuzzer", Area::host, 1, 1900,
         [](Arena& a, const Operation& o) { send_datagram(a, IpAddress::v4(a.scene().self.ipv4), o.value); }},
    Verb{"node-sends-beyond", "the node sends to an address that nobody has, {} of them", Area::host, 1, 50,
         [](Arena& a, const Operation& o) {
             send_datagram(a, IpAddress::v4((a.scene().dut.ipv4 & ~std::uint32_t{0xff}) | (100 + o.value)), o.value);
         }},
    Verb{"node-sends-to-group", "the node sends to group {}", Area::host, 1, 100,
         [](Arena& a, const Operation& o) { send_datagram(a, group(o.value), 40); }},
    Verb{"flush-neighbours", "the node's neighbours are forgotten", Area::host, 0, 0,
         [](Arena& a, const Operation&) { a.ask([](Dut& d) { d.flush_neighbours(); }); }},
    Verb{"make-child", "an interface is made for another partition, {}", Area::host, 1, 0x7ffe, make_child},
    Verb{"delete-child", "such an interface is deleted", Area::host, 0, 0, delete_child},
    Verb{"link-bounce", "the link is down for {} ms", Area::link, 1, longest_ms, bounce},
    Verb{"p-key-lost", "the port has not the link's P_Key for {} ms", Area::link, 1, longest_ms, lose_p_key},
    Verb{"replug", "the cable is out and in again", Area::link, 0, 0,
         [](Arena& a, const Operation&) { a.taps().replug(); }},
    Verb{"manager-restart", "the subnet manager restarts, with an empty database", Area::link, 0, 0,
         [](Arena& a, const Operation&) { a.subnet().start_manager(false); }},
    Verb{"reregister", "the subnet manager asks all ports to reregister", Area::link, 0, 0,
         [](Arena& a, const Operation&) { a.subnet().start_manager(true); }},
    Verb{"group-deleted", "group {} is deleted at the administrator; 0: the broadcast group", Area::administration, 0,
         8,
         [](Arena& a, const Operation& o) {
             const auto& link = a.scene().link;
             a.subnet().sa().delete_group(o.value == 0 ? link.broadcast_gid()
                                                       : mgid_for_ipv4(group(o.value).v4(), link.p_key, link.scope));
         }},
    Verb{"administrator-silent", "the administrator answers nothing for {} ms", Area::administration, 1, longest_ms,
         [](Arena& a, const Operation& o) { fault_for(a, o.value, [](auto& faults) { faults.is_silent = true; }); }},
    Verb{"administrator-refuses", "it refuses all joins for {} ms", Area::administration, 1, longest_ms,
         [](Arena& a, const Operation& o) {
             fault_for(a, o.value, [](auto& faults) { faults.refuse_joins = sa_status::no_resources; });
         }},
    Verb{"administrator-busy", "it is busy for {} requests", Area::administration, 1, 20,
         [](Arena& a, const Operation& o) { a.subnet().sa().faults.busy_next = o.value; }},
    Verb{"administrator-late", "it answers {} ms late", Area::administration, 1, longest_ms,
         [](Arena& a, const Operation& o) { a.subnet().sa().faults.delay = std::chrono::milliseconds{o.value}; }},
};

}  // namespace

std::span<const Verb> all_verbs() { return verbs; }

const Verb* find_verb(std::string_view name) {
    const auto found = std::ranges::find(verbs, name, &Verb::name);
    return found == verbs.end() ? nullptr : &*found;
}

}  // namespace ipoib::conformance::fuzz
