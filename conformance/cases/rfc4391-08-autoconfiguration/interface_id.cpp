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
    .checks = {&rfc4391::link_local_format, &rfc4391::iid_toggles_u_bit},
    .pass_if = "the prefix is fe80::/64; an identifier that is the port GUID has its u bit toggled",
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

            bench.step("An identifier made of the GUID has the u bit toggled", rfc4391::iid_toggles_u_bit);
            const auto guid = dut.gid.interface_id();
            const bool is_universal = (guid >> 56 & 0x02) == 0;
            if (dut.ipv6.interface_id() == with_u_bit_toggled(guid) || dut.ipv6.interface_id() == guid)
                bench.require(!is_universal || dut.ipv6.interface_id() != guid, hex(with_u_bit_toggled(guid), 16),
                              hex(dut.ipv6.interface_id(), 16));
            else
                bench.note("the identifier is not made of the GUID, as RFC 8064 recommends");
        },
};

}  // namespace ipoib::conformance
