// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

namespace {

/// Solicitations and advertisements with an option of this length, in units of 8 octets, and this type.
std::vector<Message> discovery_with_options(const std::vector<std::uint8_t>& lengths, std::uint8_t type) {
    std::vector<Message> messages;
    for (const auto length : lengths)
        for (const auto& message : {unicast_neighbour_solicitation(), unasked_neighbour_advertisement()})
            messages.push_back(message.with(LinkAddressOption::type, type).with(LinkAddressOption::length, length));
    return messages;
}

/// A solicitation whose packet ends within its option.
Message ending_in_option(std::size_t octets) {
    return unicast_neighbour_solicitation().edited(" that ends in its option", [=](build::PacketBuilder& packet) {
        const auto option = packet.from(spec_of<LinkAddressOption>).first(octets);
        const std::vector<std::uint8_t> beginning(option.begin(), option.end());
        packet.remove<LinkAddressOption>().add(beginning);
    });
}

}  // namespace

const Case malformed_discovery_does_no_harm{
    .id = "IPOIB-4391-9.3-INV-001",
    .title = "Neighbour Discovery with options of length 0, beyond the end, or cut does no harm",
    .checks = {&rfc4391::encap_type_demultiplexing},
    .pass_if = "after it, ordinary solicitations and echo requests are answered",
    .tags = {"nd", "robust", "ipv6"},
    .in_both_families = true,
    .lasts_at_most = 15s,
    .steps =
        [](Bench& bench) {
            const auto& demultiplexing = rfc4391::encap_type_demultiplexing;
            constexpr std::uint8_t unknown = 200;
            bench.step("Ordinary traffic is answered", demultiplexing);
            bench.control();
            if (!bench.situation().is_ipv6()) bench.not_applicable("there is Neighbour Discovery in IPv6 only");
            bench.must_outlive("Neighbour Discovery with options of length 0",
                               discovery_with_options({0}, LinkAddressOption::source), demultiplexing);
            bench.must_outlive("Neighbour Discovery with unknown options of length 0",
                               discovery_with_options({0}, unknown), demultiplexing);
            bench.must_outlive("Neighbour Discovery with options beyond the end",
                               discovery_with_options({4, 5, 32, 255}, LinkAddressOption::source), demultiplexing);
            bench.must_outlive("Neighbour Discovery with options that end too early",
                               discovery_with_options({1, 2}, LinkAddressOption::target), demultiplexing);
            std::vector<Message> ending;
            for (std::size_t octets = 1; octets < LinkAddressOption::size; ++octets)
                ending.push_back(ending_in_option(octets));
            bench.must_outlive("Solicitations that end within their option", ending, demultiplexing);
            for (const auto& whole : {unicast_neighbour_solicitation(), unasked_neighbour_advertisement()})
                bench.must_outlive_cuts(whole, demultiplexing);
        },
};

}  // namespace ipoib::conformance
