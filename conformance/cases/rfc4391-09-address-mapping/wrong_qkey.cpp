// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case wrong_qkey_is_not_accepted{
    .id = "IPOIB-4391-9.1-INV-001",
    .title = "A packet with another Q_Key is not accepted",
    .checks = {&rfc4391::qkey_match_on_receive},
    .pass_if =
        "an echo request with a wrong Q_Key is not answered, nor a question for the DUT's address in a group; ordinary "
        "ones before and after are",
    .tags = {"qkey", "hca", "ipv4", "ipv6"},
    .in_both_families = true,
    .lasts_at_most = 40s,
    .steps =
        [](Bench& bench) {
            const auto own = bench.link().q_key;
            // Those of links as OpenSM makes them, of general services, and of nothing.
            std::vector<std::uint32_t> others{0x0b1b, 0x8001'0000, 0, 0xffff'ffff};
            for (std::uint32_t bit = 1; bit != 0; bit <<= 1) others.push_back(own ^ bit);
            std::erase(others, own);
            bench.step("The Q_Key differs in one bit, or is one of others");
            bench.control();
            bench.forbid_each(echo_request().with_each(Deth::q_key, others), echo_reply());
            bench.step("A question for its address in a group is answered");
            const auto solicited = IpAddress::v6(solicited_node_group(bench.situation().dut.ipv6));
            const auto question =
                bench.situation().is_ipv6() ? neighbour_solicitation(bench.sa.join(solicited).mlid()) : arp_request();
            bench.send_until(question, address_reply(), within(1s));
            bench.precondition(address_reply(), within(0ms));
            bench.step("The Q_Key of one differs in one bit, or is one of others");
            bench.control();
            bench.forbid_each(question.with_each(Deth::q_key, others), address_reply());
        },
};

}  // namespace ipoib::conformance
