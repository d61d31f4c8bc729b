// SPDX-License-Identifier: GPL-2.0-or-later
// Puts hosts with the same verdict together and names them shortly.
#include "reports/matrix.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>
#include <unordered_map>

#include "base/one_line.hpp"
#include "base/secret_hash.hpp"
#include "base/utf8.hpp"
#include "reports/failure.hpp"

namespace ipoib::reports {
namespace {

constexpr std::size_t named_one_by_one = 8, longest_name = 200, longest_list = 1000;

/// "node007.cluster" as what stands before, the number and its digits, and what stands behind; only the first label has
/// a number.
struct Numbered {
    std::string before, behind;
    std::uint32_t number = 0;
    std::size_t digits = 0;  ///< none: the whole name is in `before`
    bool is_padded = false;
};

Numbered taken_apart(const std::string& name) {
    constexpr std::string_view decimal = "0123456789";
    constexpr std::size_t most_digits = 9;
    const auto label = std::string_view(name).substr(0, name.find('.'));
    const auto last = label.find_last_of(decimal);
    if (last == std::string_view::npos) return {name, {}};
    const auto first = label.find_last_not_of(decimal, last) + 1;  // npos + 1: from the beginning
    Numbered parts{name.substr(0, first), name.substr(last + 1), 0, last + 1 - first,
                   name[first] == '0' && last > first};
    if (parts.digits > most_digits) return {name, {}};
    std::from_chars(name.data() + first, name.data() + last + 1, parts.number);
    return parts;
}

/// "1-6,8" of ascending numbers.
std::string ranges(const std::set<std::uint32_t>& numbers, std::size_t width) {
    std::string text;
    for (auto at = numbers.begin(); at != numbers.end();) {
        const auto first = *at;
        auto last = first;
        while (++at != numbers.end() && *at == last + 1) last = *at;
        text += fmt::format("{}{:0{}}", text.empty() ? "" : ",", first, width);
        if (last > first) text += fmt::format("-{:0{}}", last, width);
    }
    return text;
}

std::string in_ranges(const std::vector<std::string>& names) {
    /// What the names of one range share; a width other than 0 is that of numbers with leading zeros.
    using Family = std::tuple<std::string, std::string, std::size_t>;
    std::set<Family> padded;
    std::vector<Numbered> parts;
    for (const auto& name : names) {
        parts.push_back(taken_apart(name));
        if (const auto& one = parts.back(); one.is_padded) padded.insert({one.before, one.behind, one.digits});
    }
    std::vector<std::pair<Family, std::set<std::uint32_t>>> families;
    std::map<Family, std::size_t> index;
    for (const auto& one : parts) {
        Family family{one.before, one.behind, one.digits};
        if (!padded.contains(family)) std::get<2>(family) = 0;
        const auto [found, is_new] = index.try_emplace(family, families.size());
        if (is_new) families.push_back({family, {}});
        if (one.digits > 0) families[found->second].second.insert(one.number);
    }
    std::string text;
    for (const auto& [family, numbers] : families) {
        const auto& [before, behind, width] = family;
        const std::string_view opens = numbers.size() > 1 ? "[" : "", closes = numbers.size() > 1 ? "]" : "";
        text += fmt::format("{}{}{}{}{}{}", text.empty() ? "" : ", ", one_line(before, longest_name), opens,
                            ranges(numbers, width), closes, one_line(behind, longest_name));
        if (text.size() > longest_list) break;
    }
    return text;
}

bool is_good(Verdict verdict) {
    return verdict == Verdict::pass || verdict == Verdict::xfail || verdict == Verdict::na;
}

std::unordered_map<std::string_view, std::size_t, SecretHash> indices_of(const Results& results) {
    std::unordered_map<std::string_view, std::size_t, SecretHash> index;
    for (const auto& host : results.hosts) index.emplace(host.name, index.size());
    return index;
}

}  // namespace

Verdict MatrixRow::worst() const {
    const auto found = std::find_if(hosts.begin(), hosts.end(), [](const Hosts& some) { return !some.empty(); });
    return found == hosts.end() ? Verdict::na : static_cast<Verdict>(found - hosts.begin());
}

bool MatrixRow::is_well() const {
    const auto kinds = std::count_if(hosts.begin(), hosts.end(), [](const Hosts& some) { return !some.empty(); });
    return kinds <= 1 && is_good(worst());
}

Matrix matrix(const Results& results) {
    Matrix matrix;
    matrix.counts.resize(results.hosts.size());
    const auto index = indices_of(results);
    for (const auto& result : results.results)
        if (const auto found = index.find(result.host); found != index.end())
            ++matrix.counts[found->second][static_cast<std::size_t>(result.verdict)];
    matrix.rows.resize(results.requirements.size());
    for (std::size_t i = 0; i < matrix.rows.size(); ++i) matrix.rows[i].requirement = i;
    for (std::size_t host = 0; host < results.hosts.size(); ++host) {
        const auto& counts = matrix.counts[host];
        if (std::accumulate(counts.begin(), counts.end(), std::size_t{0}) == 0) {
            matrix.silent.push_back(host);
            continue;
        }
        const auto& verdicts_here = results.hosts[host].requirements;
        for (std::size_t i = 0; i < std::min(matrix.rows.size(), verdicts_here.size()); ++i)
            matrix.rows[i].hosts[static_cast<std::size_t>(verdicts_here[i])].push_back(host);
    }
    return matrix;
}

std::string named(const Results& results, const Hosts& hosts) {
    std::vector<std::string> names;
    for (const auto host : hosts) names.push_back(results.hosts[host].name);
    if (names.size() > named_one_by_one) return clipped(in_ranges(names), longest_list);
    std::string text;
    for (const auto& name : names) text += (text.empty() ? "" : ", ") + one_line(name, longest_name);
    return clipped(text, longest_list);
}

std::string on_hosts(const Results& results, const Hosts& hosts) {
    const auto all = results.hosts.size();
    if (all == 1) return "on " + named(results, hosts);
    if (hosts.size() == all) return fmt::format("on all {} hosts", all);
    return fmt::format("on {} of {} hosts: {}", hosts.size(), all, named(results, hosts));
}

std::vector<HostGroup> groups(const Results& results, std::size_t most) {
    std::vector<HostGroup> found;
    std::map<std::pair<Verdict, std::string>, Hosts> together;
    for (std::size_t i = 0; i < results.hosts.size(); ++i) {
        const auto& host = results.hosts[i];
        std::string faults;
        for (const auto& fault : faults_of(host))
            faults += (faults.empty() ? "" : "; ") + one_line(fault, longest_name);
        if (results.hosts.size() <= most)
            found.push_back({host.verdict, std::move(faults), {i}});
        else
            together[{host.verdict, std::move(faults)}].push_back(i);
    }
    for (auto& [key, hosts] : together) found.push_back({key.first, key.second, std::move(hosts)});
    return found;
}

std::string counted(const std::array<std::size_t, verdicts>& counts) {
    std::string text;
    for (std::size_t i = 0; i < counts.size(); ++i)
        if (counts[i] > 0)
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", counts[i], name(static_cast<Verdict>(i)));
    return text;
}

std::vector<Finding> findings(const Results& results, Verdict verdict) {
    std::vector<Finding> found;
    const auto hosts = indices_of(results);
    std::map<std::pair<std::string_view, std::string>, std::size_t> index;
    for (const auto& result : results.results) {
        if (result.verdict != verdict) continue;
        const auto host = hosts.find(result.host);
        if (host == hosts.end()) {
            found.push_back({&result, {}});
            continue;
        }
        const auto [at, is_new] = index.try_emplace({result.id, verdict_name(result)}, found.size());
        if (is_new) found.push_back({&result, {}});
        auto& on = found[at->second].hosts;
        if (on.empty() || on.back() != host->second) on.push_back(host->second);
    }
    for (auto& finding : found) {
        std::ranges::sort(finding.hosts);
        finding.hosts.erase(std::unique(finding.hosts.begin(), finding.hosts.end()), finding.hosts.end());
    }
    return found;
}

std::string where(const Results& results, const MatrixRow& row) {
    std::size_t told = 0, unnamed = verdicts;
    for (std::size_t i = 0; i < verdicts; ++i) {
        told += row.hosts[i].size();
        const bool is_more = unnamed == verdicts || row.hosts[i].size() > row.hosts[unnamed].size();
        if (is_good(static_cast<Verdict>(i)) && is_more) unnamed = i;
    }
    const auto all = results.hosts.size();
    std::string text;
    for (std::size_t i = 0; i < verdicts; ++i) {
        const auto& some = row.hosts[i];
        if (some.empty()) continue;
        const auto verdict = name(static_cast<Verdict>(i));
        if (all == 1 || some.size() == all) return fmt::format("{} {}", verdict, on_hosts(results, some));
        text += text.empty() ? fmt::format("{} on {} of {} hosts", verdict, some.size(), all)
                             : fmt::format("; {} on {}", verdict, some.size());
        if (i != unnamed) text += ": " + named(results, some);
    }
    return told == all ? text : text + fmt::format("; no results of {}", all - told);
}

}  // namespace ipoib::reports
