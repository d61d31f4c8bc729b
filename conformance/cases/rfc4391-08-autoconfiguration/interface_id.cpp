// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

namespace {

/// The interface identifier that an unmodified EUI-64 gives. RFC 4391, 8.
std::uint64_t with_u_bit_toggled(std::uint64_t guid) { return guid ^ std::uint64_t{0x02} << 56; }

}  // namespace

const Case interface_id_is_of_the_guid{
    .id = "IPOIB-4391-8-VAL-001",
    .title = "The link-local address is fe80::/64 and an interface identifier made of the port GUID as the text says",
    .checks = {&rfc4391::link_local_format, &rfc4391::link_local_from_guid, &rfc4391::iid_toggles_u_bit,
               &rfc4391::guid_format_determined, &rfc4391::iid_keeps_u_bit},
    .pass_if =
        "the prefix is fe80::/64; an identifier made of the GUID has the u bit of an EUI-64 toggled, of a modified one "
        "not",
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
            bench.require(true, "either");
            if (id != guid && id != with_u_bit_toggled(guid))
                return bench.note("the identifier is not made of the GUID, as RFC 8064 recommends");
            bench.note("the identifier is made of the GUID");
            // A set u bit marks a GUID that is a modified EUI-64 already, or one of local scope: only its maker knows.
            const bool has_u_bit = (guid >> 56 & 0x02) != 0;
            if (!has_u_bit) {
                bench.step("The u bit of an EUI-64 is toggled", rfc4391::iid_toggles_u_bit);
                bench.require(id != guid, hex(with_u_bit_toggled(guid), 16), hex(id, 16));
            } else if (bench.profile().guid_format == "modified-eui64") {
                bench.step("The u bit of a modified EUI-64 stays", rfc4391::guid_format_determined,
                           rfc4391::iid_keeps_u_bit);
                bench.require(id == guid, hex(guid, 16), hex(id, 16));
            }
        },
};

}  // namespace ipoib::conformance
