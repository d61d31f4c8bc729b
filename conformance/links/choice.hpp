// SPDX-License-Identifier: GPL-2.0-or-later
// What of an account is meant: a link, a group, a host.
#pragma once

#include "conformance/links/account.hpp"

#include <optional>

namespace ipoib::links {

/// A link by its P_Key, with or without the membership bit, and maybe its subnet prefix.
struct LinkChoice {
    std::uint16_t p_key = 0;
    std::optional<std::uint64_t> prefix{};
};
/// A group by its MGID, or by the IP group that it stands for on any link.
struct GroupChoice {
    wire::Gid address{};
    bool is_broadcast = false;  ///< the broadcast group of any link
};
/// A port by an IP address, its GID, GUID or LID.
struct HostChoice {
    std::optional<wire::Gid> address{};  ///< IPv6 or GID, or IPv4 as ::ffff:a.b.c.d
    std::uint64_t guid = 0;
    std::uint16_t lid = 0;
};

/// "0x8001", "fe80::/0x8001", "8001": four digits are hexadecimal, as in the name of ib0.8001. Nothing for what is
/// none.
[[nodiscard]] std::optional<LinkChoice> parse_link(std::string_view text);
/// "239.1.2.3", "ff02::1", "broadcast", an MGID.
[[nodiscard]] std::optional<GroupChoice> parse_group(std::string_view text);

struct Choice {
    std::optional<LinkChoice> link{};
    std::optional<GroupChoice> group{};
    std::optional<HostChoice> host{};
    bool findings_only = false;
    std::size_t width = 100;  ///< columns of the text

    /// Nothing is left out for what it is about.
    [[nodiscard]] bool is_all() const noexcept { return !link && !group && !host; }
    [[nodiscard]] bool has(const LinkAccount& one) const;  ///< one of its ports or groups, too, if these are chosen
    [[nodiscard]] bool has(const LinkAccount& link, const GroupAccount& one) const;
    [[nodiscard]] bool has(const LinkAccount& link, const Host& one) const;
    /// The findings about it, by their places in the account; also the cause of each.
    [[nodiscard]] std::vector<std::size_t> findings(const Account& account) const;

    /// The suspicions on the links that are meant.
    [[nodiscard]] std::vector<reports::Suspicion> suspicions(const Account& account) const;

private:
    [[nodiscard]] bool has(const Account& account, const Finding& one) const;
    [[nodiscard]] bool is_host(const LinkAccount& link, state::PortIndex port) const;
    [[nodiscard]] bool is_host(const Finding& one) const;
    [[nodiscard]] bool is_group(const wire::Gid& mgid) const;
    [[nodiscard]] bool is_at(const LinkAccount& link, const GroupAccount& group) const;
};

}  // namespace ipoib::links
