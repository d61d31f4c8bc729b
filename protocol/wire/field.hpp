// SPDX-License-Identifier: GPL-2.0-or-later
// How a wire format is declared: one Field per row of the header's picture, in network byte order.
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <type_traits>
#include <utility>

namespace ipoib::wire {

/// Octets as they stand on the wire; a view, never a copy.
using Octets = std::span<const std::uint8_t>;
using MutableOctets = std::span<std::uint8_t>;

/// A 128-bit global identifier: a port's GID, a multicast group's MGID, or an IPv6 address.
struct Gid {
    std::array<std::uint8_t, 16> octets{};
    friend constexpr auto operator<=>(const Gid&, const Gid&) = default;
    /// Two words, not sixteen octets: tables of GIDs compare them all the time.
    friend constexpr bool operator==(const Gid& a, const Gid& b) noexcept {
        return a.interface_id() == b.interface_id() && a.prefix() == b.prefix();
    }

    /// The upper 64 bits: the subnet prefix of a unicast GID.
    [[nodiscard]] constexpr std::uint64_t prefix() const noexcept { return half(0); }
    /// The lower 64 bits: the port GUID of a default GID, the interface identifier of an IPv6 address.
    [[nodiscard]] constexpr std::uint64_t interface_id() const noexcept { return half(8); }
    [[nodiscard]] constexpr bool is_multicast() const noexcept { return octets[0] == 0xff; }
    [[nodiscard]] constexpr bool is_zero() const noexcept { return *this == Gid{}; }

    static constexpr Gid of(std::uint64_t upper, std::uint64_t lower) noexcept {
        Gid gid;
        for (unsigned i = 0; i < 8; ++i) {
            gid.octets[i] = static_cast<std::uint8_t>(upper >> (56 - 8 * i));
            gid.octets[8 + i] = static_cast<std::uint8_t>(lower >> (56 - 8 * i));
        }
        return gid;
    }

private:
    [[nodiscard]] constexpr std::uint64_t half(std::size_t first) const noexcept {
        std::uint64_t value = 0;
        // One load: compilers make none of the loop.
        if (!std::is_constant_evaluated() && std::endian::native == std::endian::little) {
            std::memcpy(&value, octets.data() + first, sizeof(value));
            return __builtin_bswap64(value);
        }
        for (std::size_t i = first; i < first + 8; ++i) value = value << 8 | octets[i];
        return value;
    }
};

/// A run of octets too long for an integer (a NodeString, a MAC address): shown in hex or as text.
template <std::size_t N>
using OctetArray = std::array<std::uint8_t, N>;

/// How a field's value is written for a person. `reserved` rows are zero on send and ignored on receive.
enum class Show : std::uint8_t { hex, dec, flag, gid, ipv4, ipv6, text, octets, reserved };

/// Position of a field's most significant bit, counted from the header's first bit.
struct At {
    std::uint16_t bit;
};
consteval At octet(unsigned index, unsigned bit = 0) { return {static_cast<std::uint16_t>(index * 8 + bit)}; }

/// A value of a field that has a name of its own, e.g. {0x64, "UD SEND Only"}.
struct Named {
    std::uint64_t value;
    std::string_view name;
};
using Names = std::span<const Named>;
/// The name of a value; empty where it has none.
constexpr std::string_view name_of(Names names, std::uint64_t value) noexcept {
    for (const auto& named : names)
        if (named.value == value) return named.name;
    return {};
}

/// One row of a header, without its type: what reports, the generator and Wireshark need.
struct FieldSpec {
    std::string_view name;  ///< the text's own spelling, e.g. "DestQP"
    At at;
    std::uint16_t width;  ///< in bits
    Show show;
    std::string_view help;
    Names names{};  ///< known values; an unknown value is shown as "unknown (0x...)"
};

/// One row of `Header`, read and written as a `T`. A field of another header does not compile.
template <class Header, class T>
struct Field : FieldSpec {
    using header = Header;
    using type = T;
};

/// The rows of a header, in order.
template <class Header, class... T>
consteval std::array<FieldSpec, sizeof...(T)> table(const Field<Header, T>&... fields) {
    return {static_cast<const FieldSpec&>(fields)...};
}

/// Whether the rows cover every bit of `octets` octets once and in order.
template <std::size_t N>
consteval bool tiles(const std::array<FieldSpec, N>& fields, std::size_t octets) {
    std::size_t next = 0;
    for (const auto& field : fields) {
        if (field.at.bit != next) return false;
        next += field.width;
    }
    return next == octets * 8;
}

/// A header without its type. `key` names it in filters and overrides ("encap"), `name` in reports ("Encap").
struct HeaderSpec {
    std::string_view key, name, title;
    std::size_t size;
    std::span<const FieldSpec> fields;
};

template <class Header>
inline constexpr HeaderSpec spec_of{Header::key, Header::name, Header::title, Header::size, Header::fields};

/// The `width` bits (1 to 64) at `at`, most significant first. `octets` must reach that far.
constexpr std::uint64_t read_bits(const std::uint8_t* octets, At at, unsigned width) noexcept {
    const unsigned end = at.bit + width, last = (end - 1) / 8;
    const unsigned unused = 8 * (last + 1) - end;
    std::uint64_t value = octets[at.bit / 8] & (0xffu >> at.bit % 8);
    if (at.bit / 8 == last) return value >> unused;
    for (unsigned i = at.bit / 8 + 1; i < last; ++i) value = value << 8 | octets[i];
    return value << (8 - unused) | (octets[last] >> unused);
}

namespace detail {
constexpr void write_parts(std::uint8_t* octets, At at, unsigned width, std::uint64_t value) noexcept {
    for (unsigned end = at.bit + width; end > at.bit;) {
        const unsigned in_octet = (end - 1) % 8 + 1;
        const unsigned take = in_octet < end - at.bit ? in_octet : end - at.bit;
        const unsigned shift = 8 - in_octet, mask = ((1u << take) - 1) << shift;
        auto& o = octets[(end - 1) / 8];
        o = static_cast<std::uint8_t>((o & ~mask) | ((static_cast<unsigned>(value) << shift) & mask));
        value >>= take;
        end -= take;
    }
}
/// Compilers make one store of these.
template <std::size_t... I>
constexpr void write_octets(std::uint8_t* octets, std::uint64_t value, std::index_sequence<I...>) noexcept {
    ((octets[I] = static_cast<std::uint8_t>(value >> 8 * (sizeof...(I) - 1 - I))), ...);
}
}  // namespace detail

/// Writes the low `width` bits (1 to 64) of `value` at `at` and leaves the neighbouring bits alone.
constexpr void write_bits(std::uint8_t* octets, At at, unsigned width, std::uint64_t value) noexcept {
    if (at.bit % 8 == 0) {
        // Most fields are whole octets.
        auto* const begin = octets + at.bit / 8;
        if (width == 8) return detail::write_octets(begin, value, std::make_index_sequence<1>{});
        if (width == 16) return detail::write_octets(begin, value, std::make_index_sequence<2>{});
        if (width == 32) return detail::write_octets(begin, value, std::make_index_sequence<4>{});
        if (width == 64) return detail::write_octets(begin, value, std::make_index_sequence<8>{});
    }
    detail::write_parts(octets, at, width, value);
}

/// A number in the other byte order.
constexpr std::uint16_t swapped(std::uint16_t value) noexcept {
    return static_cast<std::uint16_t>(value << 8 | value >> 8);
}

namespace detail {
template <class T>
inline constexpr bool is_octet_array = false;
template <std::size_t N>
inline constexpr bool is_octet_array<OctetArray<N>> = true;

template <class T>
constexpr T read(const std::uint8_t* octets, const FieldSpec& field) noexcept {
    if constexpr (std::same_as<T, Gid>) {
        Gid gid;
        for (std::size_t i = 0; i < 16; ++i) gid.octets[i] = octets[field.at.bit / 8 + i];
        return gid;
    } else if constexpr (is_octet_array<T>) {
        T value{};
        for (std::size_t i = 0; i < value.size(); ++i) value[i] = octets[field.at.bit / 8 + i];
        return value;
    } else {
        return static_cast<T>(read_bits(octets, field.at, field.width));
    }
}

template <class T>
constexpr void write(std::uint8_t* octets, const FieldSpec& field, const T& value) noexcept {
    if constexpr (std::same_as<T, Gid>) {
        for (std::size_t i = 0; i < 16; ++i) octets[field.at.bit / 8 + i] = value.octets[i];
    } else if constexpr (is_octet_array<T>) {
        for (std::size_t i = 0; i < value.size(); ++i) octets[field.at.bit / 8 + i] = value[i];
    } else {
        write_bits(octets, field.at, field.width, static_cast<std::uint64_t>(value));
    }
}
}  // namespace detail

/// A header found in a packet, or its absence. The octets were checked once, when the view was made, so reading a
/// field cannot fail; reading from an absent header is a programming error.
template <class Header>
class View {
public:
    using header = Header;
    constexpr View() noexcept = default;
    /// The header at the beginning of `octets`; absent when they are too short.
    static constexpr View at(Octets octets) noexcept {
        return octets.size() < Header::size ? View{} : View{octets.data()};
    }

