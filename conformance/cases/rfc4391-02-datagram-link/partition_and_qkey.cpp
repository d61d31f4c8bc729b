// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case partition_and_q_key_must_match{
    .id = "IPOIB-4391-3-INV-001",
    .title = "Only ports with the same P_Key and Q_Key speak with each other",
    .checks = {&rfc4391::ud_same_partition_and_qkey, &rfc4391::pkey_match, &rfc4391::qkey_match_on_receive},
    .pass_if = "echo requests with another P_Key or another Q_Key are not answered; ordinary ones are",
    .tags = {"pkey", "qkey", "hca", "ipv4", "ipv6"},
    .needs = Ability::any_frame,
    .in_both_families = true,
    .lasts_at_most = 30s,
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
            std::vector<Message> others;
            for (std::uint16_t bit = 1; bit < full_membership; bit = static_cast<std::uint16_t>(bit << 1))
                others.push_back(echo_request().with(Bth::p_key, bench.link().p_key ^ bit));
            for (const auto other : std::array<std::uint16_t, 3>{0xffff, 0x7fff, 0x8001})
                if (!is_same_partition(other, bench.link().p_key))
                    others.push_back(echo_request().with(Bth::p_key, other));
            bench.forbid_each(others, answer);
            bench.step("The Q_Key is another", rfc4391::ud_same_partition_and_qkey, rfc4391::qkey_match_on_receive);
            bench.control();
            bench.send(echo_request().with(Deth::q_key, bench.link().q_key ^ another));
            bench.forbid(echo_reply(), within(1s));
        },
};

}  // namespace ipoib::conformance
