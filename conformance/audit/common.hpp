// SPDX-License-Identifier: GPL-2.0-or-later
// What several rules say of a group.
#pragma once

#include "conformance/assumptions/parameter_value.hpp"
#include "conformance/audit/rule.hpp"
#include "protocol/requirements/catalogue.hpp"
#include "protocol/wire/mgid.hpp"
#include "protocol/wire/text.hpp"

namespace ipoib::audit {

using namespace wire;
using requirements::Strength;
using G = state::GroupParameters;

/// The scope of a link that ends with its IB subnet.
inline constexpr std::uint8_t local_scope = 2;

inline Bytes<Mgid> mgid(const Item& item) { return mgid_of(item.parameters().mgid); }
inline std::uint8_t scope_of(const StatedGroup& group) { return mgid_of(group.parameters.mgid)[Mgid::scope]; }
inline std::string scope_text(unsigned scope) { return "scope " + hex(scope, 1); }
inline std::string mtu_text(std::uint8_t code) { return assumptions::text_of(Parameter::mtu, code) + " octets"; }
inline std::string mtu_of_group(const Item& item) { return mtu_text(item.parameters().mtu); }
inline std::string p_key_text(std::uint16_t p_key) { return hex(p_key, 4); }
inline std::string text_of_mgid_p_key(const Item& item) { return p_key_text(mgid(item)[Mgid::p_key]); }

/// The P_Key that the group's MGID must hold, as far as its record tells.
inline std::uint16_t p_key_of_link(const Item& item) {
    const auto p_key = item.group.tells(Parameter::p_key) ? item.parameters().p_key : mgid(item)[Mgid::p_key];
    return static_cast<std::uint16_t>(p_key | full_membership);
}

/// The group's parameter in words.
template <Parameter What>
std::string of_group(const Item& item) {
    return assumptions::text_of(What, assumptions::value_of(item.parameters(), What));
}

/// The rules of one kind each.
[[nodiscard]] std::span<const Rule> group_rules();
[[nodiscard]] std::span<const Rule> link_rules();
[[nodiscard]] std::span<const Rule> member_rules();
[[nodiscard]] std::span<const Rule> subnet_rules();

}  // namespace ipoib::audit
