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

/// Whole ARP packets whose contents make no sense, or are of no use to who receives them. What they tell of a wrong
/// link-layer address is told of a neighbour that nobody speaks with; none claims the DUT's own address, since RFC 5227
/// lets it be given up then.
std::vector<Message> odd_arp(std::uint32_t stranger, const Gid& group) {
    std::vector<Message> messages;
    for (const auto& arp : {arp_request(), unicast_arp_request(), unasked_arp_reply()}) {
        for (const std::uint16_t operation : std::array<std::uint16_t, 7>{0, 3, 4, 8, 9, 25, 0xffff})
            messages.push_back(arp.with(Arp::operation, operation));
        for (const auto address : {0x00000000u, 0x7f000001u, 0xe0000001u, 0xffffffffu}) {
            messages.push_back(arp.with(ArpAddresses::spa, address));
            messages.push_back(arp.with(ArpAddresses::tpa, address));
        }
    }
    // No requests: who answers them sends where they say.
    const auto of_stranger = unasked_arp_reply().with(ArpAddresses::spa, stranger);
    for (const auto& gid : {Gid{}, group}) messages.push_back(of_stranger.with(ArpAddresses::sha_gid, gid));
    for (const auto qpn : {0u, 1u, 0xffffffu}) messages.push_back(of_stranger.with(ArpAddresses::sha_qpn, qpn));
    return messages;
}

}  // namespace

const Case malformed_arp_does_no_harm{
    .id = "IPOIB-4391-9.2-INV-001",
    .title = "ARP packets that are too short, too long, or whose lengths or contents are wrong do no harm",
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
            // Not the address that other cases use: what the DUT learns here, it may keep.
            constexpr std::uint8_t beyond_theirs = 216;
            const auto stranger = bench.free_address(beyond_theirs);
            bench.must_outlive("ARP packets with another operation, and addresses that nobody can have",
                               odd_arp(stranger, bench.link().broadcast_gid()), demultiplexing);
        },
};

}  // namespace ipoib::conformance
