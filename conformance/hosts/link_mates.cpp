// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/hosts/link_mates.hpp"

#include "base/clock_text.hpp"
#include "base/listed.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace ipoib::hosts {
using namespace wire;

std::string Place::name() const {
    const auto guid = interface->gid.is_zero() ? std::string{} : hex(interface->gid.interface_id(), 16).substr(2);
    return host->host + ' ' + interface->name + (guid.empty() ? guid : " (" + guid + ')');
}

std::string Place::mode() const {
    if (!interface->mode.empty()) return interface->mode;
    for (const auto& one : host->interfaces)
        if (one.master == interface->name && one.gid == interface->gid && !one.mode.empty()) return one.mode;
    return {};
}

bool are_within(const HostState& one, const HostState& other, std::int64_t span) {
    if (&one == &other) return true;
    return one.time && other.time && *one.time - *other.time <= span && *other.time - *one.time <= span;
}

std::string time_text(const HostState& host) {
    return host.time ? utc_time(*host.time) : std::string{"an unknown time"};
}

HostFinding finding_of(std::string name, const Place& place, std::string text, std::vector<Gid> groups) {
    const auto [prefix, p_key] = place.link();
    return {std::move(name), std::move(text), prefix, p_key, {place->gid}, std::move(groups)};
}

namespace {

std::string name_of(const Place& place) { return place.name(); }

class LinkMates {
public:
    LinkMates(const Link& link, const std::vector<Place>& places, const Owners& owners, std::string doubt)
        : link_(link), places_(places), crowd_(crowd_of(places)), owners_(owners), doubt_(std::move(doubt)) {}
    std::vector<HostFinding> findings() && {
        duplicates();
        differences();
        without_address();
        fluxes();
        if (!doubt_.empty())
            for (auto& one : findings_) one.text += ' ' + doubt_;
        return std::move(findings_);
    }

private:
    /// Of several, each port once.
    void add(std::string name, std::string words, const std::vector<Place>& whose) {
        std::set<Gid> ports;
        for (const auto& place : whose) ports.insert(place->gid);
        findings_.push_back(
            {std::move(name), std::move(words), link_.first, link_.second, {ports.begin(), ports.end()}});
    }
    /// Those that were looked at about when most were: near the one with as many before it as after it, so that one
    /// clock that is wrong leaves out no other host.
    static std::vector<Place> crowd_of(const std::vector<Place>& places) {
        std::vector<Place> timed;
        for (const auto& place : places)
            if (place.host->time) timed.push_back(place);
        std::ranges::stable_sort(timed, {}, [](const Place& place) { return *place.host->time; });
        const auto* middle = timed.empty() ? nullptr : timed[timed.size() / 2].host;
        std::erase_if(timed, [&](const Place& place) { return !are_within(*place.host, *middle, nearness); });
        return timed;
    }
    void duplicates();
    void differences();
    void without_address();
    void fluxes();

