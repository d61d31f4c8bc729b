// SPDX-License-Identifier: GPL-2.0-or-later
// The table of actions.
#include "conformance/explore/action.hpp"

#include "conformance/explore/world.hpp"
#include "protocol/wire/sa.hpp"

#include <algorithm>

namespace ipoib::conformance::explore {
namespace {

using namespace std::chrono_literals;
using Values = std::vector<std::uint32_t>;

std::chrono::milliseconds ms(std::uint32_t value) { return std::chrono::milliseconds{value}; }

const Values both{0, 1}, to_join{0, 1, 2, 3}, any_group{0, 1, 2, 3, 4, 5}, few{1, 2, 4}, positions{0, 1, 2, 3, 5, 8},
    shares{20, 50, 90}, short_times{20, 300, 1500}, long_times{300, 1500, 5000}, silences{300, 1500, 5000, 12000},
    mtus{576, 1280, 1500, 2044};

/// A datagram that nobody looks for.
void say(World& world, unsigned node, const wire::IpAddress& to) {
    constexpr std::array<std::uint8_t, 32> nothing{};
    world.send(node, to, nothing);
}

/// Until then, and not beyond the storm.
void for_a_while(World& world, std::uint32_t milliseconds, void (*end)(fabric::SaFaults&)) {
    world.later(ms(milliseconds), [&world, end] { end(world.subnet().sa().faults); });
}

void cast(World& world, Spell spell) { world.dut().cable().cast(spell); }

/// On all that the DUT sends and gets, by chance, for a while.
void cast_on_all(World& world, Spell spell, std::uint32_t milliseconds) {
    spell.until = world.loop().now() + ms(milliseconds);
    spell.count = ~0u;
    for (const bool to_node : {false, true})
        for (const bool only_mads : {false, true}) {
            spell.to_node = to_node;
            spell.only_mads = only_mads;
            cast(world, spell);
        }
}

fabric::Partition broadcast_like(World& world, std::uint32_t q_key, std::uint32_t mtu) {
    auto like = world.subnet().scenario().link;
    like.q_key += q_key;
    like.mtu = static_cast<std::uint8_t>(std::min<std::uint32_t>(mtu, like.mtu));
    return like;
}

const std::vector<Action> table{
    // What the DUT is told.
    {.name = "up",
     .kind = operation,
     .words = "the DUT's interface is told to come up",
     .arguments = {},
     .act = [](World& world, const Step&) { world.up(); }},
    {.name = "down",
     .kind = operation,
     .words = "the DUT's interface is taken down",
     .arguments = {},
     .act = [](World& world, const Step&) { world.down(); }},
    {.name = "join",
     .kind = operation,
     .words = "a program of the DUT joins group {}",
     .arguments = {{"group", to_join}},
     .act = [](World& world, const Step& step) { world.join(step.arguments[0]); }},
    {.name = "leave",
     .kind = operation,
     .words = "it leaves group {}",
     .arguments = {{"group", to_join}},
     .act = [](World& world, const Step& step) { world.leave(step.arguments[0]); }},
    {.name = "send-group",
     .kind = operation,
     .words = "the DUT sends to group {}",
     .arguments = {{"group", any_group}},
     .act = [](World& world, const Step& step) { say(world, 0, group_address(step.arguments[0])); }},
    {.name = "burst",
     .kind = operation,
     .words = "the DUT sends 100 datagrams to group {} at once",
     .arguments = {{"group", any_group}},
     .act =
         [](World& world, const Step& step) {
             for (int i = 0; i < 100; ++i) say(world, 0, group_address(step.arguments[0]));
         }},
    {.name = "send-unicast",
     .kind = operation,
     .words = "the DUT sends to peer {}, in both families",
     .arguments = {{"peer", both}},
     .act =
         [](World& world, const Step& step) {
             for (const bool is_v4 : {true, false}) say(world, 0, world.peer(step.arguments[0]).address(is_v4));
         }},
    {.name = "peer-sends",
     .kind = operation,
     .words = "peer {} sends to the DUT, in both families, and to all",
     .arguments = {{"peer", both}},
     .act =
         [](World& world, const Step& step) {
             const auto peer = step.arguments[0] + 1;
             for (const bool is_v4 : {true, false}) say(world, peer, world.dut().address(is_v4));
             say(world, peer, wire::IpAddress::v4(0xffffffff));
         }},
    {.name = "set-mtu",
     .kind = operation,
     .words = "the MTU of the DUT's interface is set to {}",
     .arguments = {{"octets", mtus}},
     .act =
         [](World& world, const Step& step) {
             if (world.dut().set_mtu(step.arguments[0])) world.wanted().mtu = step.arguments[0];
         }},
    {.name = "flush-neighbours",
     .kind = operation,
     .words = "the DUT's neighbours are forgotten",
     .arguments = {},
     .act = [](World& world, const Step&) { world.dut().flush_neighbours(); }},
    // The subnet manager.
    {.name = "sm-restart",
     .kind = "sm",
     .words = "the subnet manager restarts with an empty database, and asks all ports to reregister",
     .arguments = {},
     .act = [](World& world, const Step&) { world.start_manager(false); }},
    {.name = "sm-reregister",
     .kind = "sm",
     .words = "the subnet manager restarts with what it knew, and asks all ports to reregister",
     .arguments = {},
     .act = [](World& world, const Step&) { world.start_manager(true); }},
    {.name = "sm-stop",
     .kind = "sm",
     .words = "the subnet manager stops for {} ms; an empty one follows",
     .arguments = {{"ms", long_times}},
     .act =
         [](World& world, const Step& step) {
             world.stop_manager();
             world.later(ms(step.arguments[0]), [&world] { world.start_manager(false); });
         }},
    {.name = "sm-elsewhere",
     .kind = "sm",
     .words = "another subnet manager takes over, at another LID and with an empty database",
     .arguments = {},
     .act = [](World& world, const Step&) { world.let_another_manager_take_over(); }},
    {.name = "sm-other-lids",
     .kind = "sm",
     .words = "the subnet manager restarts with an empty database, and gives the ports of all nodes other LIDs",
     .arguments = {},
     .act = [](World& world, const Step&) { world.give_other_lids(); }},
    {.name = "prefix",
     .kind = "sm",
     .words = "the subnet manager starts with an empty database, and gives the subnet prefix number {}",
     .arguments = {{"number", {0, 1, 2}}},
     .act = [](World& world, const Step& step) { world.set_prefix(step.arguments[0]); }},
    {.name = "lid-change",
     .kind = "sm",
     .words = "the DUT's port gets another LID",
     .arguments = {},
     .act = [](World& world, const Step&) { static_cast<void>(world.subnet().move_lid(world.dut().guid())); }},
    {.name = "peer-lid-change",
     .kind = "sm",
     .words = "the port of peer {} gets another LID",
     .arguments = {{"peer", both}},
     .act = [](World& world, const Step& step) { world.move_peer_lid(step.arguments[0]); }},
    // The DUT's port.
    {.name = "port-bounce",
     .kind = "port",
     .words = "the link of the DUT's port is down for {} ms",
     .arguments = {{"ms", short_times}},
     .act =
         [](World& world, const Step& step) {
             static_cast<void>(world.subnet().set_link(world.dut().guid(), false));
             world.later(ms(step.arguments[0]),
                         [&world] { static_cast<void>(world.subnet().set_link(world.dut().guid(), true)); });
         }},
    {.name = "port-down",
     .kind = "port",
     .words = "the link of the DUT's port goes down",
     .arguments = {},
     .act = [](World& world, const Step&) { static_cast<void>(world.subnet().set_link(world.dut().guid(), false)); }},
    {.name = "port-up",
     .kind = "port",
     .words = "the link of the DUT's port is up",
     .arguments = {},
     .act = [](World& world, const Step&) { static_cast<void>(world.subnet().set_link(world.dut().guid(), true)); }},
    {.name = "peer-port-bounce",
     .kind = "port",
     .words = "the link of peer {} is down for {} ms",
     .arguments = {{"peer", both}, {"ms", short_times}},
     .act =
         [](World& world, const Step& step) {
             const auto number = step.arguments[0];
             static_cast<void>(world.subnet().set_link(world.peer(number).guid(), false));
             world.later(ms(step.arguments[1]), [&world, number] {
                 static_cast<void>(world.subnet().set_link(world.peer(number).guid(), true));
             });
         }},
    // P_Keys.
    {.name = "pkey-remove",
     .kind = "pkey",
     .words = "the DUT's port loses the P_Key of the link",
     .arguments = {},
     .act = [](World& world, const Step&) { world.set_p_key(false); }},
    {.name = "pkey-add",
     .kind = "pkey",
     .words = "the DUT's port has the P_Key of the link again",
     .arguments = {},
     .act = [](World& world, const Step&) { world.set_p_key(true); }},
    {.name = "pkey-first",
     .kind = "pkey",
     .words = "another P_Key has the first place in the table of the DUT's port for {} ms, and a broadcast group",
     .arguments = {{"ms", long_times}},
     .act =
         [](World& world, const Step& step) {
             world.put_another_p_key_first();
             world.later(ms(step.arguments[0]), [&world] { world.put_first_p_key_back(); });
         }},
    // Groups.
    {.name = "broadcast-anew",
     .kind = "group",
     .words = "the broadcast group is deleted and made anew with another MLID, a Q_Key higher by {} and the MTU code "
              "{} at most; all are asked to reregister",
     .arguments = {{"q_key", {0, 5}}, {"mtu", {3, 4}}},
     .act =
         [](World& world, const Step& step) {
             // Groups that were made like it before would be told apart from it.
             world.delete_all_groups();
             world.make_anew(world.broadcast_gid(), broadcast_like(world, step.arguments[0], step.arguments[1]));
             world.start_manager(true);
         }},
    {.name = "broadcast-delete",
     .kind = "group",
     .words = "the broadcast group is deleted; it is made anew {} ms later, and all are asked to reregister",
     .arguments = {{"ms", long_times}},
     .act =
         [](World& world, const Step& step) {
             world.delete_all_groups();
             world.delete_group(world.broadcast_gid());
             world.later(ms(step.arguments[0]), [&world] { world.tend(); });
         }},
    {.name = "group-delete",
     .kind = "group",
     .words = "group {} is deleted at the subnet administrator",
     .arguments = {{"group", any_group}},
     .act = [](World& world, const Step& step) { world.delete_group(world.mgid(step.arguments[0])); }},
    {.name = "group-anew",
     .kind = "group",
     .words = "group {} is deleted at the subnet administrator and made anew with another MLID",
     .arguments = {{"group", any_group}},
     .act = [](World& world,
               const Step& step) { world.make_anew(world.mgid(step.arguments[0]), world.like_broadcast()); }},
    // The subnet administrator.
    {.name = "sa-silent",
     .kind = "sa",
     .words = "the subnet administrator answers nothing for {} ms",
     .arguments = {{"ms", silences}},
     .act =
         [](World& world, const Step& step) {
             world.subnet().sa().faults.is_silent = true;
             for_a_while(world, step.arguments[0], [](fabric::SaFaults& faults) { faults.is_silent = false; });
         }},
    {.name = "sa-slow",
     .kind = "sa",
     .words = "the subnet administrator answers {} ms late, for {} ms",
     .arguments = {{"late", {100, 700, 1400}}, {"ms", long_times}},
     .act =
         [](World& world, const Step& step) {
             world.subnet().sa().faults.delay = ms(step.arguments[0]);
             for_a_while(world, step.arguments[1], [](fabric::SaFaults& faults) { faults.delay = {}; });
         }},
    {.name = "sa-refuse",
     .kind = "sa",
     .words = "the subnet administrator refuses all joins for {} ms, for want of resources",
     .arguments = {{"ms", long_times}},
     .act =
         [](World& world, const Step& step) {
             world.subnet().sa().faults.refuse_joins = wire::sa_status::no_resources;
             world.subnet().sa().faults.refuse_only = {};
             world.later(ms(step.arguments[0]), [&world] { world.let_join(); });
         }},
    {.name = "group-refused",
     .kind = "sa",
     .words = "the subnet manager restarts with an empty database, and refuses the joins of group {} from then on",
     .arguments = {{"group", to_join}},
     .act = [](World& world, const Step& step) { world.refuse_group(group_address(step.arguments[0])); }},
    {.name = "hosts-refused",
     .kind = "sa",
     .words = "the subnet manager restarts with an empty database, and refuses the joins of the group of all hosts of "
              "IPv{} from then on",
     .arguments = {{"family", {4, 6}}},
     .act =
         [](World& world, const Step& step) {
             const auto is_v4 = step.arguments[0] <= 4;
             world.refuse_group(is_v4 ? wire::IpAddress::v4(0xe0000001)
                                      : wire::IpAddress::v6(wire::Gid::of(std::uint64_t{0xff02} << 48, 1)));
         }},
    {.name = "sa-drop",
     .kind = "sa",
     .words = "the subnet administrator drops {} requests",
     .arguments = {{"count", few}},
     .act = [](World& world, const Step& step) { world.subnet().sa().faults.drop_next = step.arguments[0]; }},
    {.name = "sa-busy",
     .kind = "sa",
     .words = "the subnet administrator is busy for {} requests",
     .arguments = {{"count", few}},
     .act = [](World& world, const Step& step) { world.subnet().sa().faults.busy_next = step.arguments[0]; }},
    // Frames.
    {.name = "lose-request",
     .kind = "frames",
     .words = "after {} more requests of the DUT, {} are lost",
     .arguments = {{"after", positions}, {"count", few}},
     .act =
         [](World& world, const Step& step) {
             cast(world, {.what = Spell::What::lose,
                          .to_node = false,
                          .only_mads = true,
                          .skip = step.arguments[0],
                          .count = step.arguments[1]});
         }},
    {.name = "lose-answer",
     .kind = "frames",
     .words = "after {} more answers to the DUT, {} are lost",
     .arguments = {{"after", positions}, {"count", few}},
     .act =
         [](World& world, const Step& step) {
             cast(world, {.what = Spell::What::lose,
                          .to_node = true,
                          .only_mads = true,
                          .skip = step.arguments[0],
                          .count = step.arguments[1]});
         }},
    {.name = "late-answer",
     .kind = "frames",
     .words = "after {} more answers to the DUT, the next comes {} ms late",
     .arguments = {{"after", positions}, {"ms", {20, 900, 2500}}},
     .act =
         [](World& world, const Step& step) {
             cast(world, {.what = Spell::What::hold,
                          .to_node = true,
                          .only_mads = true,
                          .skip = step.arguments[0],
                          .hold = ms(step.arguments[1])});
         }},
    {.name = "double-answer",
     .kind = "frames",
     .words = "after {} more answers to the DUT, {} come twice",
     .arguments = {{"after", positions}, {"count", few}},
     .act =
         [](World& world, const Step& step) {
             cast(world, {.what = Spell::What::repeat,
                          .to_node = true,
                          .only_mads = true,
                          .skip = step.arguments[0],
                          .count = step.arguments[1]});
         }},
    {.name = "lose-data",
     .kind = "frames",
     .words = "after {} more packets to the DUT, {} are lost",
     .arguments = {{"after", positions}, {"count", few}},
     .act =
         [](World& world, const Step& step) {
             cast(world, {.what = Spell::What::lose,
                          .to_node = true,
                          .only_mads = false,
                          .skip = step.arguments[0],
                          .count = step.arguments[1]});
         }},
    {.name = "lose-sent-data",
     .kind = "frames",
     .words = "after {} more packets of the DUT, {} are lost",
     .arguments = {{"after", positions}, {"count", few}},
     .act =
         [](World& world, const Step& step) {
             cast(world, {.what = Spell::What::lose,
                          .to_node = false,
                          .only_mads = false,
                          .skip = step.arguments[0],
                          .count = step.arguments[1]});
         }},
    {.name = "damage-data",
     .kind = "frames",
     .words = "after {} more UDP datagrams to the DUT, {} come with another octet than their checksum says",
     .arguments = {{"after", positions}, {"count", few}},
     .act =
         [](World& world, const Step& step) {
             cast(world, {.what = Spell::What::damage,
                          .to_node = true,
                          .only_mads = false,
                          .skip = step.arguments[0],
                          .count = step.arguments[1]});
         }},
    {.name = "loss",
     .kind = "frames",
     .words = "{} % of the frames at the DUT's port are lost, for {} ms",
     .arguments = {{"percent", shares}, {"ms", long_times}},
     .act =
         [](World& world, const Step& step) {
             cast_on_all(world, {.what = Spell::What::lose, .percent = step.arguments[0]}, step.arguments[1]);
         }},
    {.name = "duplication",
     .kind = "frames",
     .words = "{} % of the frames at the DUT's port come twice, for {} ms",
     .arguments = {{"percent", shares}, {"ms", long_times}},
     .act =
         [](World& world, const Step& step) {
             cast_on_all(world, {.what = Spell::What::repeat, .percent = step.arguments[0]}, step.arguments[1]);
         }},
    {.name = "reordering",
     .kind = "frames",
     .words = "{} % of the frames at the DUT's port come behind the next ones, for {} ms",
     .arguments = {{"percent", shares}, {"ms", long_times}},
     .act =
         [](World& world, const Step& step) {
             cast_on_all(world, {.what = Spell::What::hold, .percent = step.arguments[0], .hold = 3ms},
                         step.arguments[1]);
         }},
    // Peers.
    {.name = "peer-restart",
     .kind = "peer",
     .words = "peer {} restarts, with another queue pair",
     .arguments = {{"peer", both}},
     .act = [](World& world, const Step& step) { world.restart_peer(step.arguments[0]); }},
    {.name = "peer-move",
     .kind = "peer",
     .words = "the addresses of peer {} move to another adapter",
     .arguments = {{"peer", both}},
     .act = [](World& world, const Step& step) { world.move_peer(step.arguments[0]); }},
};

}  // namespace

std::span<const Action> all_actions() { return table; }

const Action* find_action(std::string_view name) {
    const auto found = std::ranges::find(table, name, &Action::name);
    return found == table.end() ? nullptr : &*found;
}

std::vector<std::string_view> event_kinds() {
    std::vector<std::string_view> kinds;
    for (const auto& action : table)
        if (action.kind != operation && std::ranges::find(kinds, action.kind) == kinds.end())
            kinds.push_back(action.kind);
    return kinds;
}

}  // namespace ipoib::conformance::explore
