// SPDX-License-Identifier: GPL-2.0-or-later
// A subnet whose prefix is set later: GIDs follow. IBTA Vol 1, 4.1.1 and 14.2.5.6.
#include "conformance/cases/link_again.hpp"
#include "conformance/cases/rfc4391-09-address-mapping/played_peer.hpp"

namespace ipoib::conformance {
namespace {

/// The DUT asks for the path to a peer that it does not know from a GID of its own, and sends to it. Nothing where the
/// fabric cannot give the tester another GID.
template <class IsOwn>
void judge_paths(Bench& bench, const IsOwn& is_own) {
    bench.step("It sends to a peer that it does not know", rfc4391::lid_by_iba_methods);
    const auto gid = bench.fabric.peer_never_seen();
    if (!gid) return bench.note("paths: the fabric cannot give the tester another GID");
    const PlayedPeer peer{bench.fresh_neighbour(), *gid, bench.situation().tester.qpn};
    for (int i = 0; i < 5 && bench.count(path_question_about(peer.gid)) == 0; ++i) {
        tells_of(bench, peer);
        bench.dut.sends(peer.address, bench.fresh_port());
        bench.pass_time(1s);
    }
    const auto from_elsewhere = path_question_about(peer.gid).such_that(
        "from a GID that its port does not have", [is_own](const Packet& p, const Situation&) {
            const auto path = p.get<PathRecord>();
            return path && (p.sa[SaHeader::component_mask] & PathRecord::component::sgid) != 0 &&
                   path[PathRecord::dgid].interface_id() != 0 && !is_own(path[PathRecord::sgid]);
        });
    bench.forbid_so_far(from_elsewhere);
    bench.require(sends_at_last(bench, peer), "a datagram to the peer", "none");
}

}  // namespace

const Case prefix_is_taken_over{
    .id = "IPOIB-4391-9.1.1-VAL-007",
    .title = "A subnet prefix that is set later is in the DUT's link-layer address, and in what it asks the SA",
    .checks = {&rfc4391::broadcast_full_member_join, &rfc4391::link_address_gid, &rfc4391::link_address_port_gid,
               &rfc4391::lid_by_iba_methods},
    .pass_if =
        "when the subnet manager has given the subnet another prefix, and then a third, the DUT is FullMember of the "
        "broadcast group by its new GID, tells that in its link-layer address, and asks for paths from a GID that it "
        "has",
    .tags = {"sa", "prefix", "reregister", "ipv4", "ipv6"},
    .impact = Impact::fabric,
    .needs = Ability::trusted_sa | Ability::fabric_control | Ability::see_all | Ability::any_frame,
    .dut_can = {"send"},
    .in_both_families = true,
    .lasts_at_most = 200s,
    .steps =
        [](Bench& bench) {
            constexpr std::uint64_t second = 0xfec0'0000'0000'4391, third = 0xfec0'0000'0000'4392;
            const auto claims = [&](const auto& holds) {
                constexpr auto words = "a GID of the port now";
                const auto reply = address_reply().sent_anywhere();
                // An advertisement may do without the option.
                if (bench.situation().is_ipv6())
                    return reply.with_link_address_option().where_option(LinkAddressOption::gid, holds, words);
                return reply.where(
                    ArpAddresses::sha_gid, [holds](const Gid& told, const Situation&) { return holds(told); }, words);
            };
            const auto asks = [&](const Expectation& reply) {
                const auto question = bench.address_request_to_group();
                for (int i = 0; i < 5 && !bench.happens(reply, within(0ms)); ++i)
                    bench.send_until(question, reply, within(2s));
                return reply;
            };
            begin_on_the_link(bench);
            bench.step("It tells its GID");
            bench.precondition(asks(claims([&](const Gid& told) { return told == bench.situation().dut.gid; })),
                               within(0ms));
            // The GID with the default prefix is a port's own in every subnet (IBTA Vol 1, 4.1.1).
            for (const auto prefix : {second, third}) {
                bench.step("The subnet gets another prefix", rfc4391::broadcast_full_member_join);
                bench.fabric.change(SetPrefix{prefix});
                bench.tester.enter_link_again();
                bench.require(bench.sa.has_dut_as_full_member(bench.link().broadcast_gid(), within(30s)),
                              "FullMember of the broadcast group by the new GID", "not at the SA");
            }
            const auto gid = bench.situation().dut.gid;
            const auto is_own = [gid](const Gid& told) {
                return told == gid || told == Gid::of(default_subnet_prefix, gid.interface_id());
            };
            judge_paths(bench, is_own);

            bench.step("The tester asks for its address", rfc4391::link_address_gid);
            bench.require(asks(claims(is_own)), within(0ms));
            bench.same_step("The GID in it", rfc4391::link_address_port_gid);
            bench.require(claims([gid](const Gid& told) { return told == gid; }), within(0ms));

            bench.step("The subnet has the prefix that it had");
            bench.fabric.change(SetPrefix{});
            bench.tester.enter_link_again();
            bench.precondition(bench.sa.has_dut_as_full_member(bench.link().broadcast_gid(), within(30s)),
                               "the DUT is FullMember by its first GID");
        },
};

}  // namespace ipoib::conformance
