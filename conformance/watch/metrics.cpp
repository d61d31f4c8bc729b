// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/watch/metrics.hpp"

#include "conformance/watch/exposition.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ipoib::watch {
namespace {

constexpr auto most_series = Exposition::most_series;

std::string label(std::string_view value) { return Exposition::label(value); }

template <class Value>
void of_links(Exposition& to, const links::Account& account, std::string_view name, std::string_view help,
              Value value) {
    to.family(name, "gauge", help);
    // Several subnets may call a link the same.
    std::map<std::string, std::uint64_t> sums;
    for (const auto& link : account.links) sums[links::link_text(link)] += value(link);
    std::size_t count = 0;
    for (const auto& [link, sum] : sums) {
        if (count++ == most_series) return;
        to.sample(fmt::format("link=\"{}\"", label(link)), sum);
    }
}

}  // namespace

std::string metrics(const Counts& counts, const links::Account& account, const conformance::Judge& judge) {
    Exposition to;
    to.family("frames", "counter", "Frames that were read.");
    to.sample("", counts.frames);
    to.family("packets", "counter", "Frames that are IPoIB.");
    to.sample("", counts.ipoib);
    to.family("captures", "counter", "Captures that were begun.");
    to.sample("", counts.captures);
    to.family("last_frame_timestamp_seconds", "gauge", "Time of the latest frame.");
    constexpr double ns = 1e9;
    to.sample("", fmt::format("{:.6f}", static_cast<double>(account.ended) / ns));
    to.family("violations", "counter", "Violations by rule.");
    for (std::size_t i = 0; i < judge.rules().size(); ++i) {
        const auto& rule = *judge.rules()[i];
        if (const auto violations = judge.findings()[i].violations; violations != 0)
            to.sample(fmt::format("rule=\"{}\",requirement=\"{}\"", label(rule.id), label(rule.checks[0]->id)),
                      violations);
    }
    to.family("observed", "counter", "Packets judged, of all rules together.");
    std::uint64_t observed = 0;
    for (const auto& finding : judge.findings()) observed += finding.observed;
    to.sample("", observed);
    to.family("findings", "gauge", "Findings by name and link.");
    std::map<std::pair<std::string, std::string>, std::uint64_t> findings;
    for (const auto& one : account.findings) ++findings[{one.name, one.link}];
    std::size_t count = 0;
    for (const auto& [key, number] : findings)
        if (count++ < most_series)
            to.sample(fmt::format("name=\"{}\",link=\"{}\"", label(key.first), label(key.second)), number);
    to.family("links", "gauge", "Links in sight.");
    to.sample("", account.links.size());
    of_links(to, account, "ports", "Ports of a link.", [](const auto& link) { return link.hosts.size(); });
    of_links(to, account, "members", "Ports that are FullMembers of the broadcast group.", [](const auto& link) {
        return static_cast<std::size_t>(std::ranges::count_if(link.hosts, &links::Host::is_member));
    });
    of_links(to, account, "groups", "Groups of a link.", [](const auto& link) { return link.groups.size(); });
    of_links(to, account, "refused_joins", "Joins that the SA refused and has not granted since.",
             [](const auto& link) {
                 std::size_t refused = 0;
                 for (const auto& group : link.groups) refused += group.refused.size();
                 return refused;
             });
    return std::move(to).end();
}

}  // namespace ipoib::watch
