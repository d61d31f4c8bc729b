// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case own_receive_mtu{
    .id = "IPOIB-4755-5.1-VAL-003",
    .title = "An interface accepts packets as long as the Receive MTU in its REP",
    .checks = {&rfc4755::cm_takes_receive_mtu},
    .pass_if =
        "echo requests as long as the DUT announced, and four octets shorter, over the connection that it "
        "accepted are answered",
    .tags = {"connected", "mtu", "ipv4", "ipv6"},
    .needs = Ability::any_frame | Ability::see_all,
    .dut_can = {"set_mode"},
    .in_both_families = true,
    .lasts_at_most = 30s,
    .steps =
        [](Bench& bench) {
            // The largest that IPv4 has.
            constexpr std::size_t largest_datagram = 65535;
            // A host that is short of memory may lose one.
            constexpr int attempts = 4;
            const auto before = bench.situation().ip_header() + Icmp::size;
            bench.step("The DUT accepts a connection");
            bench.connection.dut_takes_part();
            bench.control();
            const auto rep = bench.connection.establish();
            const auto announced = ipoib_private_data(View<CmRep>::at(rep.octets))[CmPrivateData::receive_mtu];
            bench.precondition(announced >= 1280 + Encap::size, "a Receive MTU that IPv6 can use");
            const auto longest = std::min<std::size_t>(announced - Encap::size, largest_datagram);
            bench.note("the DUT announces a Receive MTU of " + std::to_string(announced) + " octets");
            bench.send(over_connection(echo_request(), rep, 0));
            bench.precondition(echo_reply(), within(2s));
            std::uint32_t number = 1;
            for (const auto octets : {longest - 4, longest}) {
                bench.step("An echo request of " + std::to_string(octets) + " octets");
                bool is_answered = false;
                for (int i = 0; i < attempts && !is_answered; ++i) {
                    number += bench.connection.send_over(rep, echo_request(octets - before), number);
                    is_answered = bench.happens(echo_reply(), within(2s));
                }
                bench.require(is_answered, "an echo reply");
            }
        },
};

}  // namespace ipoib::conformance