    const Link& link_;
    const std::vector<Place>& places_;
    const std::vector<Place> crowd_;
    const Owners& owners_;
    const std::string doubt_;
    std::vector<HostFinding> findings_;
};

void LinkMates::duplicates() {
    for (const auto& place : places_)
        for (const auto& held : place->addresses)
            if (held.is_duplicate)
                findings_.push_back(finding_of("duplicate-address", place,
                                               place.name() + " does not use " + text(held.network.address) +
                                                   ", since it has found that another host has it."));
    for (const auto& [address, held_by] : owners_) {
        // An address may go from host to host, and a port from one name to another.
        std::vector<Place> holders;
        for (const auto& one : held_by)
            if (std::ranges::any_of(held_by, [&](const Place& other) {
                    return other->gid != one->gid && are_within(*one.host, *other.host, freshness);
                }))
                holders.push_back(one);
        if (holders.empty()) continue;
        add("duplicate-address",
            listed(holders, [](const Place& who) { return who.name() + " at " + time_text(*who.host); }) +
                " all have " + text(IpAddress{address}) + " on one link: who sends there reaches one or the other.",
            holders);
    }
}

/// Hosts of one link that are set up differently.
void LinkMates::differences() {
    std::map<std::string, std::vector<Place>> modes;
    std::map<std::pair<std::string, unsigned>, std::vector<Place>> sizes;
    for (const auto& place : crowd_) {
        if (!place.is_running()) continue;
        if (!place->mode.empty()) modes[place->mode].push_back(place);
        if (const auto mode = place.mode(); place->mtu != 0 && !mode.empty())
            sizes[{mode, place->mtu}].push_back(place);
    }
    const auto rarest = [](const auto& kinds) {
        return std::ranges::min_element(kinds, {}, [](const auto& one) { return one.second.size(); });
    };
    const auto counts = [](const auto& kinds, auto word) {
        std::string words;
        for (const auto& [kind, some] : kinds)
            words += (words.empty() ? "" : ", ") + std::to_string(some.size()) + ' ' + word(kind);
        return words;
    };
    if (modes.size() > 1) {
        const auto rare = rarest(modes);
        add("host-modes-differ",
            "Interfaces of one link are in several modes (" + counts(modes, [](const auto& mode) { return mode; }) +
                "): between them only datagrams go, of the smaller MTU. In " + rare->first +
                " mode: " + listed(rare->second, name_of) + '.',
            rare->second);
    }
    for (const std::string mode : {"datagram", "connected"}) {
        std::map<unsigned, std::vector<Place>> of_mode;
        for (const auto& [kind, some] : sizes)
            if (kind.first == mode) of_mode[kind.second] = some;
        if (of_mode.size() < 2) continue;
        const auto rare = rarest(of_mode);
        add("host-mtus-differ",
            "Interfaces of one link in " + mode + " mode have several IP MTUs (" +
                counts(of_mode, [](unsigned mtu) { return "with " + std::to_string(mtu); }) +
                "): a link has one, and whether a larger packet arrives depends on who gets it. " +
                std::to_string(rare->first) + " have " + listed(rare->second, name_of) + '.',
            rare->second);
    }
}

/// An interface that has no address where the others have one. A link without any is nobody's fault.
void LinkMates::without_address() {
    const auto has_address = [](const Place& place) {
        return std::ranges::any_of(place->addresses, [](const HeldAddress& held) {
            const bool is_link_local =
                !held.network.address.is_v4() && held.network.address.octets.prefix() >> 54 == 0x3fa;
            return !is_link_local && !held.is_duplicate && !held.is_tentative;
        });
    };
    std::vector<Place> without;
    std::size_t with = 0;
    for (const auto& place : crowd_) {
        if (!place.is_running() || !place->master.empty() || !place->are_addresses_told) continue;
        if (has_address(place))
            ++with;
        else
            without.push_back(place);
    }
    if (with < 2 || with <= without.size()) return;
    for (const auto& place : without)
        findings_.push_back(finding_of("host-no-address", place,
                                       place.name() +
                                           " is on the link, but has no IP address besides that of the "
                                           "link; " +
                                           std::to_string(with) + " others have one."));
}

/// The networks of an interface's IPv4 addresses.
std::set<IpNetwork> networks_of(const Place& place) {
    std::set<IpNetwork> own;
    for (const auto& held : place->addresses) {
        if (!held.network.address.is_v4()) continue;
        const auto bits = held.network.length;
        const auto mask = bits == 0 ? 0U : ~std::uint32_t{0} << (32U - bits);
        own.insert({IpAddress::v4(held.network.address.v4() & mask), bits});
    }
    return own;
}

/// Whether one of two networks is a part of the other.
bool overlap(const IpNetwork& one, const IpNetwork& other) {
    const auto bits = std::min(one.length, other.length);
    return bits == 0 || (one.address.v4() ^ other.address.v4()) >> (32U - bits) == 0;
}

/// Rails of one host in one IP subnet, of which some answer for all. A rail in a VRF answers for what is in it.
void LinkMates::fluxes() {
    // A name alone is none: nodes without one are all called "localhost".
    std::map<std::tuple<std::string, std::size_t, std::string>, std::vector<Place>> by_host;
    for (const auto& place : places_)
        if (place.is_running() && place->master.empty())
            by_host[{place.host->host, place.host->machine, place->vrf}].push_back(place);
    const auto answers_for_all = [](const Place& rail) {
        return rail->arp_ignore.value_or(1) == 0 && rail->arp_filter.value_or(1) == 0;
    };
    for (const auto& [host, rails] : by_host) {
        std::map<IpNetwork, std::vector<Place>> networks;
        for (const auto& rail : rails)
            for (const auto& network : networks_of(rail)) networks[network];
        for (auto& one : networks)
            std::ranges::copy_if(rails, std::back_inserter(one.second), [&](const Place& rail) {
                const auto own = networks_of(rail);
                return std::ranges::any_of(own, [&](const IpNetwork& other) { return overlap(other, one.first); });
            });
        std::set<std::vector<Gid>> told;
        for (const auto& [network, some] : networks) {
            std::vector<Place> answering;
            std::ranges::copy_if(some, std::back_inserter(answering), answers_for_all);
            std::vector<Gid> ports;
            for (const auto& rail : some) ports.push_back(rail->gid);
            if (some.size() < 2 || answering.empty() || !told.insert(ports).second) continue;
            add("host-arp-flux",
                listed(some, name_of) + " are in " + text(network) + ", and " +
                    (answering.size() == some.size() ? std::string("each answers")
                     : answering.size() == 1         ? listed(answering, name_of) + " answers"
                                                     : listed(answering, name_of) + " answer") +
                    " for the addresses of all (arp_ignore 0, arp_filter 0): who asks gets several "
                    "answers, and RDMA CM may come by the wrong port. arp_ignore=1 and arp_announce=2 help.",
                some);
        }
    }
}

}  // namespace

std::vector<HostFinding> findings_among(const Link& link, const std::vector<Place>& places, const Owners& owners,
                                        const std::string& doubt) {
    return LinkMates{link, places, owners, doubt}.findings();
}

}  // namespace ipoib::hosts
