// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

#include <bit>

namespace ipoib::conformance {

namespace {

/// The interface identifier that an unmodified EUI-64 gives. RFC 4391, 8.
std::uint64_t with_u_bit_toggled(std::uint64_t guid) { return guid ^ std::uint64_t{0x02} << 56; }

/// What an identifier is made of, so far as it tells.
enum class Origin : std::uint8_t { port_guid, another_guid, something_else };

/// An EUI-64 is 24 bits of its maker's and 40 that the maker counts. An identifier with the GUID's 40 is made of the
/// GUID: one that is opaque (RFC 8064) has them by chance once in 2^40. With the maker's 24 bits, the u bit aside, and
/// no more than 8 of the 40 different, by chance once in 10^11, it is made of another GUID, such as the node's or that
/// of the port beside.
Origin origin_of(std::uint64_t id, std::uint64_t guid) {
    constexpr auto counted = (std::uint64_t{1} << 40) - 1;
    constexpr int most_different = 8;
    const auto difference = id ^ guid;
    if ((difference & counted) == 0) return Origin::port_guid;
    const bool is_of_maker = (difference & ~counted & ~(std::uint64_t{0x02} << 56)) == 0;
    return is_of_maker && std::popcount(difference & counted) <= most_different ? Origin::another_guid
                                                                                : Origin::something_else;
}

}  // namespace

const Case interface_id_is_of_the_guid{
    .id = "IPOIB-4391-8-VAL-001",
    .title = "The link-local address is fe80::/64 and an interface identifier made of the port GUID as the text says",
    .checks = {&rfc4391::link_local_format, &rfc4391::link_local_from_guid, &rfc4391::iid_toggles_u_bit,
               &rfc4391::guid_format_determined, &rfc4391::iid_keeps_u_bit},
    .pass_if =
        "the prefix is fe80::/64; an identifier made of the GUID is the GUID itself, with the u bit of an EUI-64 "
        "toggled, of a modified one not; one that is made of something else is opaque",
    .tags = {"ipv6", "nd"},
    .steps =
        [](Bench& bench) {
            const auto& dut = bench.situation().dut;
            if (dut.ipv6.is_zero()) bench.not_applicable("the DUT tells no IPv6 address");
            bench.step("The DUT answers for its link-local address");
            bench.send(unicast_neighbour_solicitation());
            bench.precondition(neighbour_advertisement(), within(2s));

            bench.step("Its prefix is fe80::/64", rfc4391::link_local_format);
            bench.require(dut.ipv6.prefix() == std::uint64_t{0xfe80} << 48, "fe80::/64", text(dut.ipv6));

            const auto guid = dut.gid.interface_id(), id = dut.ipv6.interface_id();
            bench.step("Whether it is made of the GUID", rfc4391::link_local_from_guid);
            const auto origin = origin_of(id, guid);
            const auto right = hex(with_u_bit_toggled(guid), 16) + " or " + hex(guid, 16);
            bench.require(origin != Origin::another_guid, right + ", of the port GUID, or an opaque identifier",
                          hex(id, 16) + ", of another GUID");
            if (origin == Origin::another_guid) return;
            const auto& said = bench.profile().interface_id;
            if (origin == Origin::something_else) {
                bench.require(said != "guid", right + ": its profile says that it is made of the GUID", hex(id, 16));
                return bench.note("the identifier is not made of the GUID, as RFC 8064 recommends");
            }
            if (!said.empty() && said != "guid")
                return bench.note("the identifier has the GUID in it; its profile says \"" + said +
                                  "\", so it is not judged by what is stated of such ones");
            bench.note("the identifier is made of the GUID");
            // A set u bit marks a GUID that is a modified EUI-64 already, or one of local scope: only its maker knows.
            const bool has_u_bit = (guid >> 56 & 0x02) != 0;
            const auto& format = bench.profile().guid_format;
            if (format == "eui64" || (format != "modified-eui64" && !has_u_bit)) {
                bench.step("The u bit of an EUI-64 is toggled", rfc4391::iid_toggles_u_bit);
                bench.require(id == with_u_bit_toggled(guid), hex(with_u_bit_toggled(guid), 16), hex(id, 16));
            } else if (format == "modified-eui64") {
                bench.step("The u bit of a modified EUI-64 stays", rfc4391::guid_format_determined,
                           rfc4391::iid_keeps_u_bit);
                bench.require(id == guid, hex(guid, 16), hex(id, 16));
            } else {
                bench.same_step("It differs in the u bit at most", rfc4391::link_local_from_guid);
                bench.require(id == guid || id == with_u_bit_toggled(guid), right, hex(id, 16));
            }
        },
};

}  // namespace ipoib::conformance
