// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {
namespace {

/// The tester tells of itself as of another subnet, behind a router that its own port stands for. The DUT sends to it.
Expectation datagram_across_subnets(Bench& bench, const Gid& remote, std::optional<std::uint8_t> sl) {
    const auto& tester = bench.situation().tester;
    bench.fabric.change(SetPath{remote, tester.lid, sl});
    bench.tester.answer_resolution(false);
    bench.dut->flush_neighbours();
    bench.send(address_request().with_either(ArpAddresses::sha_gid, LinkAddressOption::gid, remote));
    bench.precondition(address_reply().sent_anywhere(), within(2s));
    const auto port = bench.fresh_port();
    const auto to = bench.situation().tester_address();
    bench.dut.sends(to, port);
    return udp_from_dut(to, port).sent_anywhere();
}

/// The tester's GID in another subnet, each time in one that the DUT knows no path to yet.
Gid beyond_a_router(Bench& bench) {
    constexpr std::uint64_t site_local = 0xfec0'0000'0000'0000;
    return Gid::of(site_local + bench.fresh_port(), bench.situation().tester.gid.interface_id());
}

/// Whether the DUT, where it asked for the path, said itself what this component is to be.
bool has_chosen(Bench& bench, const Gid& remote, std::uint64_t component) {
    return bench.count(path_question_about(remote).such_that(
               "that says what is wanted", [component](const Packet& p, const Situation&) {
                   return (p.sa[SaHeader::component_mask] & component) != 0;
               })) != 0;
}

/// The HopLimit that the SA tells of the DUT's path; nothing where it tells none to the tester.
std::optional<std::uint8_t> hop_limit_told(Bench& bench, const Gid& remote) {
    using component = PathRecord::component;
    const auto wanted = Bytes<PathRecord>{}
                            .set(PathRecord::dgid, remote)
                            .set(PathRecord::sgid, bench.situation().dut.gid)
                            .set(PathRecord::number_of_paths, 1);
    const auto answer = bench.sa.ask({.method = Method::get,
                                      .attribute = attribute::path_record,
                                      .component_mask = component::dgid | component::sgid | component::number_of_paths,
                                      .record = std::vector<std::uint8_t>(wanted.octets.begin(), wanted.octets.end())});
    const auto path = answer.first<PathRecord>();
    return answer.is_ok() && path ? std::optional<std::uint8_t>{path[PathRecord::hop_limit]} : std::nullopt;
}

}  // namespace

const Case packets_across_subnets_have_a_grh{
    .id = "IPOIB-4391-9.1-VAL-001",
    .title = "A packet to a peer of another IB subnet has a GRH with the peer's GID",
    .checks = {&rfc4391::grh_across_subnets},
    .pass_if = "the DUT asks for the path to a GID of another prefix, and sends to it with a GRH",
    .tags = {"grh", "sa", "arp", "nd"},
    .impact = Impact::link,
    .needs = Ability::any_frame | Ability::see_all | Ability::fabric_control,
    .dut_can = {"send", "flush_neighbours"},
    .in_both_families = true,
    .lasts_at_most = 20s,
    .steps =
        [](Bench& bench) {
            const auto remote = beyond_a_router(bench);
            bench.step("The tester is in another subnet, behind a router that its own port stands for");
            const auto datagram = datagram_across_subnets(bench, remote, {});
            bench.inspect(datagram.having<Grh>().with(Grh::dgid, remote), within(5s));
        },
};

const Case unicast_has_the_fields_of_its_path{
    .id = "IPOIB-4391-9.1.2-VAL-004",
    .title = "A unicast packet has the SL of its path and, with a GRH, its TClass, FlowLabel and HopLimit",
    .checks = {&rfc4391::sl_by_iba_methods, &rfc4391::multicast_parameters_of_group},
    .pass_if =
        "a datagram to a peer of another IB subnet has the SL, TClass and FlowLabel that the SA told for the path, and "
        "at least its HopLimit. WARN where it has the SL of the broadcast group, another TClass or FlowLabel, or a "
        "smaller HopLimit: how they are found is not said. With a HopLimit of 0 or 1 no router passes it on",
    .tags = {"grh", "sa", "sl", "arp", "nd"},
    .impact = Impact::link,
    .needs = Ability::any_frame | Ability::see_all | Ability::fabric_control,
    .dut_can = {"send", "flush_neighbours"},
    .in_both_families = true,
    .lasts_at_most = 20s,
    .steps =
        [](Bench& bench) {
            using component = PathRecord::component;
            const auto& link = bench.link();
            const auto remote = beyond_a_router(bench);
            // In the highest of its four bits as well.
            const auto sl = static_cast<std::uint8_t>(link.sl ^ 9);
            bench.step("The path to the tester is on an SL of its own", rfc4391::sl_by_iba_methods);
            const auto datagram = datagram_across_subnets(bench, remote, sl);
            const auto lrh = bench.obtain<Lrh>(datagram, within(5s));
            if (bench.count(path_question_about(remote)) == 0)
                bench.not_applicable("the DUT asks for no path to " + text(remote));
            const auto words = [](std::uint32_t told) { return std::to_string(told) + ", as the SA told"; };
            if (has_chosen(bench, remote, component::sl))
                bench.note("the DUT chose the SL itself when it asked for the path");
            else if (lrh[Lrh::sl] == link.sl)
                bench.recommend(false, "SL " + words(sl), "that of the broadcast group, " + std::to_string(link.sl));
            else
                bench.require(lrh[Lrh::sl] == sl, "SL " + words(sl), std::to_string(lrh[Lrh::sl]));

            bench.same_step("TClass and FlowLabel of the path", rfc4391::multicast_parameters_of_group);
            const auto grh = bench.obtain<Grh>(datagram, within(0ms));
            const auto judge = [&](std::uint64_t asked, std::uint32_t actual, std::uint32_t told, const char* name) {
                bench.recommend(actual == told || has_chosen(bench, remote, asked), name + (' ' + words(told)),
                                std::to_string(actual));
            };
            judge(component::traffic_class, grh[Grh::traffic_class], link.traffic_class, "TClass");
            judge(component::flow_label, grh[Grh::flow_label], link.flow_label, "FlowLabel");

            bench.same_step("HopLimit of the path", rfc4391::multicast_parameters_of_group);
            // IBTA Vol 1, 8.3.6: with 0 or 1 a packet stays in its subnet.
            constexpr unsigned passes_a_router = 2;
            const auto told = hop_limit_told(bench, remote);
            if (!told || *told < passes_a_router)
                return bench.note("the SA tells no HopLimit by which the packet would pass a router");
            if (has_chosen(bench, remote, component::hop_limit))
                return bench.note("the DUT chose the HopLimit itself when it asked for the path");
            const unsigned actual = grh[Grh::hop_limit];
            bench.require(actual >= passes_a_router, "a HopLimit by which the packet passes a router",
                          std::to_string(actual));
            bench.recommend(actual >= *told, "HopLimit " + words(*told) + ", or more", std::to_string(actual));
        },
};

}  // namespace ipoib::conformance
