// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/hosts/fabrics.hpp"

#include "base/listed.hpp"
#include "protocol/wire/mgid.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>

namespace ipoib::hosts {
using namespace wire;

namespace {

/// "25 days", "40 minutes".
std::string span_text(std::int64_t ns) {
    constexpr std::int64_t second = 1'000'000'000;
    constexpr std::pair<std::int64_t, const char*> units[] = {
        {second * 86400, " days"}, {second * 3600, " hours"}, {second * 60, " minutes"}};
    for (const auto& [size, name] : units)
        if (ns >= 2 * size) return std::to_string(ns / size) + name;
    return std::to_string(ns / second) + " seconds";
}

}  // namespace

std::string counted(std::size_t count, const char* what) {
    return std::to_string(count) + ' ' + what + (count == 1 ? "" : "s");
}

Fabrics::Fabrics(const std::vector<Place>& all, const Surroundings& around) {
    for (const auto& port : around.ports) known_.push_back(port.gid);
    for (const auto& group : around.groups)
        for (const auto& member : group.members) known_.push_back(member.port_gid);
    std::ranges::sort(known_);
    tell_apart(all);
    tell_times(all.size() > 1);
    tell_names(all);
}

Fabric Fabrics::of(const Place& place) const {
    const auto sm = managers_.find(place->gid);
    return {place.link(), several_.contains(place.link()) && sm != managers_.end() ? sm->second : std::uint16_t{0}};
}

bool Fabrics::is_known(const Gid& gid) const { return std::ranges::binary_search(known_, gid); }

/// Which of the interfaces are on one link. The default subnet prefix is that of any fabric.
void Fabrics::tell_apart(const std::vector<Place>& all) {
    std::map<Link, std::set<std::uint16_t>> managers;
    for (const auto& place : all)
        if (place->gid.prefix() == default_subnet_prefix && place->port && place->port->sm_lid != 0) {
            managers_.emplace(place->gid, place->port->sm_lid);
            managers[place.link()].insert(place->port->sm_lid);
        }
    for (const auto& [link, lids] : managers)
        if (lids.size() > 1) several_.insert(link);
    if (!several_.empty())
        notes_.push_back("ports with the default subnet prefix have their subnet managers at LIDs " +
                         listed(managers.at(*several_.begin()), [](std::uint16_t lid) { return hex(lid, 4); }) +
                         ": taken for as many fabrics");
    for (const auto& place : all) links_[of(place)].push_back(place);
    std::map<std::pair<const HostState*, Link>, bool> has_known;
    for (const auto& place : all)
        if (place->gid.prefix() == default_subnet_prefix && is_known(place->gid))
            has_known[{place.host, place.link()}] = true;
    std::string first;
    for (const auto& place : all)
        if (has_known.contains({place.host, place.link()}) && !is_known(place->gid) &&
            strangers_.insert(place->gid).second && first.empty())
            first = place.name();
    if (!strangers_.empty())
        notes_.push_back(counted(strangers_.size(), "port") + " with the default subnet prefix (" + first +
                         (strangers_.size() > 1 ? " and others" : "") + ") " + (strangers_.size() > 1 ? "are" : "is") +
                         " unknown, but other ports of the same hosts are not: taken for another fabric's");
}

/// Which states are too far apart to be compared.
void Fabrics::tell_times(bool are_several) {
    std::size_t untimed = 0;
    std::set<const HostState*> hosts;
    const HostState *first = nullptr, *last = nullptr;
    std::int64_t widest = 0;
    for (const auto& [fabric, places] : links_) {
        const auto time = [](const Place& place) { return place.host->time.value_or(0); };
        std::vector<Place> timed;
        for (const auto& place : places) {
            if (place.host->time)
                timed.push_back(place);
            else if (hosts.insert(place.host).second)
                ++untimed;
        }
        if (timed.empty()) continue;
        const auto [early, late] = std::ranges::minmax_element(timed, {}, time);
        if (time(*late) - time(*early) <= std::max(widest, freshness)) continue;
        widest = time(*late) - time(*early);
        first = early->host;
        last = late->host;
    }
    if (untimed != 0 && are_several)
        notes_.push_back(counted(untimed, "state") + (untimed > 1 ? " have" : " has") +
                         " no time: not compared with other states");
    if (first)
        notes_.push_back("states are up to " + span_text(widest) + " apart (" + first->host + ", " + time_text(*first) +
                         "; " + last->host + ", " + time_text(*last) +
                         "): addresses and neighbours of hosts are compared with each other where their states "
                         "are within " +
                         span_text(freshness) + ", modes, MTUs and LIDs within " + span_text(nearness));
}

/// Names that several hosts may have.
void Fabrics::tell_names(const std::vector<Place>& all) {
    std::map<std::string, std::set<std::size_t>> machines;
    for (const auto& place : all) machines[place.host->host].insert(place.host->machine);
    std::erase_if(machines, [](const auto& one) { return one.second.size() < 2; });
    if (machines.empty()) return;
    const auto& [name, numbers] = *machines.begin();
    notes_.push_back(std::to_string(numbers.size()) + " states are of hosts called " + name +
                     (machines.size() > 1 ? ", and others have one name, too" : "") +
                     ": each is taken for a host of its own");
}

std::string Fabrics::doubt_of(const Link& link, const std::vector<Place>& places) const {
    if (link.first != default_subnet_prefix) return {};
    std::map<const HostState*, std::set<Gid>> ports;
    bool has_several = false, are_known = true;
    for (const auto& place : places) {
        auto& of_host = ports[place.host];
        of_host.insert(place->gid);
        has_several = has_several || of_host.size() > 1;
        are_known = are_known && is_known(place->gid);
    }
    if (!has_several || are_known) return {};
    return "Hosts have several ports with the default subnet prefix here: these may be on two fabrics, and not on one "
           "link.";
}

}  // namespace ipoib::hosts
