// SPDX-License-Identifier: GPL-2.0-or-later
// The answers of RFC 4391 and RFC 4755 that are longer than one line.
#include "stack/answers.hpp"

#include "stack/octets.hpp"

namespace ipoib::stack {
using namespace wire;

namespace {
constexpr std::uint64_t universal_bit = std::uint64_t{0x02} << 56;
}

/// RFC 4391, 4: the lower 80 bits of the address, as they are.
GroupId answers::ipv6_group_id(const Gid& group) noexcept {
    return {static_cast<std::uint16_t>(group.prefix()), group.interface_id()};
}

/// RFC 4391, 4: the 28 bits that tell groups apart; the others are zero.
GroupId answers::ipv4_group_id(std::uint32_t group) noexcept { return {0, group & 0x0fffffff}; }

/// RFC 4391, 10. 224.0.0.0/24 never leaves its link (RFC 5771, 4); IPv6 groups name their scope.
bool answers::is_beyond_link_local(const IpAddress& group) noexcept {
    constexpr unsigned ipv6_link_local = 2;
    if (group.is_v4()) return group.v4() >> 8 != 0xe00000;
    return (group.octets.octets[1] & 0x0f) > ipv6_link_local;
}

/// RFC 4391, 5: the host part is all ones. RFC 3021: a prefix of 31 bits has no broadcast address.
bool answers::is_directed_broadcast(const IpAddress& address, const IpNetwork& network) noexcept {
    if (!network.address.is_v4() || network.length > 30 || !network.contains(address)) return false;
    const auto host = 0xffffffffu >> network.length;
    return (address.v4() & host) == host;
}

/// RFC 4391, 8: in a modified EUI-64 of universal scope the u bit is set; a GUID of the maker is universal.
bool answers::is_modified_eui64(std::uint64_t guid) noexcept { return (guid & universal_bit) != 0; }

/// RFC 4391, 8.
std::uint64_t answers::interface_id(std::uint64_t guid, bool is_modified) noexcept {
    return is_modified ? guid : guid ^ universal_bit;
}

/// RFC 4391, 9.3: three units of eight octets, two zero octets before the address.
std::vector<std::uint8_t> answers::nd_option(std::uint8_t type, const HardwareAddress& address) {
    Bytes<LinkAddressOption> option;
    option.set(LinkAddressOption::type, type)
        .set(LinkAddressOption::length, LinkAddressOption::size / 8)
        .set(LinkAddressOption::padding, 0)
        .set(LinkAddressOption::flags, address[LinkAddress::flags])
        .set(LinkAddressOption::qpn, address[LinkAddress::qpn])
        .set(LinkAddressOption::gid, address[LinkAddress::gid]);
    return octets_of(option);
}

/// RFC 4391, 11: groups of IPv4 and IPv6; those of other links have another P_Key.
bool answers::is_group_of_link(const Gid& mgid, const Link& link) noexcept {
    return has_ipoib_signature(mgid) && mgid_of(mgid)[Mgid::p_key] == (link.p_key | full_membership);
}

/// RFC 4755, 3.5.
std::uint64_t answers::service_id(std::uint32_t ud_qpn) noexcept {
    const auto id =
        Bytes<IpoibServiceId>{}.set(IpoibServiceId::prefix, IpoibServiceId::ietf).set(IpoibServiceId::qpn, ud_qpn);
    return read_bits(id.octets.data(), octet(0), 64);
}

/// RFC 4755, 5.1: the smaller Receive MTU, which counts the encapsulation header.
std::size_t answers::connection_mtu(std::size_t own, std::size_t of_peer) noexcept {
    const auto smaller = std::min(own, of_peer);
    return smaller - std::min(smaller, Encap::size);
}

/// RFC 4755, 3.3: compared from the first octet on, flags taken for zero.
bool answers::accepts_crossing(const HardwareAddress& local, const HardwareAddress& remote) noexcept {
    auto a = local, b = remote;
    a.set(LinkAddress::flags, 0);
    b.set(LinkAddress::flags, 0);
    return a.octets < b.octets;
}

/// RFC 4361, 6.1: one IAID for the one interface of a port, and a DUID-LL of the port's GUID.
std::vector<std::uint8_t> answers::dhcp_client_identifier(std::uint64_t port_guid) {
    constexpr std::uint16_t duid_ll = 3;
    const auto head = Bytes<DhcpClientId>{}
                          .set(DhcpClientId::type, DhcpClientId::iaid_and_duid)
                          .set(DhcpClientId::iaid, static_cast<std::uint32_t>(port_guid))
                          .set(DhcpClientId::duid_type, duid_ll);
    auto octets = octets_of(head);
    append(octets, std::array<std::uint8_t, 2>{0, Dhcp::infiniband});
    std::array<std::uint8_t, 8> guid{};
    write_bits(guid.data(), octet(0), 64, port_guid);
    append(octets, guid);
    return octets;
}

}  // namespace ipoib::stack
