// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/links/choice.hpp"

#include "protocol/wire/ip_address.hpp"
#include "protocol/wire/mgid.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>

namespace ipoib::links {
using namespace wire;

std::optional<LinkChoice> parse_link(std::string_view text) {
    LinkChoice choice;
    if (const auto slash = text.find('/'); slash != std::string_view::npos) {
        const auto prefix = parse_gid(text.substr(0, slash));
        if (!prefix) return {};
        choice.prefix = prefix->prefix();
        text.remove_prefix(slash + 1);
    }
    constexpr std::size_t digits = 4;
    const bool is_hex = text.size() == digits && text.find_first_not_of("0123456789abcdefABCDEF") == text.npos;
    const auto p_key = parse_number((is_hex ? "0x" : "") + std::string(text));
    if (!p_key || *p_key == 0 || *p_key > 0xffff) return {};
    choice.p_key = static_cast<std::uint16_t>(*p_key);
    return choice;
}

std::optional<GroupChoice> parse_group(std::string_view text) {
    if (text == "broadcast") return GroupChoice{.is_broadcast = true};
    const auto address = parse_ip(text);
    if (!address || !address->is_multicast()) return {};
    return GroupChoice{.address = address->octets};
}

bool Choice::is_group(const Gid& mgid) const {
    if (group->is_broadcast) return is_broadcast_gid(mgid);
    if (mgid == group->address) return true;
    if (!has_ipoib_signature(mgid) || is_broadcast_gid(mgid)) return false;
    const auto p_key = mgid_of(mgid)[Mgid::p_key];
    const auto scope = mgid_of(mgid)[Mgid::scope];
    const IpAddress ip{group->address};
    return mgid == (ip.is_v4() ? mgid_for_ipv4(ip.v4(), p_key, scope) : mgid_for_ipv6(ip.octets, p_key, scope));
}

bool Choice::is_host(const LinkAccount& link, state::PortIndex index) const {
    const auto& port = link.subnet->port(index);
    if (host->lid != 0) return port.lid == host->lid;
    if (host->guid != 0) return port.gid.interface_id() == host->guid;
    if (port.gid == *host->address) return true;
    const auto* one = link.host(index);
    if (!one) return false;
    if (std::ranges::find(one->addresses, *host->address) != one->addresses.end()) return true;
    // Of an account with many, only the first are kept.
    return one->more_addresses != 0 && std::ranges::any_of(link.subnet->neighbours(), [&](const auto& known) {
               return known.address == *host->address && known.gid == port.gid &&
                      (known.p_key == 0 || ((known.p_key ^ link.link->p_key) & 0x7fff) == 0);
           });
}

/// By its own word.
bool Choice::is_host(const Finding& one) const {
    return std::ranges::any_of(one.hosts, [this](const Gid& gid) {
        return host->guid != 0 ? gid.interface_id() == host->guid : host->address == gid;
    });
}

bool Choice::is_at(const LinkAccount& link, const GroupAccount& one) const {
    const auto is_chosen = [&](state::PortIndex port) { return is_host(link, port); };
    return std::ranges::any_of(one.full, is_chosen) || std::ranges::any_of(one.non, is_chosen) ||
           std::ranges::any_of(one.send_only, is_chosen) ||
           std::ranges::any_of(one.refused, is_chosen, &RefusedJoin::port) ||
           std::ranges::any_of(one.strangers, is_chosen, &Stranger::port);
}

bool Choice::has(const LinkAccount& one) const {
    if (link && (((link->p_key ^ one.link->p_key) & 0x7fff) != 0 ||
                 link->prefix.value_or(one.subnet->prefix()) != one.subnet->prefix()))
        return false;
    if (group && std::ranges::none_of(one.groups, [&](const auto& account) { return has(one, account); })) return false;
    return !host || std::ranges::any_of(one.hosts, [&](const auto& account) { return has(one, account); });
}

bool Choice::has(const LinkAccount& link, const GroupAccount& one) const {
    if (group && !is_group(link.subnet->groups()[one.group].mgid)) return false;
    return !host || is_at(link, one);
}

bool Choice::has(const LinkAccount& link, const Host& one) const { return !host || is_host(link, one.port); }

std::vector<std::size_t> Choice::findings(const Account& account) const {
    std::vector<bool> is_chosen(account.findings.size());
    for (std::size_t i = 0; i < account.findings.size(); ++i) {
        const auto& one = account.findings[i];
        if (!has(account, one)) continue;
        is_chosen[i] = true;
        if (one.cause != nowhere) is_chosen[one.cause] = true;
    }
    std::vector<std::size_t> chosen;
    for (std::size_t i = 0; i < is_chosen.size(); ++i)
        if (is_chosen[i]) chosen.push_back(i);
    return chosen;
}

bool Choice::has(const Account& account, const Finding& one) const {
    if (is_all()) return true;
    if (one.place == nowhere) return host && !link && !group && is_host(one);
    const auto& at = account.links[one.place];
    if (link && !Choice{.link = link}.has(at)) return false;
    if (host && !is_host(one) &&
        std::ranges::none_of(one.ports, [&](state::PortIndex port) { return is_host(at, port); }))
        return false;
    return !group || std::ranges::any_of(one.groups, [&](state::GroupIndex index) {
        return is_group(at.subnet->groups()[index].mgid);
    });
}

std::vector<reports::Suspicion> Choice::suspicions(const Account& account) const {
    auto chosen = account.suspicions;
    std::erase_if(chosen, [&](const reports::Suspicion& one) {
        return !is_all() && std::ranges::none_of(account.links, [&](const LinkAccount& link) {
            return has(link) && link_text(link) == one.details.front().link;
        });
    });
    return chosen;
}

}  // namespace ipoib::links
