// SPDX-License-Identifier: GPL-2.0-or-later
// Which messages of Neighbour Discovery take which Link-layer Address option; in others it is ignored. RFC 4861, 4.
#pragma once

#include "protocol/wire/icmpv6.hpp"

namespace ipoib::wire {

/// That of the sender.
[[nodiscard]] constexpr bool takes_source_option(Icmpv6Type type) noexcept {
    return type == Icmpv6Type::router_solicitation || type == Icmpv6Type::router_advertisement ||
           type == Icmpv6Type::neighbour_solicitation;
}
/// That of the target.
[[nodiscard]] constexpr bool takes_target_option(Icmpv6Type type) noexcept {
    return type == Icmpv6Type::neighbour_advertisement || type == Icmpv6Type::redirect;
}

}  // namespace ipoib::wire
