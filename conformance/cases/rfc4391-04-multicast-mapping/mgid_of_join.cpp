// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case mgid_of_join_is_that_of_the_link{
    .id = "IPOIB-4391-4-VAL-003",
    .title = "The MGID that the DUT joins is right in every field",
    .checks = {&rfc4391::mgid_format, &rfc4391::mgid_t_flag, &rfc4391::mgid_scope_of_broadcast_gid, &rfc4391::mgid_pkey,
               &rfc4391::mgid_ipv4_signature, &rfc4391::mgid_ipv4_group_id, &rfc4391::mgid_ipv4_padding,
               &rfc4391::mgid_ipv6_signature, &rfc4391::mgid_ipv6_group_id},
    .pass_if = "in the DUT's join requests T flag, scope, P_Key, signature and group ID are those of section 4",
    .tags = {"mgid", "sa"},
    .needs = Ability::see_all,
    .dut_can = {"join"},
    .steps =
        [](Bench& bench) {
            constexpr std::uint64_t group_bits = 1u << 28;
            const auto ipv4 = bench.fresh_group4();
            const auto fresh6 = bench.fresh_group6().octets;
            // Permanently assigned: its own T flag is 0.
            constexpr std::uint64_t site_local = 0xff05;
            const auto ipv6 = IpAddress::v6(Gid::of(site_local << 48 | 0x8001, fresh6.interface_id()));
            const auto join4 = join_like(ipv4), join6 = join_like(ipv6);
            const auto right4 = bench.mgid_of(ipv4), right6 = bench.mgid_of(ipv6);

            bench.step("The DUT joins an IPv4 group: T flag", rfc4391::mgid_t_flag);
            bench.dut.joins(ipv4);
            bench.inspect(join4.with_part(McMemberRecord::mgid, Mgid::transient, right4), within(5s));
            bench.same_step("Its scope", rfc4391::mgid_scope_of_broadcast_gid);
            bench.inspect(join4.with_part(McMemberRecord::mgid, Mgid::scope, right4), within(5s));
            bench.same_step("Its P_Key", rfc4391::mgid_pkey);
            bench.inspect(join4.with_part(McMemberRecord::mgid, Mgid::p_key, right4), within(5s));
            bench.same_step("Its signature", rfc4391::mgid_ipv4_signature);
            bench.inspect(join4.with_part(McMemberRecord::mgid, Mgid::signature, right4), within(5s));
            bench.same_step("The group in its low 28 bits", rfc4391::mgid_ipv4_group_id);
            bench.inspect(join4.where(
                              McMemberRecord::mgid,
                              [right4](const Gid& mgid, auto&) {
                                  return mgid.interface_id() % group_bits == right4.interface_id() % group_bits;
                              },
                              "the low 28 bits of " + text(right4)),
                          within(5s));
            bench.same_step("The rest of its group ID", rfc4391::mgid_ipv4_padding);
            bench.inspect(join4.with_part(McMemberRecord::mgid, Mgid::group_high, right4)
                              .where(
                                  McMemberRecord::mgid,
                                  [](const Gid& mgid, auto&) { return mgid.interface_id() / group_bits == 0; },
                                  "zeros above the low 28 bits"),
                          within(5s));
            bench.same_step("The whole of it", rfc4391::mgid_format);
            bench.inspect(join4.with(McMemberRecord::mgid, right4), within(5s));

            bench.step("The DUT joins an IPv6 group: T flag", rfc4391::mgid_t_flag);
            bench.dut.joins(ipv6);
            bench.inspect(join6.with_part(McMemberRecord::mgid, Mgid::transient, right6), within(5s));
            bench.same_step("Its P_Key", rfc4391::mgid_pkey);
            bench.inspect(join6.with_part(McMemberRecord::mgid, Mgid::p_key, right6), within(5s));
            bench.same_step("Its scope", rfc4391::mgid_scope_of_broadcast_gid);
            bench.inspect(join6.with_part(McMemberRecord::mgid, Mgid::scope, right6), within(5s));
            bench.same_step("Its signature", rfc4391::mgid_ipv6_signature);
            bench.inspect(join6.with_part(McMemberRecord::mgid, Mgid::signature, right6), within(5s));
            bench.same_step("Its group ID", rfc4391::mgid_ipv6_group_id);
            bench.inspect(join6.with_part(McMemberRecord::mgid, Mgid::group_high, right6)
                              .with_part(McMemberRecord::mgid, Mgid::group_low, right6),
                          within(5s));
            bench.same_step("The whole of its MGID", rfc4391::mgid_format);
            bench.inspect(join6.with(McMemberRecord::mgid, right6), within(5s));
        },
};

}  // namespace ipoib::conformance
