// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

namespace {

struct Parameters {
    std::uint8_t sl = 0, traffic_class = 0;
    std::uint32_t flow_label = 0;
    std::uint8_t hop_limit = 0;
    friend bool operator==(const Parameters&, const Parameters&) = default;
};

Parameters parameters_of(const build::Link& link) {
    return {link.sl, link.traffic_class, link.flow_label, link.hop_limit};
}

/// Those of the link where they differ in these bits.
Parameters changed(const build::Link& link, const Parameters& bits) {
    return {.sl = static_cast<std::uint8_t>(link.sl ^ bits.sl),
            .traffic_class = static_cast<std::uint8_t>(link.traffic_class ^ bits.traffic_class),
            .flow_label = link.flow_label ^ bits.flow_label,
            .hop_limit = static_cast<std::uint8_t>(link.hop_limit ^ bits.hop_limit)};
}

/// The group is there with these parameters; the SL that it got.
std::uint8_t set_up(Bench& bench, const Gid& mgid, const Parameters& wanted) {
    if (bench.fabric.can_change(SetGroup{.mgid = mgid,
                                         .flow_label = wanted.flow_label,
                                         .sl = wanted.sl,
                                         .traffic_class = wanted.traffic_class,
                                         .hop_limit = wanted.hop_limit}))
        return wanted.sl;
    // Who creates a group gives it its parameters, too.
    auto record = bench.sa.new_group_record()
                      .set(McMemberRecord::mgid, mgid)
                      .set(McMemberRecord::flow_label, wanted.flow_label)
                      .set(McMemberRecord::traffic_class, wanted.traffic_class)
                      .set(McMemberRecord::hop_limit, wanted.hop_limit)
                      .set(McMemberRecord::sl, wanted.sl);
    auto answer = bench.sa.ask_to_join(record, bench.sa.creation_mask());
    // Not every administrator gives out every SL.
    if (!answer.is_ok())
        answer = bench.sa.ask_to_join(record.set(McMemberRecord::sl, bench.link().sl), bench.sa.creation_mask());
    const auto told = answer.is_ok() ? answer.first<McMemberRecord>() : View<McMemberRecord>{};
    if (!told) bench.not_applicable("the SA makes no group with parameters of its own");
    return told[McMemberRecord::sl];
}

/// RFC 4391, 4.1, can be read to have the group's own parameters, and those of the broadcast group, in its packets.
Expectation of_either(const Expectation& datagram, const Parameters& own, const build::Link& broadcast) {
    const auto either = [](std::uint32_t a, std::uint32_t b) {
        return [a, b](std::uint32_t actual, const Situation&) { return actual == a || actual == b; };
    };
    const auto words = [](std::uint32_t a, std::uint32_t b, unsigned digits) {
        return hex(a, digits) + ", or " + hex(b, digits) + " as the broadcast group";
    };
    return datagram
        .where(Grh::traffic_class, either(own.traffic_class, broadcast.traffic_class),
               words(own.traffic_class, broadcast.traffic_class, 2))
        .where(Grh::flow_label, either(own.flow_label, broadcast.flow_label),
               words(own.flow_label, broadcast.flow_label, 5))
        .where(
            Grh::hop_limit, either(own.hop_limit, broadcast.hop_limit),
            std::to_string(own.hop_limit) + ", or " + std::to_string(broadcast.hop_limit) + " as the broadcast group");
}

void judge_group(Bench& bench, std::string_view title, const Parameters& bits) {
    const auto& link = bench.link();
    const auto group = bench.fresh_group();
    auto wanted = changed(link, bits);
    bench.step(title);
    const auto mgid = bench.mgid_of(group);
    wanted.sl = set_up(bench, mgid, wanted);
    using component = McMemberRecord::component;
    const auto like_broadcast =
        join_of(mgid).such_that("that says what its parameters are", [](const Packet& p, const Situation&) {
            return (p.sa[SaHeader::component_mask] &
                    (component::traffic_class | component::flow_label | component::hop_limit | component::sl)) != 0;
        });
    const auto inspect = [&] {
        const auto port = bench.fresh_port();
        const auto datagram = udp_from_dut(group, port).sent_anywhere();
        bench.dut.sends(group, port);
        if (!bench.happens(datagram, within(3s))) bench.dut.sends(group, port);
        if (!bench.happens(datagram, within(3s)) && bench.count(like_broadcast) != 0)
            bench.not_applicable(
                "the DUT asks to join the group with the broadcast group's parameters, which the SA refuses");
        bench.inspect(of_either(datagram, wanted, link), within(3s));
        const auto grh = bench.obtain<Grh>(datagram, within(0ms));
        const Parameters sent{.sl = bench.obtain<Lrh>(datagram, within(0ms))[Lrh::sl],
                              .traffic_class = grh[Grh::traffic_class],
                              .flow_label = grh[Grh::flow_label],
                              .hop_limit = grh[Grh::hop_limit]};
        bench.require(sent.sl == wanted.sl || sent.sl == link.sl,
                      "SL " + std::to_string(wanted.sl) + ", the group's own, or " + std::to_string(link.sl) +
                          ", the broadcast group's",
                      std::to_string(sent.sl));
        bench.recommend(sent == wanted || sent == parameters_of(link),
                        "SL, TClass, FlowLabel and HopLimit of one group",
                        "some of its own and some of the broadcast group's");
    };
    bench.step("The DUT sends to it");
    inspect();
    if (!bench.dut->can("join")) return;
    bench.step("A program of the DUT joins it, and sends");
    bench.dut.joins(group);
    bench.pass_time(2s);
    inspect();
}

}  // namespace

const Case group_has_parameters_of_its_own{
    .id = "IPOIB-4391-4.1-VAL-003",
    .title = "Multicast packets carry SL, TClass, FlowLabel and HopLimit of their own group, or of the broadcast group",
    .checks = {&rfc4391::multicast_parameters_of_group},
    .pass_if =
        "datagrams for a group that the administrator set up with another SL, TClass, FlowLabel and HopLimit than the "
        "broadcast group have those, or the broadcast group's, as a sender's and as a member's: both readings of RFC "
        "4391, 4.1, are defended. WARN where they are mixed. NA where the DUT joins only what is like the broadcast "
        "group",
    .tags = {"sa", "egress", "ipv4", "ipv6"},
    .impact = Impact::link,
    .needs = Ability::see_all,
    .dut_can = {"send"},
    .in_both_families = true,
    .lasts_at_most = 60s,
    .steps =
        [](Bench& bench) {
            judge_group(bench, "The administrator sets up a group",
                        {.sl = 2, .traffic_class = 0x40, .flow_label = 0x00753, .hop_limit = 0x11});
            judge_group(bench, "It sets up one that differs in other bits",
                        {.sl = 8, .traffic_class = 0x9b, .flow_label = 0xc8120, .hop_limit = 0x66});
        },
};

}  // namespace ipoib::conformance
