// SPDX-License-Identifier: GPL-2.0-or-later
// BASELINE.toml read and written. Every complaint names file and line; all of them are reported at once.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <toml++/toml.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "reports/atomic_file.hpp"
#include "reports/baseline.hpp"
#include "reports/complaints.hpp"
#include "reports/failure.hpp"
#include "reports/text.hpp"
#include "reports/toml_text.hpp"

namespace ipoib::reports {
namespace {

constexpr std::size_t largest_file = std::size_t{1} << 20U;
constexpr std::array<std::string_view, 6> verdicts{"FAIL", "FAIL.MUST", "FAIL.SHOULD", "FAIL.CRASH", "WARN", "INCONC"};

std::string one_line(std::string_view text) { return clipped(printable(text, Lines::join), 200); }

std::size_t line_of(const toml::node& node) { return node.source().begin.line; }

/// A member that must be a string; absent ones stay empty.
void read_text(const toml::table& table, std::string_view key, std::string& into, Complaints& complaints) {
    const auto* node = table.get(key);
    if (node == nullptr) return;
    if (const auto* text = node->as_string(); text != nullptr)
        into = from_ascii_toml(text->get());
    else
        complaints.add(line_of(*node), fmt::format("{} must be a string", key));
}

void read_expiry(const toml::table& table, Expected& entry, Complaints& complaints) {
    const auto* node = table.get("expires");
    if (node == nullptr) return;
    const auto* day = node->as_date();
    if (day == nullptr) return complaints.add(line_of(*node), "expires must be a date, such as 2027-01-01");
    entry.expires = std::chrono::year_month_day{std::chrono::year{day->get().year},
                                                std::chrono::month{day->get().month}, std::chrono::day{day->get().day}};
}

void read_facts(const toml::table& table, Expected& entry, Complaints& complaints) {
    const auto* node = table.get("when");
    if (node == nullptr) return;
    const auto* facts = node->as_table();
    if (facts == nullptr) return complaints.add(line_of(*node), "when must be a table: { driver = \"...\" }");
    for (const auto& [key, value] : *facts) {
        const auto fact = from_ascii_toml(key.str());
        if (const auto* text = value.as_string(); text != nullptr)
            entry.when.emplace_back(fact, from_ascii_toml(text->get()));
        else
            complaints.add(line_of(value), fmt::format("when.{} must be a string", one_line(fact)));
    }
}

void check_entry(const toml::table& table, const Expected& entry, Complaints& complaints) {
    constexpr std::array<std::string_view, 6> known{"id", "verdict", "reason", "reference", "expires", "when"};
    for (const auto& [key, value] : table)
        if (std::find(known.begin(), known.end(), key.str()) == known.end())
            complaints.add(line_of(value), fmt::format("unknown key \"{}\"", one_line(from_ascii_toml(key.str()))));
    const auto line = [&](std::string_view key) {
        const auto* node = table.get(key);
        return node == nullptr ? entry.line : static_cast<std::size_t>(node->source().begin.line);
    };
    const auto is_text_or_absent = [&](std::string_view key) {
        return table.get(key) == nullptr || table.get(key)->is_string();
    };
    if (entry.id.empty() && is_text_or_absent("id")) complaints.add(line("id"), "an entry needs an id");
    if (is_text_or_absent("verdict") && std::find(verdicts.begin(), verdicts.end(), entry.verdict) == verdicts.end())
        complaints.add(line("verdict"), fmt::format("verdict must be one of {}", fmt::join(verdicts, ", ")));
    if (is_text_or_absent("reason") && entry.reason.find_first_not_of(" \t\r\n") == std::string::npos)
        complaints.add(line("reason"),
                       fmt::format("the reason of {} is empty: say why it is expected, or remove the entry",
                                   entry.id.empty() ? "this entry" : one_line(entry.id)));
}

Expected read_entry(const toml::table& table, Complaints& complaints) {
    Expected entry;
    entry.line = table.source().begin.line;
    read_text(table, "id", entry.id, complaints);
    read_text(table, "verdict", entry.verdict, complaints);
    read_text(table, "reason", entry.reason, complaints);
    read_text(table, "reference", entry.reference, complaints);
    read_expiry(table, entry, complaints);
    read_facts(table, entry, complaints);
    check_entry(table, entry, complaints);
    return entry;
}

void refuse_doubles(const std::vector<Expected>& entries, Complaints& complaints) {
    using Key = std::tuple<std::string_view, std::string_view, std::vector<std::pair<std::string, std::string>>>;
    std::map<Key, std::size_t> first_line;
    for (const auto& entry : entries) {
        const auto [first, is_new] = first_line.try_emplace(Key{entry.id, entry.verdict, entry.when}, entry.line);
        if (!is_new && !entry.id.empty())
            complaints.add(entry.line,
                           fmt::format("{} has this verdict in line {} already", one_line(entry.id), first->second));
    }
}

/// Entries, as far as they can be read; the complaints say whether they may be used.
std::vector<Expected> read_entries(const toml::table& document, Complaints& complaints) {
    std::vector<Expected> entries;
    for (const auto& [key, value] : document) {
        if (key.str() != "expected") {
            complaints.add(line_of(value), fmt::format("unknown key \"{}\"", one_line(from_ascii_toml(key.str()))));
            continue;
        }
        const auto* list = value.as_array();
        if (list == nullptr) {
            complaints.add(line_of(value), "expected must be written [[expected]]");
            continue;
        }
        for (const auto& item : *list)
            if (const auto* table = item.as_table(); table != nullptr)
                entries.push_back(read_entry(*table, complaints));
            else
                complaints.add(line_of(item), "expected must be written [[expected]]");
    }
    refuse_doubles(entries, complaints);
    return entries;
}

}  // namespace

Loaded<Baseline> parse_baseline(std::string_view text, std::string_view file) {
    Complaints complaints(file);
    Baseline baseline{std::string(file), {}};
    try {
        const auto document = toml::parse(to_ascii_toml(text), file);
        baseline.expected = read_entries(document, complaints);
    } catch (const toml::parse_error& failure) {
        complaints.add(failure.source().begin.line, one_line(from_ascii_toml(failure.description())));
    }
    if (auto wrong = complaints.text(); !wrong.empty()) return Loaded<Baseline>::failed(std::move(wrong));
    return Loaded<Baseline>::of(std::move(baseline));
}

Loaded<Baseline> load_baseline(const std::filesystem::path& path) {
    const auto text = read_whole(path, largest_file);
    if (!text) return Loaded<Baseline>::failed(text.error);
    return parse_baseline(*text, path.string());
}

std::string write_baseline(const Results& results) {
    std::string text =
        "# Expected failures. Each needs a reason; a reference and a last day are good to have:\n"
        "# reference = \"...\", expires = 2027-01-01, when = { driver = \"...\" }\n";
    std::set<std::pair<std::string, std::string>> written;
    for (const auto& result : results.results) {
        if (result.verdict != Verdict::fail) continue;
        const std::string verdict = result.fail_type == "FAIL.CRASH" ? "FAIL.CRASH" : "FAIL";
        if (!written.emplace(result.id, verdict).second) continue;
        text += fmt::format("\n# {}: {}\n[[expected]]\nid = {}\nverdict = \"{}\"\nreason = \"\"\n",
                            one_line(result.title), one_line(message_of(result)), toml_string(result.id), verdict);
    }
    return written.empty() ? text + "\n# Nothing failed.\n" : text;
}

}  // namespace ipoib::reports
