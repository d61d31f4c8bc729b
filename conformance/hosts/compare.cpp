// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/hosts/compare.hpp"

#include "base/listed.hpp"
#include "conformance/hosts/fabrics.hpp"
#include "conformance/hosts/link_mates.hpp"
#include "protocol/wire/encap.hpp"
#include "protocol/wire/link_address.hpp"
#include "protocol/wire/mc_member_record.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace ipoib::hosts {
namespace {

using namespace wire;
using assumptions::Parameter;
using assumptions::StatedGroup;
using assumptions::StatedPort;

std::string group_name(const Gid& mgid) {
    const auto group = group_text(mgid);
    return group.empty() ? text(mgid) : group;
}
std::string groups_text(std::vector<Gid> mgids) {
    std::ranges::sort(mgids, {}, [](const Gid& mgid) { return std::pair{!is_broadcast_gid(mgid), mgid}; });
    return listed(mgids, group_name);
}

constexpr std::uint8_t most_lmc = 7;
/// Whether two LIDs differ in no more than the low bits of one port's.
bool is_one_port(std::uint16_t lid, std::uint16_t other, std::uint8_t lmc) { return lid >> lmc == other >> lmc; }

/// Whether another finding mostly explains it: an interface without its P_Key has no carrier, joins nothing, and gets
/// no address.
bool is_consequence(std::string_view name) {
    constexpr std::array<std::string_view, 5> names{"host-join-waits", "host-no-address", "host-no-carrier",
                                                    "host-not-member", "host-send-only-waits"};
    return std::ranges::find(names, name) != names.end();
}

std::string qpn_text(std::uint32_t qpn) { return "QPN " + hex(qpn, 6); }

class Comparer {
public:
    Comparer(std::span<const HostState> hosts, const Surroundings& around) : around_(around) {
        std::size_t strange = 0, early = 0;
        std::string first;
        for (const auto& host : hosts)
            for (const auto& one : host.interfaces) {
                const Place place{&host, &one};
                if (one.gid.is_zero() || one.partition() == 0) {
                    ++strange;
                    continue;
                }
                all_.push_back(place);
                if (!is_near(host) && early++ == 0) first = host.host + ", " + time_text(host);
            }
        if (strange != 0)
            result_.notes.push_back(counted(strange, "interface") + (strange > 1 ? " have" : " has") +
                                    " no link-layer address or P_Key of IPoIB: not compared");
        if (early != 0)
            result_.notes.push_back(
                counted(early, "interface") + " (" + first + (early > 1 ? " and others) were" : ") was") +
                " looked at more than an hour before or after the capture, or nobody knows when: compared with "
                "each other only");
        tell_unread(hosts);
        fabrics_.emplace(all_, around);
        std::ranges::copy(fabrics_->notes(), std::back_inserter(result_.notes));
    }
    Comparison result() && {
        for (const auto& place : all_) {
            keys(place);
            ports(place);
            carrier(place);
            if (is_near(*place.host)) {
                groups(place);
                sizes(place);
                announced(place);
            }
            foreign_groups(place);
            waiting(place);
        }
        index_owners();
        for (const auto& [fabric, places] : fabrics_->links())
            std::ranges::move(
                findings_among(fabric.first, places, owners_[fabric], fabrics_->doubt_of(fabric.first, places)),
                std::back_inserter(result_.findings));
        for (const auto& place : all_) {
            neighbours(place);
            paths(place);
        }
        hidden();
        std::ranges::stable_sort(result_.findings, {}, [](const HostFinding& one) {
            return std::pair{is_consequence(one.name), one.name};
        });
        return std::move(result_);
    }

private:
    [[nodiscard]] bool is_near(const HostState& host) const {
        if (around_.began == 0) return true;
        return host.time && *host.time >= around_.began - nearness && *host.time <= around_.ended + nearness;
    }
    /// What holds since then held when the host was looked at.
    [[nodiscard]] bool held(const HostState& host, std::int64_t since) const {
        if (around_.began == 0) return true;
        return host.time && *host.time >= since && *host.time <= around_.ended + freshness;
    }
    void add(std::string name, const Place& place, std::string text, std::vector<Gid> groups = {}) {
        result_.findings.push_back(finding_of(std::move(name), place, std::move(text), std::move(groups)));
    }
    void tell_unread(std::span<const HostState> hosts);
    void keys(const Place& place);
    void ports(const Place& place);
    void carrier(const Place& place);
    void groups(const Place& place);
    void members(const Place& place, const std::vector<Gid>& believed, const std::string& belief);
    void down_member(const Place& place);
    void foreign_groups(const Place& place);
    void waiting(const Place& place);
    void sizes(const Place& place);
    void announced(const Place& place);
    void index_owners();
    [[nodiscard]] std::vector<Place> owners_of(const Place& place, const Gid& address) const;
    void neighbours(const Place& place);
    [[nodiscard]] bool is_at_other_rail(const Place& owner, const Neighbour& entry) const;
    void paths(const Place& place);
    void hidden();

