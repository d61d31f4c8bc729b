// SPDX-License-Identifier: GPL-2.0-or-later
// ICMPv6 and Neighbour Discovery with its options. RFC 4443; RFC 4861, 4; RFC 4391, 9.3.
#pragma once

#include "protocol/wire/field.hpp"

namespace ipoib::wire {

enum class Icmpv6Type : std::uint8_t {
    echo_request = 128,
    echo_reply = 129,
    mld_query = 130,
    mld_report = 131,
    mld_done = 132,
    router_solicitation = 133,
    router_advertisement = 134,
    neighbour_solicitation = 135,
    neighbour_advertisement = 136,
    redirect = 137,
    mld2_report = 143,
};

/// The first eight octets of every ICMPv6 message. RFC 4443, 2.1.
struct Icmpv6 {
    static constexpr std::string_view key = "icmpv6", name = "ICMPv6",
                                      title = "Internet Control Message Protocol version 6";
    static constexpr std::size_t size = 8;
    static constexpr std::array<Named, 11> type_names{{{128, "echo request"},
                                                       {129, "echo reply"},
                                                       {130, "Multicast Listener Query"},
                                                       {131, "Multicast Listener Report"},
                                                       {132, "Multicast Listener Done"},
                                                       {133, "Router Solicitation"},
                                                       {134, "Router Advertisement"},
                                                       {135, "Neighbour Solicitation"},
                                                       {136, "Neighbour Advertisement"},
                                                       {137, "Redirect"},
                                                       {143, "Multicast Listener Report, version 2"}}};
    static constexpr Field<Icmpv6, Icmpv6Type> type{"Type", octet(0), 8, Show::dec, "", type_names};
    static constexpr Field<Icmpv6, std::uint8_t> code{"Code", octet(1), 8, Show::dec, ""};
    static constexpr Field<Icmpv6, std::uint16_t> checksum{"Checksum", octet(2), 16, Show::hex, ""};
    static constexpr Field<Icmpv6, std::uint32_t> body{"Body", octet(4), 32, Show::hex,
                                                       "Flags, identifier and sequence: by type"};
    static constexpr auto fields = table(type, code, checksum, body);
};
static_assert(tiles(Icmpv6::fields, Icmpv6::size));

/// Octets before the options of a Neighbour Discovery message (the ICMPv6 head counted in), or 0 for other messages.
/// RFC 4861, 4.1 to 4.5.
constexpr std::size_t nd_options_offset(Icmpv6Type type) noexcept {
    switch (type) {
        case Icmpv6Type::router_solicitation:
            return 8;
        case Icmpv6Type::router_advertisement:
            return 16;
        case Icmpv6Type::neighbour_solicitation:
        case Icmpv6Type::neighbour_advertisement:
            return 24;
        case Icmpv6Type::redirect:
            return 40;
        default:
            return 0;
    }
}

/// The target address of a Neighbour Solicitation, Advertisement or Redirect. RFC 4861, 4.3 to 4.5.
struct NdTarget {
    static constexpr std::string_view key = "nd", name = "ND", title = "Neighbour Discovery target";
    static constexpr std::size_t size = 16;
    static constexpr Field<NdTarget, Gid> target{"Target", octet(0), 128, Show::ipv6, "Target address"};
    static constexpr auto fields = table(target);
};
static_assert(tiles(NdTarget::fields, NdTarget::size));

/// Calls `visit(option)` with the octets of each Neighbour Discovery option, type and length included. Ends at the
/// first option that is empty or does not fit, which is returned (empty when all fitted). RFC 4861, 4.6.
template <class Visit>
constexpr Octets for_each_nd_option(Octets options, Visit&& visit) {
    while (!options.empty()) {
        if (options.size() < 2 || options[1] == 0 || options.size() < options[1] * std::size_t{8}) return options;
        const auto length = options[1] * std::size_t{8};
        visit(options.first(length));
        options = options.subspan(length);
    }
    return {};
}

}  // namespace ipoib::wire
