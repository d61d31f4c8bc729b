// SPDX-License-Identifier: GPL-2.0-or-later
// An IP address of either version, where a program must handle both. RFC 4291, 2.5.5.2 for the common form.
#pragma once

#include "protocol/wire/text.hpp"

namespace ipoib::wire {

/// IPv4 or IPv6; an IPv4 address is held as an IPv4-mapped IPv6 address.
struct IpAddress {
    Gid octets;

    static constexpr IpAddress v4(std::uint32_t address) noexcept {
        return {Gid::of(0, std::uint64_t{0xffff} << 32 | address)};
    }
    static constexpr IpAddress v6(const Gid& address) noexcept { return {address}; }

    [[nodiscard]] constexpr bool is_v4() const noexcept {
        return octets.prefix() == 0 && octets.interface_id() >> 32 == 0xffff;
    }
    /// In host byte order; only of an IPv4 address.
    [[nodiscard]] constexpr std::uint32_t v4() const noexcept {
        return static_cast<std::uint32_t>(octets.interface_id());
    }
    [[nodiscard]] constexpr bool is_multicast() const noexcept {
        return is_v4() ? v4() >> 28 == 0xe : octets.is_multicast();
    }
    /// 255.255.255.255; directed broadcasts need the prefix length.
    [[nodiscard]] constexpr bool is_limited_broadcast() const noexcept { return is_v4() && v4() == 0xffffffff; }
    friend constexpr auto operator<=>(const IpAddress&, const IpAddress&) = default;
};

/// "10.1.0.9", "fe80::1".
[[nodiscard]] inline std::string text(const IpAddress& address) {
    return address.is_v4() ? ipv4_text(address.v4()) : text(address.octets);
}
[[nodiscard]] inline std::optional<IpAddress> parse_ip(std::string_view text) {
    if (const auto v4 = parse_ipv4(text)) return IpAddress::v4(*v4);
    if (const auto v6 = parse_gid(text)) return IpAddress::v6(*v6);
    return {};
}

/// An address with the length of its prefix: "10.1.0.9/24".
struct IpNetwork {
    IpAddress address;
    std::uint8_t length = 0;  ///< in bits, of 32 or 128

    /// Whether another address of the same version lies within the prefix.
    [[nodiscard]] constexpr bool contains(const IpAddress& other) const noexcept {
        if (other.is_v4() != address.is_v4()) return false;
        const unsigned bits = length + (address.is_v4() ? 96u : 0u);
        for (unsigned i = 0; i < bits; ++i) {
            const unsigned mask = 0x80u >> i % 8;
            if ((address.octets.octets[i / 8] & mask) != (other.octets.octets[i / 8] & mask)) return false;
        }
        return true;
    }
    friend constexpr auto operator<=>(const IpNetwork&, const IpNetwork&) = default;
};
[[nodiscard]] inline std::string text(const IpNetwork& network) {
    return text(network.address) + '/' + std::to_string(network.length);
}
/// Refuses a missing or too long prefix length.
[[nodiscard]] inline std::optional<IpNetwork> parse_network(std::string_view text) {
    const auto slash = text.find('/');
    if (slash == std::string_view::npos) return {};
    const auto address = parse_ip(text.substr(0, slash));
    const auto digits = text.substr(slash + 1);
    if (!address || digits.empty() || digits.size() > 3) return {};
    unsigned length = 0;
    for (const char c : digits) {
        if (c < '0' || c > '9') return {};
        length = length * 10 + static_cast<unsigned>(c - '0');
    }
    if (length > (address->is_v4() ? 32u : 128u)) return {};
    return IpNetwork{*address, static_cast<std::uint8_t>(length)};
}

}  // namespace ipoib::wire
