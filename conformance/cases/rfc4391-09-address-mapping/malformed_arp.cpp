// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

namespace {

/// ARP packets to the group and to the DUT itself whose lengths of addresses are these.
std::vector<Message> arp_with_lengths(const std::vector<std::pair<std::uint8_t, std::uint8_t>>& lengths) {
    std::vector<Message> messages;
    for (const auto& [hardware, protocol] : lengths)
        for (const auto& arp : {arp_request(), unicast_arp_request(), unasked_arp_reply()})
            messages.push_back(arp.with(Arp::hardware_length, hardware).with(Arp::protocol_length, protocol));
    return messages;
}

}  // namespace

const Case malformed_arp_does_no_harm{
    .id = "IPOIB-4391-9.2-INV-001",
    .title = "ARP packets that are too short, too long, or whose lengths are wrong do no harm",
    .checks = {&rfc4391::encap_type_demultiplexing},
    .pass_if = "after them, ordinary ARP and echo requests are answered",
    .tags = {"arp", "robust", "ipv4"},
    .steps =
        [](Bench& bench) {
            const auto& demultiplexing = rfc4391::encap_type_demultiplexing;
            constexpr std::uint16_t ethernet = 1;
            constexpr std::size_t of_ethernet = Encap::size + 28;
            bench.step("Ordinary traffic is answered", demultiplexing);
            bench.control();
            for (const auto& whole : {arp_request(), unicast_arp_request(), unasked_arp_reply()})
                bench.must_outlive_cuts(whole, demultiplexing);
            bench.must_outlive("ARP packets with octets behind their end",
                               {arp_request().followed_by(1), arp_request().followed_by(18),
                                unicast_arp_request().followed_by(200), unasked_arp_reply().followed_by(1500)},
                               demultiplexing);
            bench.must_outlive("ARP packets with another ar$hln",
                               arp_with_lengths({{0, 4}, {1, 4}, {6, 4}, {19, 4}, {21, 4}, {32, 4}, {255, 4}}),
                               demultiplexing);
            bench.must_outlive(
                "ARP packets with another ar$pln",
                arp_with_lengths({{20, 0}, {20, 1}, {20, 3}, {20, 5}, {20, 16}, {20, 255}, {0, 0}, {255, 255}}),
                demultiplexing);
            bench.must_outlive(
                "ARP packets as short as those of Ethernet",
                {arp_request().with(Arp::hardware, ethernet).with(Arp::hardware_length, 6).cut_to(of_ethernet),
                 unicast_arp_request().with(Arp::hardware, ethernet).cut_to(of_ethernet),
                 unasked_arp_reply().with(Arp::hardware_length, 6).cut_to(of_ethernet)},
                demultiplexing);
        },
};

}  // namespace ipoib::conformance