    [[nodiscard]] const StatedGroup* group(const Gid& mgid) const {
        const auto of = [](const StatedGroup& one) { return one.parameters.mgid; };
        const auto found = std::ranges::lower_bound(around_.groups, mgid, {}, of);
        return found != around_.groups.end() && of(*found) == mgid ? &*found : nullptr;
    }
    [[nodiscard]] bool is_absent(const Gid& mgid, const Place& place) const {
        const auto key = [](const Absence& one) { return std::pair{one.mgid, one.port}; };
        const auto found = std::ranges::lower_bound(around_.absent, std::pair{mgid, place->gid}, {}, key);
        return found != around_.absent.end() && key(*found) == std::pair{mgid, place->gid} &&
               held(*place.host, found->since);
    }
    [[nodiscard]] static std::uint8_t join_state_of(const StatedGroup& group, const Gid& port) {
        const auto found = std::ranges::lower_bound(group.members, port, {}, &assumptions::StatedMember::port_gid);
        return found != group.members.end() && found->port_gid == port ? found->join_state : std::uint8_t{0};
    }
    /// The group is one that the SA would tell of.
    [[nodiscard]] bool is_visible(const Gid& mgid) const {
        return around_.groups_are_whole &&
               (around_.p_keys.empty() || std::ranges::any_of(around_.p_keys, [&](std::uint16_t own) {
                    return is_same_partition(own, mgid_of(mgid)[Mgid::p_key]);
                }));
    }
    [[nodiscard]] const StatedPort* stated_port(const Gid& gid) const {
        const auto found = std::ranges::lower_bound(around_.ports, gid, {}, &StatedPort::gid);
        return found != around_.ports.end() && found->gid == gid ? &*found : nullptr;
    }

