// SPDX-License-Identifier: GPL-2.0-or-later
// Claims on headers that a decoded packet has no view of: what stands in private data, options, UDP payloads.
#pragma once

#include "conformance/bench/expectation.hpp"

namespace ipoib::conformance {

/// Where such a header begins, whole; null where the packet has none.
using HeaderAt = const std::uint8_t* (*)(const wire::Packet& packet);

/// Claims anything of a field of the header, in words.
template <class Header, class T>
[[nodiscard]] Expectation claiming_at(const Expectation& message, HeaderAt header_at,
                                      const wire::Field<Header, T>& field,
                                      bool (*holds)(const std::type_identity_t<T>& value), std::string expected) {
    return message.claiming({&wire::spec_of<Header>, &field, header_at,
                             [field, holds](const std::uint8_t* header, const Situation&) {
                                 return holds(wire::View<Header>::at({header, Header::size})[field]);
                             },
                             std::move(expected)});
}
/// Claims that the field has a value.
template <class Header, class T>
[[nodiscard]] Expectation claiming_at(const Expectation& message, HeaderAt header_at,
                                      const wire::Field<Header, T>& field, const std::type_identity_t<T>& value) {
    return message.claiming({&wire::spec_of<Header>, &field, header_at,
                             [field, value](const std::uint8_t* header, const Situation&) {
                                 return wire::View<Header>::at({header, Header::size})[field] == value;
                             },
                             wire::value_text(field, wire::Bytes<Header>{}.set(field, value).octets.data())});
}

}  // namespace ipoib::conformance
