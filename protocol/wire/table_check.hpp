// SPDX-License-Identifier: GPL-2.0-or-later
// What every wire table's test demands of it: golden octets read, written back, cut short, and unknown values kept.
#pragma once

#include <algorithm>
#include <string_view>
#include <type_traits>
#include <vector>

#include "catch2.hpp"
#include "protocol/wire/golden.hpp"

namespace ipoib::wire::testing {

/// Octets of hexadecimal digits; other characters (spaces) only set them apart.
inline std::vector<std::uint8_t> hex(std::string_view text) { return golden::octets(text); }

/// N octets of hexadecimal digits, the rest zero.
template <std::size_t N>
OctetArray<N> octets(std::string_view text) {
    const auto given = hex(text);
    REQUIRE(given.size() <= N);
    OctetArray<N> array{};
    std::copy(given.begin(), given.end(), array.begin());
    return array;
}

/// A GID of 32 hexadecimal digits.
inline Gid gid(std::string_view text) {
    REQUIRE(hex(text).size() == 16);
    return Gid{octets<16>(text)};
}

/// One row and the value that it has in the golden octets.
template <class Header, class T>
struct Row {
    const Field<Header, T>& field;
    T value;
};
template <class Header, class T>
Row<Header, T> row(const Field<Header, T>& field, const std::type_identity_t<T>& value) {
    return {field, value};
}

namespace detail {

/// How many bits of a field a T can hold.
template <class T>
consteval std::size_t bits_of() {
    if constexpr (std::same_as<T, bool>) return 1;
    return sizeof(T) * 8;
}

template <class Header, class T>
void check_row(const View<Header>& golden, MutableOctets copy, const Row<Header, T>& row) {
    CAPTURE(row.field.name);
    CHECK(golden[row.field] == row.value);
    set_field(copy, row.field, row.value);
    CHECK(row.field.width <= bits_of<T>());

    // All bits of this row and none of its neighbours, whatever names its values have.
    Bytes<Header> ones;
    if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
        const auto all = static_cast<T>(~std::uint64_t{0} >> (64 - row.field.width));
        ones.set(row.field, all);
        CHECK(ones.view()[row.field] == all);
    } else {
        CHECK(row.field.at.bit % 8 == 0);
        CHECK(row.field.width == bits_of<T>());
        T all;
        for (std::size_t i = 0; i < sizeof(T); ++i) reinterpret_cast<std::uint8_t*>(&all)[i] = 0xff;
        ones.set(row.field, all);
        CHECK(ones.view()[row.field] == all);
    }
    std::size_t set = 0;
    for (const auto o : ones.octets)
        for (unsigned bit = 0; bit < 8; ++bit) set += o >> bit & 1u;
    CHECK(set == row.field.width);
}

}  // namespace detail

/// Checks a table against octets from elsewhere: `rows` are all of its rows, in order, with the values they must have.
template <class Header, class... T>
void check_table(const std::vector<std::uint8_t>& golden, const Row<Header, T>&... rows) {
    REQUIRE(golden.size() == Header::size);
    REQUIRE(sizeof...(T) == Header::fields.size());
    std::vector<std::uint8_t> copy(Header::size + 1, 0xa5);
    const auto view = View<Header>::at(golden);
    REQUIRE(view);
    (detail::check_row(view, copy, rows), ...);
    CHECK(copy.back() == 0xa5);
    copy.pop_back();
    CHECK(copy == golden);

    const std::array<std::string_view, sizeof...(T)> names{rows.field.name...};
    for (std::size_t i = 0; i < names.size(); ++i) {
        CHECK(names[i] == Header::fields[i].name);
        for (std::size_t j = 0; j < i; ++j) CHECK(names[j] != names[i]);
    }
    for (std::size_t length = 0; length < Header::size; ++length) {
        CAPTURE(length);
        CHECK_FALSE(View<Header>::at(Octets{golden}.first(length)));
    }
}

}  // namespace ipoib::wire::testing