    const Surroundings& around_;
    std::vector<Place> all_;
    std::optional<Fabrics> fabrics_;
    std::map<Fabric, Owners> owners_;
    std::map<Gid, Place> by_gid_;  ///< whose port is known
    Comparison result_;
};

void Comparer::tell_unread(std::span<const HostState> hosts) {
    std::size_t count = 0;
    std::string first;
    for (const auto& host : hosts)
        for (const auto& [what, why] : host.unread)
            if (count++ == 0) first.append(what).append(" on ").append(host.host).append(" (").append(why).append(")");
    if (count != 0) result_.notes.push_back("hosts could not read " + counted(count, "thing") + ", first " + first);
}

/// The P_Key of the interface, and its port's table.
void Comparer::keys(const Place& place) {
    const auto p_key = place->partition();
    if (!place->broadcast.is_zero() && place->p_key != 0 &&
        !is_same_partition(mgid_of(place->broadcast)[Mgid::p_key], place->p_key))
        add("host-p-key", place,
            place.name() + " has P_Key " + hex(place->p_key, 4) + ", but its broadcast address is that of " +
                hex(std::uint16_t{mgid_of(place->broadcast)[Mgid::p_key]}, 4) +
                ": it joins groups of another partition.");
    const auto judge = [&](const std::vector<std::uint16_t>& table, const std::string& whose) {
        const auto limited = limited_p_key(p_key);
        const bool is_full = std::ranges::find(table, p_key) != table.end();
        const bool is_limited = std::ranges::find(table, limited) != table.end();
        if (is_full) return true;
        add("host-p-key", place,
            place.name() + " is on P_Key " + hex(p_key, 4) + ", but " + whose +
                (is_limited ? " has only " + hex(limited, 4) +
                                  ", the limited one: other limited members do not hear it, and it does not hear them."
                            : " has it not: the port drops the packets of this link."));
        return false;
    };
    if (place->port && place->port->p_keys && !judge(*place->port->p_keys, "the P_Key table of its port")) return;
    if (!is_near(*place.host)) return;
    if (const auto* port = stated_port(place->gid); port && port->p_keys)
        judge(*port->p_keys, "the P_Key table that " + around_.who + " has of its port");
}

/// GID and LID.
void Comparer::ports(const Place& place) {
    const auto& port = place->port;
    if (port && !port->gid.is_zero() && port->gid.interface_id() == place->gid.interface_id() &&
        port->gid != place->gid) {
        add("host-gid", place,
            place.name() + " has " + text(place->gid) + " in its link-layer address, but its port has " +
                text(port->gid) + ": the subnet prefix has changed, and others cannot answer it.");
        return;
    }
    if (!is_near(*place.host)) return;
    if (const auto* stated = stated_port(place->gid)) {
        if (!port || port->lid == 0 || stated->lid == 0) return;
        // A port with an LMC sends from any of its LIDs.
        const bool is_seen = std::ranges::binary_search(around_.seen_lids, place->gid);
        if (is_seen && !port->lmc) return;
        if (is_one_port(port->lid, stated->lid, port->lmc.value_or(0))) return;
        add("host-lid", place,
            place.name() + " is at LID " + hex(port->lid, 4) + " by its own words, but " +
                (is_seen ? "sends from " + hex(stated->lid, 4) + " in the capture"
                         : "at " + hex(stated->lid, 4) + " by those of " + around_.who) +
                ": packets to it go elsewhere.");
        return;
    }
    const auto is_same_port = [&](const StatedPort& one) {
        return one.gid.interface_id() == place->gid.interface_id() && one.lid != 0;
    };
    if (const auto other = std::ranges::find_if(around_.ports, is_same_port); other != around_.ports.end())
        add("host-gid", place,
            place.name() + " has " + text(place->gid) + " in its link-layer address, but " + around_.who +
                " knows it as " + text(other->gid) + ": the subnet prefix has changed, and others cannot answer it.");
}

/// An interface that is to work, and does not.
void Comparer::carrier(const Place& place) {
    if (!place->is_up.value_or(false) || place.is_running() || !place->port || !place->is_running) return;
    const auto& port = *place->port;
    if (port.is_active()) {
        add("host-no-carrier", place,
            place.name() +
                " is up, and its port is Active, but it has no carrier: it has not joined the broadcast group " +
                (place->broadcast.is_zero() ? std::string{} : text(place->broadcast) + ' ') +
                "of its link. The SA refuses the join, does not answer, or the P_Key is not in the port's table.",
            place->broadcast.is_zero() ? std::vector<Gid>{} : std::vector{place->broadcast});
    } else if (port.is_plugged()) {
        add("host-port-not-active", place,
            place.name() + " is up, and its cable is in, but its port is " + port.state +
                ": no subnet manager has brought it up.");
    }
}

/// Who is a member of what: the host's word against the SA's.
void Comparer::groups(const Place& place) {
    down_member(place);
    if (!place.is_running() || fabrics_->is_stranger(place->gid)) return;
    std::vector<Gid> believed;
    if (place->driver_groups) {
        for (const auto& one : *place->driver_groups)
            if (one.is_complete && !one.is_send_only) believed.push_back(one.mgid);
        members(place, believed, " believes to be a member of ");
    } else if (place->link_groups) {
        for (const auto& mgid : *place->link_groups)
            if (is_same_partition(mgid_of(mgid)[Mgid::p_key], place->partition())) believed.push_back(mgid);
        if (!place->broadcast.is_zero()) believed.push_back(place->broadcast);
        members(place, believed, " wants to be a member of ");
    }
}

void Comparer::members(const Place& place, const std::vector<Gid>& believed, const std::string& belief) {
    std::set<Gid> missing, limited;
    for (const auto& mgid : believed) {
        if (!has_ipoib_signature(mgid)) continue;
        const auto* known = group(mgid);
        const auto joined = known ? join_state_of(*known, place->gid) : std::uint8_t{0};
        if ((joined & join_state::full_member) != 0) continue;
        const bool is_proved = is_absent(mgid, place) || (known ? known->members_are_listed : is_visible(mgid));
        if (is_proved) (joined != 0 ? limited : missing).insert(mgid);
    }
    for (const auto* which : {&missing, &limited}) {
        if (which->empty()) continue;
        std::vector<Gid> mgids(which->begin(), which->end());
        add("host-not-member", place,
            place.name() + belief + groups_text(mgids) + ", but " + around_.who +
                (which == &missing ? " has it not there: it gets no packet of "
                                   : " has it there only to send: it gets no packet of ") +
                (mgids.size() > 1 ? "them." : "it."),
            mgids);
    }
}

void Comparer::down_member(const Place& place) {
    if (place->is_up.value_or(true) || place->broadcast.is_zero()) return;
    const auto* broadcast = group(place->broadcast);
    if (!broadcast || (join_state_of(*broadcast, place->gid) & join_state::full_member) == 0) return;
    // Another interface of the port may be on the same link.
    const auto& others = fabrics_->links().at(fabrics_->of(place));
    if (std::ranges::any_of(others,
                            [&](const Place& one) { return one->gid == place->gid && one->is_up.value_or(true); }))
        return;
    add("host-down-member", place,
        place.name() + " is down, but " + around_.who +
            " has it in the broadcast group: a switch goes on forwarding to it, and its place is not free.",
        {place->broadcast});
}

/// Groups of the partition that the interface was in before.
void Comparer::foreign_groups(const Place& place) {
    std::set<Gid> foreign;
    const auto look_at = [&](const Gid& mgid) {
        if (has_ipoib_signature(mgid) && !is_same_partition(mgid_of(mgid)[Mgid::p_key], place->partition()))
            foreign.insert(mgid);
    };
    if (place->link_groups)
        for (const auto& mgid : *place->link_groups) look_at(mgid);
    if (place->driver_groups)
        for (const auto& one : *place->driver_groups) look_at(one.mgid);
    if (foreign.empty()) return;
    std::vector<Gid> mgids(foreign.begin(), foreign.end());
    add("host-group-of-another-p-key", place,
        place.name() + " is on P_Key " + hex(place->partition(), 4) + ", but holds " +
            listed(mgids, [](const Gid& mgid) { return text(mgid); }) +
            " of another partition: it hears nothing of these groups. Setting the interface down and up joins anew.",
        mgids);
}

/// Joins that the driver waits for.
void Comparer::waiting(const Place& place) {
    if (!place->driver_groups || !place.is_running()) return;
    std::vector<Gid> receives, sends;
    for (const auto& one : *place->driver_groups) {
        if (one.is_complete) continue;
        if (!one.is_send_only) receives.push_back(one.mgid);
        // Who sends to a group that nobody is in loses nothing.
        const auto* known = group(one.mgid);
        if (one.is_send_only && known && known->members_are_listed && join_state_of(*known, place->gid) == 0 &&
            !known->members.empty())
            sends.push_back(one.mgid);
    }
    if (!receives.empty())
        add("host-join-waits", place,
            place.name() + " has asked to join " + groups_text(receives) +
                ", and waits for it: refused, or not answered. Until then it hears nothing of " +
                (receives.size() > 1 ? "them." : "it."),
            receives);
    if (!sends.empty())
        add("host-send-only-waits", place,
            place.name() + " sends to " + groups_text(sends) +
                ", which has members, but has not joined to send: its packets wait, or are dropped.",
            sends);
}

/// The IP MTU beside the group's.
void Comparer::sizes(const Place& place) {
    // Connections carry more than a group. Who does not tell the mode may have them.
    if (place.mode() != "datagram" || place->mtu == 0 || place->broadcast.is_zero()) return;
    const auto* broadcast = group(place->broadcast);
    if (!broadcast || !broadcast->tells(Parameter::mtu)) return;
    const auto octets = mtu_octets(broadcast->parameters.mtu);
    if (octets == 0 || place->mtu + Encap::size <= octets) return;
    add("host-mtu", place,
        place.name() + " has an IP MTU of " + std::to_string(place->mtu) +
            ", but the broadcast group of its link carries " + std::to_string(octets - Encap::size) +
            ": larger packets are lost.",
        {place->broadcast});
}

/// The queue pair that a capture shows of it.
void Comparer::announced(const Place& place) {
    if (!place->qpn) return;
    for (const auto& held : place->addresses) {
        if (held.is_tentative || held.is_duplicate) continue;
        const auto& all = around_.announcements;
        auto next = std::ranges::lower_bound(all, held.network.address.octets, {}, &Announcement::address);
        for (; next != all.end() && next->address == held.network.address.octets; ++next) {
            const auto& one = *next;
            if (one.p_key != place->partition() || one.gid != place->gid || one.qpn == *place->qpn ||
                !this->held(*place.host, one.since))
                continue;
            add("host-qpn", place,
                place.name() + " has " + qpn_text(*place->qpn) + " by its own words, but was announced last with " +
                    qpn_text(one.qpn) + " for " + text(held.network.address) +
                    ": who has not asked since sends to a queue pair that is gone.");
            return;
        }
    }
}

void Comparer::index_owners() {
    for (const auto& place : all_) {
        if (place->port && place->port->lid != 0) {
            const auto [known, is_new] = by_gid_.emplace(place->gid, place);
            if (!is_new && place.host->time.value_or(0) > known->second.host->time.value_or(0)) known->second = place;
        }
        if (!place->is_up.value_or(true)) continue;
        for (const auto& held : place->addresses)
            if (!held.is_tentative && !held.is_duplicate)
                owners_[fabrics_->of(place)][held.network.address.octets].push_back(place);
    }
}

/// Who else of its link had the address when the host was looked at.
std::vector<Place> Comparer::owners_of(const Place& place, const Gid& address) const {
    std::vector<Place> all;
    const auto& of_link = owners_.at(fabrics_->of(place));
    if (const auto owners = of_link.find(address); owners != of_link.end())
        std::ranges::copy_if(owners->second, std::back_inserter(all), [&](const Place& owner) {
            return owner->gid != place->gid && are_within(*owner.host, *place.host, freshness);
        });
    return all;
}

/// Whether an entry leads to another port of the host that has the address, which takes what is for any of its
/// addresses: that it is the wrong rail is another finding.
bool Comparer::is_at_other_rail(const Place& owner, const Neighbour& entry) const {
    const auto found = by_gid_.find(entry.gid);
    if (found == by_gid_.end()) return false;
    const auto& rail = found->second;
    return rail.host->host == owner.host->host && rail.host->machine == owner.host->machine && rail.is_running() &&
           rail->master.empty() && rail->vrf == owner->vrf && rail->qpn.value_or(entry.qpn) == entry.qpn &&
           fabrics_->of(rail) == fabrics_->of(owner);
}

/// Entries with a link-layer address that their owner has not, or not any more.
void Comparer::neighbours(const Place& place) {
    for (const auto& entry : place->neighbours) {
        // Nothing is sent to who has not answered: it is asked for again.
        if (entry.state.find("FAILED") != std::string::npos || entry.state.find("INCOMPLETE") != std::string::npos)
            continue;
        std::string now;
        if (const auto owners = owners_of(place, entry.address); !owners.empty()) {
            const auto has = [&](const Place& owner) {
                return owner->gid == entry.gid && owner->qpn.value_or(entry.qpn) == entry.qpn;
            };
            if (std::ranges::any_of(owners, has)) continue;
            const auto& owner = owners.front();
            if (is_at_other_rail(owner, entry)) continue;
            now =
                owner.name() + " has it with " + (owner->qpn ? qpn_text(*owner->qpn) + " and " : "") + text(owner->gid);
        } else if (is_near(*place.host)) {
            const auto& all = around_.announcements;
            const auto first = std::ranges::lower_bound(all, entry.address, {}, &Announcement::address);
            const auto last = std::ranges::upper_bound(all, entry.address, {}, &Announcement::address);
            const auto is_here = [&](const Announcement& one) {
                return one.p_key == place->partition() && held(*place.host, one.since);
            };
            const auto has = [&](const Announcement& one) {
                return is_here(one) && one.gid == entry.gid && one.qpn == entry.qpn;
            };
            const auto latest = std::find_if(first, last, is_here);
            if (latest == last || std::any_of(first, last, has)) continue;
            now = "the capture shows it with " + qpn_text(latest->qpn) + " and " + text(latest->gid);
        }
        if (now.empty()) continue;
        add("stale-neighbour", place,
            place.name() + " has " + text(IpAddress{entry.address}) + " at " + qpn_text(entry.qpn) + " and " +
                text(entry.gid) + (entry.state.empty() ? "" : " (" + entry.state + ')') + ", but " + now +
                ": what it sends there goes nowhere" +
                (entry.state == "PERMANENT" ? ", and it never asks again." : " until it asks again."));
    }
}

/// Paths to where a port is not any more.
void Comparer::paths(const Place& place) {
    for (const auto& path : place->paths) {
        if (path.dlid == 0 || path.gid.prefix() != place->gid.prefix()) continue;
        std::uint16_t lid = 0;
        std::uint8_t lmc = most_lmc;
        std::string who;
        if (const auto found = by_gid_.find(path.gid);
            found != by_gid_.end() && are_within(*found->second.host, *place.host, nearness)) {
            lid = found->second->port->lid;
            lmc = found->second->port->lmc.value_or(most_lmc);
            who = found->second.name();
        } else if (const auto* stated = stated_port(path.gid); stated && is_near(*place.host)) {
            lid = stated->lid;
            who = text(path.gid);
        }
        if (lid == 0 || is_one_port(path.dlid, lid, lmc)) continue;
        add("stale-path", place,
            place.name() + " sends to " + who + " by LID " + hex(path.dlid, 4) + ", but that port is at " +
                hex(lid, 4) + " now: its packets go nowhere until the path is asked for anew.");
    }
}

/// Partitions of hosts that the asker is not told of.
void Comparer::hidden() {
    if (around_.p_keys.empty()) return;
    std::set<std::uint16_t> unseen;
    for (const auto& place : all_)
        if (std::ranges::none_of(around_.p_keys,
                                 [&](std::uint16_t own) { return is_same_partition(own, place->partition()); }) &&
            std::ranges::none_of(around_.groups, [&](const StatedGroup& one) {
                return is_same_partition(mgid_of(one.parameters.mgid)[Mgid::p_key], place->partition());
            }))
            unseen.insert(place->partition());
    if (unseen.empty()) return;
    result_.notes.push_back("hosts are on P_Keys " + listed(unseen, [](std::uint16_t p_key) { return hex(p_key, 4); }) +
                            ", of which " + around_.who + " tells the asker nothing: their members are not compared");
}

}  // namespace

Comparison compare(std::span<const HostState> hosts, const Surroundings& around) {
    return Comparer{hosts, around}.result();
}

}  // namespace ipoib::hosts
