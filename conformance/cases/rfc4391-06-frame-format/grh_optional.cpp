// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case grh_is_optional_on_unicast{
    .id = "IPOIB-4391-6-VAL-001",
    .title = "Unicast packets are received with and without a GRH",
    .checks = {&rfc4391::grh_optional_on_receive},
    .pass_if =
        "echo requests, ARP and Neighbour Solicitations with and without a GRH are answered, and in a group, whatever "
        "TClass, FlowLabel and HopLimit they have",
    .tags = {"grh", "ipv4", "ipv6"},
    .in_both_families = true,
    .steps =
        [](Bench& bench) {
            bench.step("The DUT learns the tester's address");
            bench.send(address_request());
            if (!bench.happens(address_reply(), within(2s))) {
                bench.send(address_request_with_grh());
                bench.precondition(address_reply(), within(2s));
            }
            bench.step("Echo requests without and with a GRH");
            const auto happens = [&](const Message& request) {
                bench.send_until(request, echo_reply(), within(1s));
                return bench.happens(echo_reply(), within(0ms));
            };
            const bool without = happens(echo_request());
            const bool with = happens(echo_request_with_grh());
            bench.precondition(with || without, "the DUT answers one of both");
            bench.require(without, "an answer to the echo request without a GRH", "none");
            bench.require(with, "an answer to the echo request with a GRH", "none");
            bench.step("Echo requests with a GRH of other paths");
            const auto is_answered = [&](const Message& request) {
                bench.require(happens(request), "an answer to the " + request.what(), "none");
            };
            for (const auto hops : std::array<std::uint8_t, 10>{1, 2, 3, 16, 32, 63, 64, 65, 128, 255})
                is_answered(echo_request_with_grh().with(Grh::hop_limit, hops));
            for (const auto traffic_class :
                 std::array<std::uint8_t, 10>{0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0xb8, 0xff})
                is_answered(echo_request_with_grh().with(Grh::traffic_class, traffic_class));
            for (const auto flow_label :
                 std::array<std::uint32_t, 7>{1, 0x00010, 0x00100, 0x01000, 0x80000, 0x54321, 0xfffff})
                is_answered(echo_request_with_grh().with(Grh::flow_label, flow_label));
            bench.step("A question for the DUT's address, to itself, with a GRH");
            bench.send(address_request_with_grh());
            if (!bench.happens(address_reply(), within(2s))) {
                // Who gives no answer to what goes to it alone does not mind the GRH.
                bench.send_until(bench.situation().is_ipv6() ? address_request() : unicast_arp_request(),
                                 address_reply(), within(1s));
                bench.precondition(address_reply(), within(0ms));
                bench.send(address_request_with_grh());
            }
            bench.require(address_reply(), within(2s));
            bench.step("The same in a group, with the GRH of other senders");
            const auto question = bench.address_request_to_group();
            bench.send_until(question, address_reply(), within(2s));
            bench.precondition(address_reply(), within(0ms));
            const auto is_told = [&](const Message& asked) {
                bench.send_until(asked, address_reply(), within(1s));
                bench.require(bench.happens(address_reply(), within(0ms)), "an answer to the " + asked.what(), "none");
            };
            for (const auto hops : std::array<std::uint8_t, 4>{0, 1, 64, 255})
                is_told(question.with(Grh::hop_limit, hops));
            for (const auto traffic_class : std::array<std::uint8_t, 3>{0x00, 0x5a, 0xa5})
                is_told(question.with(Grh::traffic_class, traffic_class));
            for (const auto flow_label : std::array<std::uint32_t, 3>{0, 0x5a5a5, 0xa5a5a})
                is_told(question.with(Grh::flow_label, flow_label));
        },
};

}  // namespace ipoib::conformance
