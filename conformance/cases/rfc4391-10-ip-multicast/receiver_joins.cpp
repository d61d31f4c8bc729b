// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {
namespace {

/// Claims that a join gives these components: what its mask leaves out is not asked for, whatever the field holds.
Expectation giving(const Expectation& join, std::uint64_t components, const std::string& words) {
    return join.where(
        SaHeader::component_mask, [components](std::uint64_t mask, auto&) { return (mask & components) == components; },
        "with " + words);
}

}  // namespace

const Case receiver_joins_as_full_member{
    .id = "IPOIB-4391-10-VAL-007",
    .title = "A receiver joins the group as FullMember and gives a new group the link's parameters",
    .checks = {&rfc4391::receiver_full_member_join, &rfc4391::new_group_link_mtu,
               &rfc4391::new_group_broadcast_parameters, &rfc4391::new_group_other_attributes},
    .pass_if =
        "the DUT asks to join as FullMember, also when it has just left, with the broadcast group's MTU, P_Key, Q_Key, "
        "SL, HopLimit, TClass and FlowLabel, and the new group has its Rate and PacketLifeTime",
    .tags = {"sa", "mtu", "ipv4", "ipv6"},
    .needs = Ability::see_all,
    .dut_can = {"join"},
    .in_both_families = true,
    .steps =
        [](Bench& bench) {
            const auto& link = bench.link();
            const auto group = bench.fresh_group();
            const auto mgid = bench.mgid_of(group);
            const auto join = creating_join_of(mgid);
            bench.step("The DUT joins a group that does not exist yet", rfc4391::receiver_full_member_join);
            bench.dut.joins(group);
            bench.inspect(
                join_of(mgid).where(
                    McMemberRecord::join_state, [](auto state, auto&) { return (state & 1) != 0; }, "FullMember"),
                within(5s));
            bench.same_step("The MTU that it asks for", rfc4391::new_group_link_mtu);
            using component = McMemberRecord::component;
            bench.inspect(giving(join, component::mtu | component::mtu_selector, "MTU and its selector")
                              .with(McMemberRecord::mtu_selector, selector::exactly)
                              .with(McMemberRecord::mtu, link.mtu),
                          within(5s));
            bench.same_step("P_Key, Q_Key, SL and HopLimit", rfc4391::new_group_broadcast_parameters);
            // Whether "the same P_Key" (10) means the membership bit, too, is disputed.
            const auto broadcast = bench.sa.group(link.broadcast_gid());
            bench.precondition(broadcast.has_value(), "the SA tells of the broadcast group");
            const auto told = broadcast->record[McMemberRecord::p_key];
            const auto is_told = [told](std::uint16_t p_key, auto&) {
                return (p_key | full_membership) == (told | full_membership);
            };
            bench.inspect(giving(join, component::sl | component::hop_limit, "SL and HopLimit")
                              .where(McMemberRecord::p_key, is_told, hex(told, 4) + ", as the broadcast group")
                              .with(McMemberRecord::q_key, link.q_key)
                              .with(McMemberRecord::sl, link.sl)
                              .with(McMemberRecord::hop_limit, link.hop_limit)
                              .with(McMemberRecord::mtu, link.mtu),
                          within(5s));
            const auto asked =
                bench.obtain<McMemberRecord>(join, within(0ms), [](const Packet& p) { return p.mc_member; });
            const std::uint16_t p_key = asked[McMemberRecord::p_key];
            if (p_key != told && p_key != (told | full_membership))
                bench.recommend(false, "P_Key " + hex(told, 4), hex(p_key, 4) + ", without its membership bit");
            bench.same_step("TClass, FlowLabel, Rate and PacketLifeTime", rfc4391::new_group_other_attributes);
            bench.inspect(giving(join, component::traffic_class | component::flow_label, "TClass and FlowLabel")
                              .with(McMemberRecord::traffic_class, link.traffic_class)
                              .with(McMemberRecord::flow_label, link.flow_label),
                          within(5s));
            // What a join leaves open the SA chooses, so that the group that came of it counts.
            bench.precondition(bench.sa.has_group(mgid, within(5s)), "the group exists");
            const auto created = bench.sa.group(mgid);
            bench.precondition(created.has_value(), "the SA tells of the group");
            bench.require_field(created->record, McMemberRecord::rate, broadcast->record[McMemberRecord::rate]);
            bench.require_field(created->record, McMemberRecord::lifetime, broadcast->record[McMemberRecord::lifetime]);

            if (!bench.dut->can("leave")) return;
            bench.step("It leaves the group and joins it again at once", rfc4391::receiver_full_member_join);
            bench.dut->leave(group);
            bench.dut.joins(group);
            bench.pass_time(3s);
            // Nobody else is in it.
            bench.require(bench.sa.has_group(mgid, within(2s)), "the group at the SA", "it has ended");
        },
};

}  // namespace ipoib::conformance
