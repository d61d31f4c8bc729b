// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case partition_and_q_key_must_match{
    .id = "IPOIB-4391-3-INV-001",
    .title = "Only ports with the same P_Key and Q_Key speak with each other",
    .checks = {&rfc4391::ud_same_partition_and_qkey, &rfc4391::pkey_match, &rfc4391::qkey_match_on_receive},
    .pass_if =
        "echo requests with another P_Key or another Q_Key are not answered, nor is a question for the DUT's address "
        "in a group with another P_Key; ordinary ones are",
    .tags = {"pkey", "qkey", "hca", "ipv4", "ipv6"},
    .needs = Ability::any_frame,
    .in_both_families = true,
    .lasts_at_most = 50s,
    .steps =
        [](Bench& bench) {
            constexpr std::uint16_t another = 0x1234;
            // What a port of several partitions takes in another one it answers there.
            const auto answer =
                echo_reply().such_that("in the link's partition", [](const Packet& packet, const auto& now) {
                    return packet.bth && is_same_partition(packet.bth[Bth::p_key], now.link.p_key);
                });
            const auto p_key = static_cast<std::uint16_t>(bench.link().p_key ^ another);
            bench.step("The P_Key is of another partition", rfc4391::ud_same_partition_and_qkey, rfc4391::pkey_match);
            bench.control();
            bench.send(echo_request().with(Bth::p_key, p_key));
            bench.forbid(answer, within(1s));
            bench.step("The P_Key differs in one bit, or is one that many ports have",
                       rfc4391::ud_same_partition_and_qkey, rfc4391::pkey_match);
            bench.control();
            std::vector<std::uint16_t> others;
            for (std::uint16_t bit = 1; bit < full_membership; bit = static_cast<std::uint16_t>(bit << 1))
                others.push_back(bench.link().p_key ^ bit);
            for (const auto usual : std::array<std::uint16_t, 3>{0xffff, 0x7fff, 0x8001})
                if (!is_same_partition(usual, bench.link().p_key)) others.push_back(usual);
            bench.forbid_each(echo_request().with_each(Bth::p_key, others), answer);
            bench.step("A question for its address in a group is answered");
            const auto question = bench.address_request_to_group();
            bench.send_until(question, address_reply(), within(1s));
            bench.precondition(address_reply(), within(0ms));
            bench.step("The P_Key of one differs in one bit, or is one that many ports have",
                       rfc4391::ud_same_partition_and_qkey, rfc4391::pkey_match);
            bench.control();
            const auto told =
                address_reply().such_that("in the link's partition", [](const Packet& p, const auto& now) {
                    return p.bth && is_same_partition(p.bth[Bth::p_key], now.link.p_key);
                });
            bench.forbid_each(question.with_each(Bth::p_key, others), told);
            bench.step("The Q_Key is another", rfc4391::ud_same_partition_and_qkey, rfc4391::qkey_match_on_receive);
            bench.control();
            bench.send(echo_request().with(Deth::q_key, bench.link().q_key ^ another));
            bench.forbid(echo_reply(), within(1s));
        },
};

}  // namespace ipoib::conformance
