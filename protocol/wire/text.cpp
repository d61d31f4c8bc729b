// SPDX-License-Identifier: GPL-2.0-or-later
// Field values as text.
#include "protocol/wire/text.hpp"

#include "protocol/wire/mgid.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <charconv>

namespace ipoib::wire {
namespace {

constexpr std::string_view digits_of_hex = "0123456789abcdef";

std::string octets_text(Octets octets, Show show) {
    if (show != Show::text) return hex_octets(octets);
    std::string text;
    for (const auto o : octets) {
        if (o == 0) break;
        text += o >= 0x20 && o < 0x7f ? static_cast<char>(o) : '?';
    }
    return '"' + text + '"';
}

}  // namespace

std::string hex(std::uint64_t value, unsigned digits) {
    std::string text = "0x";
    for (unsigned i = digits; i-- > 0;) text += digits_of_hex[i < 16 ? value >> 4 * i & 0xf : 0];
    return text;
}

std::string hex_octets(Octets octets, std::size_t most) {
    std::string text;
    for (const auto o : octets.first(std::min(most, octets.size()))) {
        text += digits_of_hex[o >> 4];
        text += digits_of_hex[o & 0xf];
    }
    if (octets.size() > most) text += "...";
    return text;
}

std::string text(const Gid& gid) {
    std::array<char, INET6_ADDRSTRLEN> buffer{};
    inet_ntop(AF_INET6, gid.octets.data(), buffer.data(), buffer.size());
    std::string written = buffer.data();
    // inet_ntop writes the low 32 bits of ::a.b.c.d forms as IPv4; a GID has none.
    if (written.find('.') == std::string::npos) return written;
    const auto low = gid.interface_id();
    const auto group = [&](unsigned shift) {
        auto digits = hex(low >> shift & 0xffff, 4).substr(2);
        digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size() - 1));
        return digits;
    };
    return written.substr(0, written.rfind(':') + 1) + group(16) + ':' + group(0);
}

std::string ipv4_text(std::uint32_t address) {
    std::string text;
    for (int shift = 24; shift >= 0; shift -= 8) text += std::to_string(address >> shift & 0xff) + (shift ? "." : "");
    return text;
}

std::string group_text(const Gid& mgid) {
    if (is_broadcast_gid(mgid)) return "the broadcast group";
    if (const auto group = ipv4_group_of(mgid)) return ipv4_text(*group);
    const auto view = mgid_of(mgid);
    if (view[Mgid::signature] != ipv6_signature) return {};
    // The MGID holds neither the address' flags and scope nor the 32 bits behind them.
    auto words = text(Gid::of(std::uint64_t{0xff02} << 48 | view[Mgid::group_high], view[Mgid::group_low]));
    return words.replace(2, 2, "xx");
}

std::string value_text(const FieldSpec& field, const std::uint8_t* header) {
    return value_text(field, header, field.names);
}

std::string value_text(const FieldSpec& field, const std::uint8_t* header, Names names) {
    if (field.width > 64 || field.show == Show::octets || field.show == Show::text) {
        const Octets octets{header + field.at.bit / 8, field.width / 8u};
        if (field.show != Show::gid && field.show != Show::ipv6) return octets_text(octets, field.show);
        return text(detail::read<Gid>(header, field));
    }
    const auto value = read_bits(header, field.at, field.width);
    const bool is_decimal = field.show == Show::dec || field.show == Show::flag;
    auto number = is_decimal ? std::to_string(value) : hex(value, (field.width + 3u) / 4u);
    if (field.show == Show::ipv4) return ipv4_text(static_cast<std::uint32_t>(value));
    if (names.empty()) return number;
    const auto name = name_of(names, value);
    if (name.empty()) return "unknown (" + number + ")";
    return number + " (" + std::string(name) + ")";
}

std::optional<std::uint64_t> parse_number(std::string_view written) {
    constexpr int hexadecimal = 16, decimal = 10;
    const bool is_hex = written.starts_with("0x") || written.starts_with("0X");
    if (is_hex) written.remove_prefix(2);
    std::uint64_t value = 0;
    const auto* const end = written.data() + written.size();
    const auto [stop, error] = std::from_chars(written.data(), end, value, is_hex ? hexadecimal : decimal);
    if (error != std::errc{} || stop != end) return {};
    return value;
}

std::optional<Gid> parse_gid(std::string_view written) {
    Gid gid;
    if (inet_pton(AF_INET6, std::string(written).c_str(), gid.octets.data()) != 1) return {};
    return gid;
}

std::optional<std::uint32_t> parse_ipv4(std::string_view written) {
    std::array<std::uint8_t, 4> octets{};
    if (inet_pton(AF_INET, std::string(written).c_str(), octets.data()) != 1) return {};
    return static_cast<std::uint32_t>(read_bits(octets.data(), At{0}, 32));
}

std::optional<std::vector<std::uint8_t>> parse_octets(std::string_view written) {
    std::vector<std::uint8_t> octets;
    bool is_half = false;
    for (const char c : written) {
        const auto lower = static_cast<char>(c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c);
        const auto digit = digits_of_hex.find(lower);
        if (digit == std::string_view::npos) {
            if (is_half || std::string_view{" \t\r\n:-"}.find(c) == std::string_view::npos) return {};
            continue;
        }
        if (is_half)
            octets.back() = static_cast<std::uint8_t>(octets.back() | digit);
        else
            octets.push_back(static_cast<std::uint8_t>(digit << 4));
        is_half = !is_half;
    }
    if (is_half) return {};
    return octets;
}

}  // namespace ipoib::wire