    constexpr explicit operator bool() const noexcept { return data_ != nullptr; }
    template <class T>
    constexpr T operator[](const Field<Header, T>& field) const noexcept {
        return detail::read<T>(data_, field);
    }
    [[nodiscard]] constexpr const std::uint8_t* data() const noexcept { return data_; }
    [[nodiscard]] constexpr Octets octets() const noexcept { return data_ ? Octets{data_, Header::size} : Octets{}; }

private:
    constexpr explicit View(const std::uint8_t* data) noexcept : data_(data) {}
    const std::uint8_t* data_ = nullptr;
};

/// A header that owns its octets, all zero at first, to be written field by field.
template <class Header>
struct Bytes {
    std::array<std::uint8_t, Header::size> octets{};

    template <class T>
    constexpr Bytes& set(const Field<Header, T>& field, const std::type_identity_t<T>& value) noexcept {
        detail::write<T>(octets.data(), field, value);
        return *this;
    }
    template <class T>
    constexpr T operator[](const Field<Header, T>& field) const noexcept {
        return detail::read<T>(octets.data(), field);
    }
    [[nodiscard]] constexpr View<Header> view() const noexcept { return View<Header>::at(octets); }
};

/// Overwrites one field of a header that stands at the beginning of `octets`, which must hold the whole header.
template <class Header, class T>
constexpr void set_field(MutableOctets octets, const Field<Header, T>& field,
                         const std::type_identity_t<T>& value) noexcept {
    detail::write<T>(octets.data(), field, value);
}

}  // namespace ipoib::wire
