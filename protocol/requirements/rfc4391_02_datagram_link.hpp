// SPDX-License-Identifier: GPL-2.0-or-later
// What RFC 4391 says of UD mode and of the InfiniBand datalink. Sections 2 and 3.
#pragma once

#include "protocol/requirements/requirement.hpp"

namespace ipoib::rfc4391 {

using requirements::Binds, requirements::Requirement, requirements::Seen, requirements::Strength, requirements::Test;

inline constexpr Requirement ud_transport{
    .id = "RFC4391-2-01",
    .level = "MUST",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive | Test::active,
    .statement = "An IPoIB implementation carries IP over the Unreliable Datagram transport",
    .part_of = {"RFC4755-2-01"}};
inline constexpr Requirement fabric_multicast{
    .id = "RFC4391-2-02",
    .level = "requires",
    .strength = Strength::must,
    .binds = Binds::administrator | Binds::interface,
    .seen = Seen::sa,
    .test = Test::inspection | Test::active,
    .statement =
        "Everything that takes part in an IPoIB subnet, from switches to adapters, supports InfiniBand multicast",
    .same_as = {"RFC4392-3.2-01"}};
inline constexpr Requirement ud_same_partition_and_qkey{
    .id = "RFC4391-3-01",
    .level = "stmt",
    .strength = Strength::must,
    .binds = Binds::interface,
    .seen = Seen::wire,
    .test = Test::passive | Test::active,
    .statement = "An interface exchanges packets over UD only with ports of its own partition that use its own Q_Key"};

}  // namespace ipoib::rfc4391
