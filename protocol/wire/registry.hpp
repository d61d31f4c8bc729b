// SPDX-License-Identifier: GPL-2.0-or-later
// Every header that is known, one row each: its table, the section of the text, and how decoding comes to it. Decoding
// of management packets, the Wireshark plugin, `--set` of the generator, `decode` and `explain` walk it.
#pragma once

#include "protocol/wire/packet.hpp"

namespace ipoib::wire {

/// One way in which decoding comes to a header.
struct Way {
    enum class Kind : std::uint8_t {
        none,
        path,       ///< on the way through packets, in the order that decode.cpp and decode_datagram.cpp have
        attribute,  ///< data of a MAD, by class and AttributeID
        inside,     ///< within another header, or behind it
        instead,    ///< the whole message that another header is only the beginning of: shown instead of it
    };
    Kind kind = Kind::none;
    MgmtClass mgmt_class{};
    std::uint16_t attribute_id = 0;
    const HeaderSpec* outer = nullptr;  ///< of `inside` and `instead`
    const FieldSpec* field = nullptr;   ///< the row of `outer` that holds it; null where it follows `outer`
    /// Of octets that begin with `outer`, those from the header's `index`th occurrence on; none where it is not there.
    Octets (*find)(Octets from_outer, std::size_t index) = nullptr;
    bool needs_context = false;  ///< only other frames tell whether it is there
};

/// What is known of one header.
struct RegistryRow {
    const HeaderSpec* header;
    std::string_view section;  ///< of the text, e.g. "RFC 4391, 6"
    std::array<Way, 2> ways{};
    /// Who shows it in Wireshark: the plugin, as fields of its own, or Wireshark's own dissectors.
    enum class Shown : std::uint8_t { by_plugin, by_wireshark } shown = Shown::by_plugin;
};

/// All rows, in the order of packets.
[[nodiscard]] std::span<const RegistryRow> registry() noexcept;
/// The row of a header; null where it has none.
[[nodiscard]] const RegistryRow* row_of(const HeaderSpec& header) noexcept;
/// The header in the data of a MAD of this class; null where it is not known. The classes of LID-routed and
/// directed-route subnet management have the same.
[[nodiscard]] const HeaderSpec* attribute_header(MgmtClass mgmt_class, std::uint16_t attribute_id) noexcept;

/// A field as people name it.
struct NamedField {
    const HeaderSpec* header = nullptr;
    const FieldSpec* field = nullptr;  ///< null where the header has no such field
};
/// Whether two names are the same but for upper and lower case.
[[nodiscard]] bool is_same_name(std::string_view one, std::string_view other) noexcept;
/// The first header of this name or key; null where there is none.
[[nodiscard]] const HeaderSpec* header_named(std::string_view name) noexcept;
/// The field, by the name or key of its header. Headers may share a name, as ARP and its addresses do: the first that
/// has the field.
[[nodiscard]] NamedField field_named(std::string_view header, std::string_view field) noexcept;

namespace detail {
/// The octets from `at` on, to the end of the innermost payload that it is in.
[[nodiscard]] Octets octets_from(const Packet& packet, const std::uint8_t* at) noexcept;
/// The header that is shown for `outer`, which begins `octets`: itself, or one that stands for all of the message.
[[nodiscard]] const HeaderSpec& shown_for(const HeaderSpec& outer, Octets octets) noexcept;
}  // namespace detail

/// What may be found where: in the frame alone, or also what only other frames of the capture tell.
enum class Context : std::uint8_t { frame, capture };

/// Calls `visit(header, at)` for every header within `outer` or behind it; `octets` begin with `outer`.
template <class Visit>
void for_each_inside(const HeaderSpec& outer, Octets octets, Context context, Visit&& visit) {
    for (const auto& row : registry())
        for (const auto& way : row.ways) {
            if (way.kind != Way::Kind::inside || way.outer != &outer) continue;
            if (way.needs_context && context == Context::frame) continue;
            for (std::size_t i = 0;; ++i) {
                const auto found = way.find(octets, i);
                if (found.size() < row.header->size) break;
                visit(*row.header, found.data());
            }
        }
}

/// As Packet::for_each_header, for people: with what is within the headers, and whole messages instead of their heads.
template <class Visit>
void for_each_shown(const Packet& packet, Visit&& visit) {
    packet.for_each_header([&](const HeaderSpec& header, const std::uint8_t* at) {
        const auto octets = detail::octets_from(packet, at);
        visit(detail::shown_for(header, octets), at);
        for_each_inside(header, octets, Context::frame, visit);
    });
}

}  // namespace ipoib::wire
