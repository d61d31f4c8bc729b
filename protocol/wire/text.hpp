// SPDX-License-Identifier: GPL-2.0-or-later
// Field values, GIDs and addresses as a person writes them, and read back. Allocates: not for the decode path.
#pragma once

#include "protocol/wire/field.hpp"

#include <string>
#include <vector>

namespace ipoib::wire {

/// "0x00ab" with `digits` digits.
[[nodiscard]] std::string hex(std::uint64_t value, unsigned digits);
/// Octets in hex without separators; at most `most` of them, then "...".
[[nodiscard]] std::string hex_octets(Octets octets, std::size_t most = 64);
/// A GID or IPv6 address by RFC 5952: "ff12:401b:ffff::ffff:ffff".
[[nodiscard]] std::string text(const Gid& gid);
/// "239.1.2.3" of an address in host byte order.
[[nodiscard]] std::string ipv4_text(std::uint32_t address);

/// The IP group that an MGID stands for: "239.1.2.3", "ffxx::1:2" (an MGID does not hold the address' flags and scope),
/// "the broadcast group"; empty for an MGID that is not of IPoIB.
[[nodiscard]] std::string group_text(const Gid& mgid);

/// A field's value in the header that begins at `header`: "0x64 (UD SEND Only)", "unknown (0x1234)" where the field has
/// names but the value has none.
[[nodiscard]] std::string value_text(const FieldSpec& field, const std::uint8_t* header);
/// The same with other names than the row's own (mad_names.hpp).
[[nodiscard]] std::string value_text(const FieldSpec& field, const std::uint8_t* header, Names names);

/// A whole number in decimal, or in hex behind 0x; all of the text.
[[nodiscard]] std::optional<std::uint64_t> parse_number(std::string_view text);
/// Parses what text() and ipv4_text() write, and any other usual form.
[[nodiscard]] std::optional<Gid> parse_gid(std::string_view text);
[[nodiscard]] std::optional<std::uint32_t> parse_ipv4(std::string_view text);
/// Parses octets in hex, separated by nothing, blanks, colons or dashes.
[[nodiscard]] std::optional<std::vector<std::uint8_t>> parse_octets(std::string_view text);

}  // namespace ipoib::wire
