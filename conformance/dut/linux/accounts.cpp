// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/dut/linux/accounts.hpp"

#include "conformance/dut/linux/changed_files.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <iterator>
#include <numeric>
#include <optional>
#include <utility>

namespace ipoib::host {
namespace {

namespace fs = std::filesystem;

std::optional<std::uint64_t> counted_in(const fs::path& file) {
    const auto text = read_text(file.string());
    std::uint64_t value = 0;
    if (!text || std::from_chars(text->data(), text->data() + text->size(), value).ec != std::errc{}) return {};
    return value;
}

constexpr std::array<std::string_view, 3> modules{"[ib_core]", "[ib_cm]", "[ib_ipoib]"};

/// "ipoib_cm_create_tx+0x45/0x90 [ib_ipoib] age=1" is "ib_ipoib:ipoib_cm_create_tx"; nothing where it is of no such
/// module.
std::string site_in(std::string_view line) {
    const auto plus = line.find("+0x");
    if (plus == line.npos) return {};
    const auto begin = line.find_last_of(' ', plus) + 1;
    for (const auto module : modules)
        if (line.find(module, plus) != line.npos)
            return std::string(module.substr(1, module.size() - 2)) + ':' +
                   std::string(line.substr(begin, plus - begin));
    return {};
}

}  // namespace

InterfaceAccounts::InterfaceAccounts(fs::path interfaces) : interfaces_(std::move(interfaces)) {}

std::vector<std::string> InterfaceAccounts::impossible() {
    constexpr std::uint64_t of_infiniband = 32;   // ARPHRD_INFINIBAND
    constexpr std::uint64_t longest = 1'048'576;  // no packet of any offload has as many octets
    // A length of 32 bits that has gone below zero. Adapters that count late are far from that.
    constexpr std::uint64_t below_zero = std::uint64_t{1} << 31;
    std::vector<std::string> found;
    std::error_code error;
    for (auto entry = fs::directory_iterator(interfaces_, error); !error && entry != fs::directory_iterator{};
         entry.increment(error)) {
        if (counted_in(entry->path() / "type") != of_infiniband) continue;
        for (const auto* const way : {"rx", "tx"}) {
            const auto folder = entry->path() / "statistics";
            // In this order: what comes between is a packet too many, and no octet.
            const auto octets = counted_in(folder / (std::string(way) + "_bytes"));
            const auto packets = counted_in(folder / (std::string(way) + "_packets"));
            if (!octets || !packets) continue;
            const auto name = entry->path().filename().string();
            const auto [at, is_new] = before_.try_emplace(name + ' ' + way, Counted{*packets, *octets});
            const auto before = std::exchange(at->second, Counted{*packets, *octets});
            if (is_new || *octets < before.octets || *packets < before.packets) continue;
            const auto more = *octets - before.octets, of = *packets - before.packets;
            if (more >= below_zero && more / longest > of)
                found.push_back("BUG: " + name + " has counted " + std::to_string(more) + " octets in " +
                                std::to_string(of) + " packets (" + way + "_bytes)");
        }
    }
    return found;
}

void add_allocations(std::string_view traces, std::map<std::string, std::uint64_t>& to) {
    std::uint64_t count = 0;
    while (!traces.empty()) {
        const auto end = std::min(traces.find('\n'), traces.size());
        const auto line = traces.substr(0, end);
        traces.remove_prefix(std::min(end + 1, traces.size()));
        // A count begins what was allocated in one way; functions without one are those that have called it.
        const auto begin = std::min(line.find_first_not_of(' '), line.size());
        std::uint64_t number = 0;
        const auto read = std::from_chars(line.data() + begin, line.data() + line.size(), number);
        if (read.ec == std::errc{} && read.ptr != line.data() + line.size() && *read.ptr == ' ') count = number;
        if (count == 0) continue;
        if (const auto site = site_in(line); !site.empty()) to[site] += std::exchange(count, 0);
    }
}

void add_lost(std::string_view objects, std::map<std::string, std::uint64_t>& to) {
    bool is_placed = true;
    while (!objects.empty()) {
        const auto end = std::min(objects.find('\n'), objects.size());
        const auto line = objects.substr(0, end);
        objects.remove_prefix(std::min(end + 1, objects.size()));
        if (line.starts_with("unreferenced object ")) is_placed = false;
        if (is_placed) continue;
        if (const auto site = site_in(line); !site.empty()) {
            ++to[site];
            is_placed = true;
        }
    }
}

MemoryAccounts::MemoryAccounts(fs::path debug) : debug_(std::move(debug)) {}

std::vector<std::string> MemoryAccounts::growing() {
    std::vector<std::string> found;
    if (calls_++ % calls_of_a_look != 0) return found;
    look_for_growth(found);
    look_for_lost(found);
    return found;
}

/// What was lost before the first look is not the node's peers' doing.
void MemoryAccounts::look_for_lost(std::vector<std::string>& found) const {
    const auto file = debug_ / "kmemleak";
    const auto write = [&](const char* word) { std::ofstream(file) << word << std::flush; };
    if (std::error_code error; !fs::exists(file, error)) return;
    write("scan");
    std::map<std::string, std::uint64_t> lost;
    if (calls_ > 1)
        if (const auto text = read_text(file.string())) add_lost(*text, lost);
    for (const auto& [site, count] : lost)
        found.push_back("BUG: " + site + " has lost memory that it has allocated, " + std::to_string(count) +
                        (count == 1 ? " time" : " times"));
    write("clear");
}

void MemoryAccounts::look_for_growth(std::vector<std::string>& found) {
    std::error_code error;
    for (auto entry = fs::directory_iterator(debug_ / "slab", error); !error && entry != fs::directory_iterator{};
         entry.increment(error)) {
        // Addresses of vmalloc() are given back together, once there are many; until then adjacent ones are merged,
        // others stay.
        const auto name = entry->path().filename().string();
        if (name == "vmap_area") continue;
        std::ifstream file(entry->path() / "alloc_traces");
        if (!file) continue;
        std::map<std::string, std::uint64_t> now;
        add_allocations(std::string{std::istreambuf_iterator<char>(file), {}}, now);
        look_for_growth_in(name, now, found);
    }
}

/// What takes the place of what another function has allocated comes from the same cache, and leaves it as full as it
/// was: a receive queue is filled once at first, and then one by one.
void MemoryAccounts::look_for_growth_in(const std::string& name, const std::map<std::string, std::uint64_t>& now,
                                        std::vector<std::string>& found) {
    auto& cache = caches_[name];
    constexpr std::uint64_t much = 100;  // a full socket of received packets is less
    cache.sums.push_back(std::accumulate(now.begin(), now.end(), std::uint64_t{0},
                                         [](std::uint64_t sum, const auto& place) { return sum + place.second; }));
    std::erase_if(cache.counts, [&](const auto& one) { return !now.contains(one.first); });
    for (const auto& [site, count] : now) {
        auto& counts = cache.counts[site];
        if (!counts.empty() && count <= counts.back()) counts.clear();
        counts.push_back(count);
        if (counts.size() < looks || count - counts.front() < much) continue;
        if (cache.sums.back() < cache.sums[cache.sums.size() - counts.size()] + much) continue;
        std::string words = "BUG: " + site + " has more and more allocations of " + name + " that are not freed:";
        for (const auto one : counts) words += ' ' + std::to_string(one);
        found.push_back(std::move(words));
        counts = {count};
    }
}

}  // namespace ipoib::host
