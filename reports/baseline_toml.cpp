// SPDX-License-Identifier: GPL-2.0-or-later
// BASELINE.toml read and written. Every complaint names file and line; all of them are reported at once.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "base/nearest.hpp"
#include "base/one_line.hpp"
#include "reports/baseline.hpp"
#include "reports/complaints.hpp"
#include "reports/failure.hpp"
#include "reports/file.hpp"
#include "reports/toml_document.hpp"
#include "reports/toml_text.hpp"

namespace ipoib::reports {
namespace {

constexpr std::size_t largest_file = std::size_t{1} << 20U, longest_quote = 200;
constexpr std::array<std::string_view, 7> verdicts{"FAIL",       "FAIL.MUST", "FAIL.STATED", "FAIL.SHOULD",
                                                   "FAIL.CRASH", "WARN",      "INCONC"};

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
            complaints.add(line_of(value), fmt::format("when.{} must be a string", one_line(fact, longest_quote)));
    }
}

/// A crash and an INCONC are of a whole case.
bool is_of_requirements(const Expected& entry) { return entry.verdict != "FAIL.CRASH" && entry.verdict != "INCONC"; }

void read_requirements(const toml::table& table, Expected& entry, const KnownIds& known, Complaints& complaints) {
    const auto* node = table.get("requirements");
    if (node == nullptr) return;
    const auto* list = node->as_array();
    if (list == nullptr || list->empty())
        return complaints.add(line_of(*node), "requirements must be a list of ids: [\"RFC4391-6-02\"]");
    if (!is_of_requirements(entry))
        return complaints.add(line_of(*node), fmt::format("{} is of the whole case, not of requirements",
                                                          one_line(entry.verdict, longest_quote)));
    for (const auto& item : *list) {
        const auto* text = item.as_string();
        const auto id = text == nullptr ? std::string{} : from_ascii_toml(text->get());
        if (text == nullptr)
            complaints.add(line_of(item), "a requirement must be a string");
        else if (const auto meant = known.requirement(id))
            complaints.add(line_of(item),
                           fmt::format("there is no requirement \"{}\"{}", one_line(id, longest_quote), *meant));
        else if (std::ranges::find(entry.requirements, id) != entry.requirements.end())
            complaints.add(line_of(item), fmt::format("{} is there twice", one_line(id, longest_quote)));
        else
            entry.requirements.push_back(id);
    }
}

void check_entry(const toml::table& table, const Expected& entry, const KnownIds& known, Complaints& complaints) {
    constexpr std::array<std::string_view, 7> keys{"id",        "verdict", "requirements", "reason",
                                                   "reference", "expires", "when"};
    for (const auto& [key, value] : table)
        if (std::ranges::find(keys, key.str()) == keys.end())
            complaints.add(line_of(value),
                           fmt::format("unknown key \"{}\"{}", one_line(from_ascii_toml(key.str()), longest_quote),
                                       did_you_mean(key.str(), keys, [](std::string_view one) { return one; })));
    const auto line = [&](std::string_view key) {
        const auto* node = table.get(key);
        return node == nullptr ? entry.line : static_cast<std::size_t>(node->source().begin.line);
    };
    const auto is_text_or_absent = [&](std::string_view key) {
        return table.get(key) == nullptr || table.get(key)->is_string();
    };
    if (entry.id.empty() && is_text_or_absent("id")) complaints.add(line("id"), "an entry needs an id");
    if (!entry.id.empty())
        if (const auto meant = known.judge(entry.id))
            complaints.add(line("id"), fmt::format("there is no rule and no case \"{}\"{}",
                                                   one_line(entry.id, longest_quote), *meant));
    if (is_text_or_absent("verdict") && std::find(verdicts.begin(), verdicts.end(), entry.verdict) == verdicts.end())
        complaints.add(line("verdict"), fmt::format("verdict must be one of {}", fmt::join(verdicts, ", ")));
    if (is_text_or_absent("reason") && entry.reason.find_first_not_of(" \t\r\n") == std::string::npos)
        complaints.add(line("reason"),
                       fmt::format("the reason of {} is empty: say why it is expected, or remove the entry",
                                   entry.id.empty() ? "this entry" : one_line(entry.id, longest_quote)));
}

Expected read_entry(const toml::table& table, const KnownIds& known, Complaints& complaints) {
    Expected entry;
    entry.line = table.source().begin.line;
    read_text(table, "id", entry.id, complaints);
    read_text(table, "verdict", entry.verdict, complaints);
    read_text(table, "reason", entry.reason, complaints);
    read_text(table, "reference", entry.reference, complaints);
    read_expiry(table, entry, complaints);
    read_facts(table, entry, complaints);
    read_requirements(table, entry, known, complaints);
    check_entry(table, entry, known, complaints);
    return entry;
}

