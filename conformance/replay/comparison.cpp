// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/replay/comparison.hpp"

#include "base/json_object.hpp"
#include "base/one_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace ipoib::conformance::replay {
namespace {

using Document = nlohmann::json;

/// By the members on the way, without the places in arrays.
constexpr std::array<std::string_view, 14> undecided{
    "/command",         "/started",        "/host",          "/seconds",       "/selected",
    "/results/seconds", "/results/repeat", "/hosts/command", "/hosts/started", "/hosts/seconds",
    "/hosts/dut",       "/hosts/fabric",   "/hosts/suite",   "/hosts/seed"};
constexpr std::array<std::string_view, 11> of_suite{"suite", "judge",  "title",   "revision",  "level",    "strength",
                                                    "force", "status", "section", "statement", "reference"};

template <class List>
bool has(const List& list, std::string_view name) {
    return std::ranges::find(list, name) != list.end();
}

/// What tells an item of a list from the others: its id, and which of two it is of.
std::string key_of(const Document& item) {
    std::string key;
    for (const auto* member : {"host", "id", "name", "file"})
        if (const auto found = item.is_object() ? item.find(member) : item.end();
            item.is_object() && found != item.end() && found->is_string())
            key += (key.empty() ? "" : " ") + found->get<std::string>();
    return key;
}

class Comparison {
public:
    Differences differences;

    /// `path` are the members on the way, `place` the same for a reader.
    void compare(const Document& then, const Document& now, const std::string& path, const std::string& place,
                 bool is_of_suite) {
        if (has(undecided, path) || then == now) return;
        if (then.is_object() && now.is_object()) return compare_members(then, now, path, place, is_of_suite);
        if (then.is_array() && now.is_array() && are_objects(then) && are_objects(now))
            return compare_lists(then, now, path, place, is_of_suite);
        tell(place, "is " + shown(then) + ", and comes out as " + shown(now), is_of_suite);
    }

private:
    static bool are_objects(const Document& list) {
        return std::ranges::all_of(list, [](const Document& item) { return item.is_object(); });
    }
    static std::string shown(const Document& value) {
        constexpr std::size_t most = 120;
        return one_line(json_line(value), most);
    }
    void tell(const std::string& place, const std::string& what, bool is_of_suite) {
        auto& all = is_of_suite ? differences.of_suite : differences.of_run;
        all.push_back(place + ' ' + what);
    }
    void compare_members(const Document& then, const Document& now, const std::string& path, const std::string& place,
                         bool is_of_suite) {
        const auto way = [&](const std::string& name) { return path + '/' + name; };
        const auto spot = [&](const std::string& name) { return place.empty() ? name : place + ' ' + name; };
        for (const auto& [name, value] : then.items()) {
            const bool suites = is_of_suite || has(of_suite, name);
            if (const auto other = now.find(name); other != now.end())
                compare(value, *other, way(name), spot(name), suites);
            else if (!has(undecided, way(name)))
                tell(spot(name), "is " + shown(value) + ", and does not come out", suites);
        }
        for (const auto& [name, value] : now.items())
            if (!then.contains(name) && !has(undecided, way(name)))
                tell(spot(name), "is missing, and comes out as " + shown(value), is_of_suite || has(of_suite, name));
    }
    void compare_lists(const Document& then, const Document& now, const std::string& path, const std::string& place,
                       bool is_of_suite) {
        // In their order; where one is missing, or too many, the others are compared all the same.
        std::size_t at = 0;
        for (const auto& item : then) {
            const auto key = key_of(item);
            auto other = at;
            while (other < now.size() && key_of(now[other]) != key) ++other;
            if (other == now.size()) {
                tell(place + ' ' + named(key, item), "does not come out there", is_of_suite);
                continue;
            }
            for (; at < other; ++at)
                tell(place + ' ' + named(key_of(now[at]), now[at]), "comes out there, and is missing", is_of_suite);
            compare(item, now[at], path, place + ' ' + named(key, item), is_of_suite);
            ++at;
        }
        for (; at < now.size(); ++at)
            tell(place + ' ' + named(key_of(now[at]), now[at]), "comes out, and is missing", is_of_suite);
    }
    static std::string named(const std::string& key, const Document& item) { return key.empty() ? shown(item) : key; }
};

}  // namespace

Differences differences_of(std::string_view recorded, std::string_view now) {
    const auto then = object_in(recorded), again = object_in(now);
    if (!then || !again) throw std::invalid_argument("it is no object of JSON");
    Comparison comparison;
    comparison.compare(*then, *again, {}, {}, false);
    return std::move(comparison.differences);
}

}  // namespace ipoib::conformance::replay
