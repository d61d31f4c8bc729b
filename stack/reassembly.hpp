// SPDX-License-Identifier: GPL-2.0-or-later
// Fragments put together again. RFC 791, 3.2; RFC 8200, 4.5.
#pragma once

#include "fabric/loop.hpp"
#include "protocol/wire/ip.hpp"
#include "protocol/wire/ip_address.hpp"

#include <bitset>
#include <map>
#include <vector>

namespace ipoib::stack {

/// Fragment header of IPv6. RFC 8200, 4.5.
struct FragmentHeader {
    static constexpr std::string_view key = "fragment", name = "Fragment", title = "IPv6 fragment header";
    static constexpr std::size_t size = 8;
    template <class T>
    using F = wire::Field<FragmentHeader, T>;

    static constexpr F<wire::IpProtocol> next_header{"NextHeader", wire::octet(0), 8, wire::Show::dec, ""};
    static constexpr F<std::uint8_t> reserved8{"Reserved", wire::octet(1), 8, wire::Show::reserved, ""};
    static constexpr F<std::uint16_t> offset{"FragmentOffset", wire::octet(2), 13, wire::Show::dec, "In 8-octet units"};
    static constexpr F<std::uint8_t> reserved2{"Res", wire::octet(3, 5), 2, wire::Show::reserved, ""};
    static constexpr F<bool> more{"M", wire::octet(3, 7), 1, wire::Show::flag, "More fragments"};
    static constexpr F<std::uint32_t> identification{"Identification", wire::octet(4), 32, wire::Show::hex, ""};
    static constexpr auto fields = wire::table(next_header, reserved8, offset, reserved2, more, identification);
};
static_assert(wire::tiles(FragmentHeader::fields, FragmentHeader::size));

/// A few datagrams in the making; the oldest gives way.
class Reassembly {
public:
    static constexpr std::size_t most_datagrams = 16, longest = 65535;
    static constexpr fabric::Duration patience = std::chrono::seconds{30};

    struct Key {
        wire::IpAddress source, destination;
        std::uint32_t identification = 0;
        wire::IpProtocol protocol{};
        friend auto operator<=>(const Key&, const Key&) = default;
    };
    /// Adds a fragment, `offset` in octets. The whole payload once all are there (valid until the next call), else
    /// empty.
    [[nodiscard]] wire::Octets add(const Key& key, std::size_t offset, bool has_more, wire::Octets piece,
                                   fabric::Time now);
    /// Whether the fragment added last held octets of one before.
    [[nodiscard]] bool has_overlapped() const noexcept { return has_overlapped_; }

private:
    static constexpr std::size_t unit = 8;
    struct Datagram {
        fabric::Time began{};
        std::vector<std::uint8_t> octets;
        std::bitset<(longest + unit) / unit> units;
        std::size_t length = 0;  ///< known with the last fragment
    };
    void make_room(fabric::Time now);
    std::map<Key, Datagram> datagrams_;
    std::vector<std::uint8_t> whole_;
    bool has_overlapped_ = false;
};

}  // namespace ipoib::stack
