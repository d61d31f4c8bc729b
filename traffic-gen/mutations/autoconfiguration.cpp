// SPDX-License-Identifier: GPL-2.0-or-later
// Wrong link-local addresses. RFC 4391, 8.
#include "traffic-gen/mutation.hpp"

namespace ipoib::traffic {
using namespace wire;

namespace {

/// Changes the sender's IPv6 address.
template <std::uint64_t Prefix, std::uint64_t InterfaceId>
void change_source(build::PacketBuilder& packet) {
    const auto ipv6 = packet.get<Ipv6>();
    if (!ipv6) return;
    const auto source = ipv6[Ipv6::source];
    packet.set(Ipv6::source, Gid::of(source.prefix() ^ Prefix, source.interface_id() ^ InterfaceId));
}

const Mutation u_bit_not_inverted{
    .name = "iid-u-bit",
    .what = "an interface identifier of the port GUID whose u bit was not inverted",
    .breaks = {&rfc4391::iid_toggles_u_bit},
    .profile = "nd",
    .change = change_source<0, std::uint64_t{0x02} << 56>,
};

const Mutation prefix_beyond_10_bits{
    .name = "link-local-prefix",
    .what = "a link-local address whose bits behind fe80::/10 are not zero",
    .breaks = {&rfc4391::link_local_format},
    .profile = "ping6",
    .change = change_source<0x1, 0>,
};

}  // namespace
}  // namespace ipoib::traffic
