// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {
namespace {

/// MGIDs that are close to it. The last 24 bits of a solicited-node group are of an address, of which a port may have
/// several that are close.
std::vector<Gid> neighbours_of(const Gid& mgid, bool is_solicited) {
    constexpr unsigned bits_behind_ff = 120, bits_of_address = 24;
    std::vector<Gid> all;
    for (unsigned bit = is_solicited ? bits_of_address : 0; bit < bits_behind_ff; ++bit) {
        auto& octet = all.emplace_back(mgid).octets[mgid.octets.size() - 1 - bit / 8];
        octet = static_cast<std::uint8_t>(octet ^ 1u << bit % 8);
    }
    const auto add = [&](const auto& field, auto value) {
        auto other = mgid;
        set_field(MutableOctets{other.octets}, field, value);
        if (other != mgid) all.push_back(other);
    };
    constexpr std::array<std::uint8_t, 4> scopes{2, 5, 8, 14};
    constexpr std::array<std::uint16_t, 3> p_keys{0xffff, 0x8001, 0xa5a5};
    for (const auto scope : scopes) add(Mgid::scope, scope);
    for (const auto p_key : p_keys) add(Mgid::p_key, p_key);
    // Where a receiver compares one only if the other is right.
    for (const auto scope : scopes)
        for (const auto p_key : p_keys) {
            auto other = mgid;
            set_field(MutableOctets{other.octets}, Mgid::scope, scope);
            set_field(MutableOctets{other.octets}, Mgid::p_key, p_key);
            const auto differs_in = [&](const auto& field) {
                return Bytes<Mgid>{other.octets}[field] != Bytes<Mgid>{mgid.octets}[field];
            };
            if (differs_in(Mgid::scope) && differs_in(Mgid::p_key)) all.push_back(other);
        }
    return all;
}

}  // namespace

const Case unattached_mgid_is_discarded{
    .id = "IPOIB-UDMC-INV-002",
    .title = "A packet with the right MLID and another MGID is discarded",
    .checks = {&udmc::unregistered_mgid_discarded},
    .pass_if =
        "an ARP request to the broadcast group's MLID, or a Neighbour Solicitation to that of its group, with the MGID "
        "of a group that the DUT is not in is not answered",
    .tags = {"mgid", "hca", "arp", "nd", "ipv4", "ipv6"},
    .needs = Ability::any_frame,
    .in_both_families = true,
    .lasts_at_most = 40s,
    .steps =
        [](Bench& bench) {
            bench.step("A question for its address to the group for that is answered");
            const auto question = bench.address_request_to_group();
            bench.send_until(question, address_reply(), within(2s));
            bench.precondition(address_reply(), within(0ms));
            bench.step("The same with the MGID of a group that the DUT is not in");
            bench.control();
            bench.send(question.with(Grh::dgid, bench.mgid_of(bench.fresh_group())));
            bench.forbid(address_reply(), within(1s));
            bench.step("The same with MGIDs that differ in one bit, in scope, in P_Key or in both");
            bench.control();
            const auto right = question.make(bench.situation()).get<Grh>()[Grh::dgid];
            std::vector<Message> others;
            for (const auto& other : neighbours_of(right, bench.situation().is_ipv6()))
                others.push_back(question.with(Grh::dgid, other));
            bench.forbid_each(others, address_reply());
        },
};

}  // namespace ipoib::conformance
