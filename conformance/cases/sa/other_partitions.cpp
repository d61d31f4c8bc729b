// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

#include <algorithm>

namespace ipoib::conformance {
namespace {

using M = McMemberRecord;

/// A P_Key that no port here has.
constexpr std::uint16_t tenants_p_key = 0x8ab1;
/// Groups of no IPoIB link: only the P_Key decides who may be in them.
constexpr Gid tenants_gid(std::uint16_t number) { return Gid::of(0xff12123500000000, number); }

void let_into_partition(Bench& bench, const TesterPort& port, bool is_there = true) {
    bench.fabric.change(SetPKey{{.guid = port.self().gid.interface_id()}, tenants_p_key, is_there});
    bench.pass_time(1s);
}

Bytes<M> tenants_group(Bench& bench, const TesterPort& member) {
    return bench.sa.new_group_record()
        .set(M::mgid, tenants_gid(bench.fresh_port()))
        .set(M::p_key, tenants_p_key)
        .set(M::port_gid, member.self().gid);
}

/// Whether a port is told of a group that it names, or in the table of all.
bool is_told(TesterPort& asker, const Gid& mgid, Method method, std::uint64_t components) {
    const auto wanted = Bytes<M>{}.set(M::mgid, mgid).set(M::p_key, tenants_p_key);
    const auto answer = asker.ask({.method = method,
                                   .attribute = attribute::mc_member_record,
                                   .component_mask = components,
                                   .record = {wanted.octets.begin(), wanted.octets.end()}});
    if (!answer.is_ok()) return false;
    bool is_there = false;
    (void)for_each_record<M>(answer.data, answer.record_size,
                             [&](View<M> record) { is_there |= record[M::mgid] == mgid; });
    return is_there;
}

}  // namespace

const Case other_partitions_are_hidden{
    .id = "IPOIB-IBA-15.4.1.2-INV-001",
    .title = "A port is not told of the groups of a partition that it is not in",
    .checks = {&iba::partitions_hidden},
    .pass_if =
        "a group of a tenant's partition is told to a port in it, and neither by its MGID, by its P_Key nor in the "
        "table of all to a port that is not, until that is given the P_Key",
    .tags = {"sa", "pkey", "tenant"},
    .impact = Impact::link,
    .needs = Ability::two_ports | Ability::fabric_control | Ability::long_tables,
    .subject = Subject::sa,
    .lasts_at_most = 30s,
    .steps =
        [](Bench& bench) {
            using C = M::component;
            auto& stranger = bench.tester.first();
            auto& tenant = bench.tester.second();
            bench.step("A tenant creates a group of its partition");
            let_into_partition(bench, tenant);
            const auto record = tenants_group(bench, tenant);
            const auto mgid = record[M::mgid];
            bench.precondition(tenant.ask_to_join(record, bench.sa.creation_mask()).is_ok(),
                               "the SA creates the group");
            bench.precondition(is_told(tenant, mgid, Method::get_table, C::mgid), "the SA tells the tenant of it");
            bench.step("A port that is not in the partition asks");
            const auto must_not_be_told = [&](std::string_view how, Method method, std::uint64_t components) {
                bench.require(!is_told(stranger, mgid, method, components), "nothing of " + text(mgid),
                              "the group, asked for " + std::string(how));
            };
            must_not_be_told("by its MGID", Method::get, C::mgid);
            must_not_be_told("by its MGID, as a table", Method::get_table, C::mgid);
            must_not_be_told("by its P_Key", Method::get_table, C::p_key);
            must_not_be_told("with all others", Method::get_table, 0);
            bench.step("It is given the P_Key");
            let_into_partition(bench, stranger);
            bench.precondition(is_told(stranger, mgid, Method::get_table, C::mgid), "the SA tells it, too");
        },
};

const Case nobody_is_joined_outside_its_partitions{
    .id = "IPOIB-4391-5-INV-005",
    .title = "No port is joined by another to a group of a partition that it is not in",
    .checks = {&rfc4391::pkey_assigned_to_port},
    .pass_if = "the SA refuses to join a port without the group's P_Key in the name of which a port asks that has it",
    .tags = {"sa", "pkey", "proxy", "tenant"},
    .impact = Impact::link,
    .needs = Ability::two_ports | Ability::fabric_control,
    .subject = Subject::sa,
    .lasts_at_most = 30s,
    .steps =
        [](Bench& bench) {
            auto& tenant = bench.tester.first();
            auto& other = bench.tester.second();
            bench.step("A tenant creates a group of its partition");
            let_into_partition(bench, tenant);
            auto record = tenants_group(bench, tenant);
            bench.precondition(tenant.ask_to_join(record, bench.sa.creation_mask()).is_ok(),
                               "the SA creates the group");
            bench.step("It joins a port that is not in the partition");
            record.set(M::port_gid, other.self().gid);
            bench.sa.require_refusal(tenant.ask_to_join(record, M::component::join));
            bench.step("A new group, for that port only");
            bench.sa.require_refusal(tenant.ask_to_join(tenants_group(bench, other), bench.sa.creation_mask()));
        },
};

}  // namespace ipoib::conformance
