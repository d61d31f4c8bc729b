// SPDX-License-Identifier: GPL-2.0-or-later
// Wrong interface identifiers. RFC 4391, 8.
#include "conformance/mutants/prelude.hpp"

namespace ipoib::conformance {

const Mutant u_bit_not_toggled{
    .name = "u-bit-not-toggled",
    .what = "leaves the u bit of the GUID as it is",
    .breaks = {&rfc4391::iid_toggles_u_bit},
    .stack = [](Policy& policy) { policy.interface_id = [](std::uint64_t guid, bool) { return guid; }; },
};

const Mutant another_bit_toggled{
    .name = "another-bit-toggled",
    .what = "toggles the bit beside the u bit of the GUID",
    .breaks = {&rfc4391::iid_toggles_u_bit},
    .stack =
        [](Policy& policy) {
            policy.interface_id = [](std::uint64_t guid, bool) { return guid ^ std::uint64_t{0x04} << 56; };
        },
};

const Mutant id_of_another_guid{
    .name = "id-of-another-guid",
    .what = "makes its interface identifier of a GUID that differs from the port's in one bit",
    .breaks = {&rfc4391::link_local_from_guid},
    .stack =
        [](Policy& policy) {
            policy.interface_id = [](std::uint64_t guid, bool) { return (guid ^ std::uint64_t{0x02} << 56) ^ 1; };
        },
};

const Mutant link_local_prefix_wrong{
    .name = "link-local-prefix",
    .what = "uses fec0::/64 for the link-local address",
    .breaks = {&rfc4391::link_local_format},
    .stack =
        [](Policy& policy) {
            policy.link_local = [](std::uint64_t id) { return Gid::of(std::uint64_t{0xfec0} << 48, id); };
        },
};

const Mutant u_bit_always_toggled{
    .name = "u-bit-always-toggled",
    .what = "toggles the u bit of a GUID that is a modified EUI-64 already",
    .breaks = {&rfc4391::guid_format_determined, &rfc4391::iid_keeps_u_bit},
    .stack = [](Policy& policy) { policy.is_modified_eui64 = [](std::uint64_t) { return false; }; },
    .scenario = "modified-guid",
};

const Mutant group_bit_toggled_too{
    .name = "group-bit-toggled",
    .what = "toggles the bit for groups beside the u bit, too",
    .breaks = {&rfc4391::iid_toggles_u_bit},
    .stack =
        [](Policy& policy) {
            policy.interface_id = [](std::uint64_t guid, bool) { return guid ^ std::uint64_t{0x03} << 56; };
        },
};

}  // namespace ipoib::conformance
