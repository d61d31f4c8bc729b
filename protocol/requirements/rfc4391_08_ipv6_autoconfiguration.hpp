// SPDX-License-Identifier: GPL-2.0-or-later
// IPv6 interface identifiers and link-local addresses. RFC 4391, section 8.
#pragma once

#include "protocol/requirements/requirement.hpp"

namespace ipoib::rfc4391 {

using requirements::Binds, requirements::Requirement, requirements::Seen, requirements::Strength, requirements::Test;

inline constexpr Requirement iid_from_guid{
    .id = "RFC4391-8-01",
    .level = "may",
    .strength = Strength::may,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive,
    .statement = "An interface may take its IPv6 interface identifier from the EUI-64 GUID of its port",
    .note = "RFC 8064 recommends stable opaque identifiers instead."};
inline constexpr Requirement iid_from_lid{
    .id = "RFC4391-8-02",
    .level = "may",
    .strength = Strength::may,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive,
    .statement =
        "An interface may take its IPv6 interface identifier from a LID of its port if the link stays in one IB subnet",
    .note = "RFC 8064 recommends stable opaque identifiers instead."};
inline constexpr Requirement link_local_from_guid{
    .id = "RFC4391-8-03",
    .level = "RECOMMENDED",
    .strength = Strength::should,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive | Test::active,
    .statement = "An interface builds its IPv6 link-local address from the EUI-64 of its port",
    .note = "RFC 8064 updates this: an opaque stable identifier is a PASS with a note."};
inline constexpr Requirement guid_format_determined{
    .id = "RFC4391-8-04",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::local,
    .test = Test::inspection | Test::active,
    .statement = "An interface finds out whether its GUID is a modified EUI-64 before it derives an identifier from it",
    .note = "Shows only through the u bit, as in RFC4391-8-05 and 8-06, and only if the GUID format is known."};
inline constexpr Requirement iid_keeps_u_bit{
    .id = "RFC4391-8-05",
    .level = "MUST NOT",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive | Test::active,
    .statement = "An interface leaves the u bit as it is when its GUID is already a modified EUI-64",
    .note = "Decidable only if the vendor states the GUID format; with an opaque identifier (RFC 8064) a note."};
inline constexpr Requirement iid_toggles_u_bit{
    .id = "RFC4391-8-06",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive | Test::active,
    .statement = "An interface inverts the u bit when its GUID is an unmodified EUI-64",
    .note =
        "Decidable only if the GUID format is stated or its u bit is 0; with an opaque identifier (RFC 8064) a note."};
inline constexpr Requirement link_local_format{
    .id = "RFC4391-8.1-01",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive | Test::active,
    .statement = "An IPv6 link-local address is the prefix fe80::/64 followed by the interface identifier"};

}  // namespace ipoib::rfc4391
