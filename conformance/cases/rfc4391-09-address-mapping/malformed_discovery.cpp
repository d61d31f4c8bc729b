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

/// Whole advertisements whose contents make no sense. What they tell of a wrong link-layer address is told of a
/// neighbour that nobody speaks with; solicitations would be answered where they say.
std::vector<Message> odd_discovery(const Gid& stranger, const Gid& group) {
    std::vector<Message> messages;
    for (const auto& target : {Gid{}, Gid::of(0, 1), group})
        for (const auto& message : {unicast_neighbour_solicitation(), unasked_neighbour_advertisement()})
            messages.push_back(message.with(NdTarget::target, target));
    for (const std::uint8_t code : std::array<std::uint8_t, 2>{1, 255})
        messages.push_back(unicast_neighbour_solicitation().with(Icmpv6::code, code));
    for (const std::uint8_t hops : std::array<std::uint8_t, 2>{0, 254})
        messages.push_back(unicast_neighbour_solicitation().with(Ipv6::hop_limit, hops));
    const auto of_stranger =
        unasked_neighbour_advertisement().with(Ipv6::source, stranger).with(NdTarget::target, stranger);
    for (const auto& gid : {Gid{}, group}) messages.push_back(of_stranger.with(LinkAddressOption::gid, gid));
    for (const auto qpn : {0u, 1u, 0xffffffu}) messages.push_back(of_stranger.with(LinkAddressOption::qpn, qpn));
    return messages;
}

}  // namespace

const Case malformed_discovery_does_no_harm{
    .id = "IPOIB-4391-9.3-INV-001",
    .title = "Neighbour Discovery with options of length 0, beyond the end, cut or of odd contents does no harm",
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
            // Not the neighbour that other cases use: what the DUT learns here, it may keep.
            const auto beside = bench.fresh_neighbour().octets;
            const auto stranger = Gid::of(beside.prefix(), beside.interface_id() ^ 0x0100);
            bench.must_outlive("Neighbour Discovery with targets, codes, hop limits and addresses that make no sense",
                               odd_discovery(stranger, bench.link().broadcast_gid()), demultiplexing);
        },
};

}  // namespace ipoib::conformance