void refuse_doubles(const std::vector<Expected>& entries, Complaints& complaints) {
    using Key = std::tuple<std::string_view, std::string_view, std::vector<std::pair<std::string, std::string>>>;
    std::map<Key, std::vector<const Expected*>> known;
    const auto overlap = [](const Expected& one, const Expected& other) {
        const auto& names = other.requirements;
        return one.requirements.empty() || names.empty() ||
               std::ranges::find_first_of(one.requirements, names) != one.requirements.end();
    };
    for (const auto& entry : entries) {
        auto& before = known[Key{entry.id, entry.verdict, entry.when}];
        const auto first = std::ranges::find_if(before, [&](const Expected* one) { return overlap(*one, entry); });
        if (first != before.end() && !entry.id.empty())
            complaints.add(entry.line, fmt::format("{} has this verdict in line {} already",
                                                   one_line(entry.id, longest_quote), (*first)->line));
        before.push_back(&entry);
    }
}

/// Entries, as far as they can be read; the complaints say whether they may be used.
std::vector<Expected> read_entries(const toml::table& document, const KnownIds& known, Complaints& complaints) {
    std::vector<Expected> entries;
    for (const auto& [key, value] : document) {
        if (key.str() != "expected") {
            complaints.add(line_of(value),
                           fmt::format("unknown key \"{}\"", one_line(from_ascii_toml(key.str()), longest_quote)));
            continue;
        }
        const auto* list = value.as_array();
        if (list == nullptr) {
            complaints.add(line_of(value), "expected must be written [[expected]]");
            continue;
        }
        for (const auto& item : *list)
            if (const auto* table = item.as_table(); table != nullptr)
                entries.push_back(read_entry(*table, known, complaints));
            else
                complaints.add(line_of(item), "expected must be written [[expected]]");
    }
    refuse_doubles(entries, complaints);
    return entries;
}

}  // namespace

Loaded<Baseline> parse_baseline(std::string_view text, std::string_view file, const KnownIds& known) {
    Complaints complaints(file);
    Baseline baseline{std::string(file), {}};
    if (const auto document = toml_document(text, file, complaints))
        baseline.expected = read_entries(*document, known, complaints);
    if (auto wrong = complaints.text(); !wrong.empty()) return Loaded<Baseline>::failed(std::move(wrong));
    return Loaded<Baseline>::of(std::move(baseline));
}

Loaded<Baseline> load_baseline(const std::filesystem::path& path, const KnownIds& known) {
    const auto text = read_whole(path, largest_file);
    if (!text) return Loaded<Baseline>::failed(text.error);
    return parse_baseline(*text, path.string(), known);
}

std::string write_baseline(const Results& results) {
    /// What fails by one id, in any capture and on any host.
    struct Failure {
        const Result* first;
        std::string verdict;
        std::vector<std::string_view> requirements;
    };
    std::vector<Failure> failures;
    for (const auto& result : results.results) {
        if (result.verdict != Verdict::fail) continue;
        const bool is_crash = result.fail_type == "FAIL.CRASH";
        const std::string verdict = is_crash ? "FAIL.CRASH" : "FAIL";
        auto known = std::ranges::find_if(
            failures, [&](const Failure& one) { return one.first->id == result.id && one.verdict == verdict; });
        if (known == failures.end()) known = failures.insert(failures.end(), Failure{&result, verdict, {}});
        if (is_crash) continue;
        for (const auto id : concerned(result))
            if (std::ranges::find(known->requirements, id) == known->requirements.end())
                known->requirements.push_back(id);
    }
    std::string text =
        "# Expected failures. Each needs a reason; a reference and a last day are good to have:\n"
        "# reference = \"...\", expires = 2027-01-01, when = { driver = \"...\" }\n"
        "# Only the requirements that are named are excused.\n";
    for (const auto& [first, verdict, requirements] : failures) {
        text +=
            fmt::format("\n# {}: {}\n[[expected]]\nid = {}\nverdict = \"{}\"\n", one_line(first->title, longest_quote),
                        one_line(message_of(*first), longest_quote), toml_string(first->id), verdict);
        std::string list;
        for (const auto id : requirements) list += (list.empty() ? "" : ", ") + toml_string(id);
        if (!list.empty()) text += fmt::format("requirements = [{}]\n", list);
        text += "reason = \"\"\n";
    }
    return failures.empty() ? text + "\n# Nothing failed.\n" : text;
}

}  // namespace ipoib::reports
