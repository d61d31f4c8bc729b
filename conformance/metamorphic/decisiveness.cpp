// SPDX-License-Identifier: GPL-2.0-or-later
// Counts verdicts, and compares the counts with a page that was kept.
#include "conformance/metamorphic/decisiveness.hpp"

#include "protocol/requirements/catalogue.hpp"

#include <fmt/format.h>

#include <set>
#include <sstream>
#include <stdexcept>

namespace ipoib::metamorphic {
namespace {

std::set<std::string> judged_in(const Source& source) {
    std::set<std::string> ids;
    const auto rules = rules::all();
    for (std::size_t i = 0; i < rules.size(); ++i) {
        if (source.decisions.observed[i] == 0) continue;
        for (const auto* requirement : rules[i].checks)
            if (requirement) ids.emplace(requirement->id);
    }
    return ids;
}

std::size_t requirements_with_rules() {
    std::set<std::string_view> ids;
    for (const auto& rule : rules::all())
        for (const auto* requirement : rule.checks)
            if (requirement) ids.insert(requirement->id);
    return ids.size();
}

std::vector<std::string> cells_of(const std::string& line) {
    std::vector<std::string> cells;
    std::istringstream text{line};
    for (std::string cell; std::getline(text, cell, '|');) {
        const auto first = cell.find_first_not_of(' '), last = cell.find_last_not_of(' ');
        cells.push_back(first == std::string::npos ? "" : cell.substr(first, last - first + 1));
    }
    return cells;
}

/// "12, 3 broken", or "12".
Decisiveness::Cell cell_of(const std::string& text) {
    Decisiveness::Cell cell;
    std::istringstream words{text};
    std::string ignored;
    words >> cell.judged;
    if (text.find(',') != std::string::npos) words >> ignored >> cell.broken;
    return cell;
}

}  // namespace

double Decisiveness::share() const {
    std::size_t judged = 0, all = 0;
    for (const auto& [at, cell] : cells) judged += cell.judged;
    for (const auto& [kind, count] : sources) all += count;
    const auto pairs = static_cast<double>(all * requirements_with_rules());
    return pairs > 0 ? static_cast<double>(judged) / pairs : 0;
}

Decisiveness decisiveness(const Sources& sources) {
    Decisiveness counts;
    for (const auto& source : sources) {
        ++counts.sources[source->kind];
        for (const auto& id : judged_in(*source)) ++counts.cells[{id, source->kind}].judged;
        std::set<std::string> broken;
        for (const auto& charge : source->verdicts.charges) broken.emplace(requirements::all()[charge.requirement]->id);
        for (const auto& id : broken) ++counts.cells[{id, source->kind}].broken;
    }
    return counts;
}

std::string page(const Decisiveness& counts, const Outcome& outcome) {
    std::size_t sources = 0;
    for (const auto& [kind, count] : counts.sources) sources += count;
    std::string text = fmt::format(
        "# How often the rules come to a verdict\n\n"
        "In how many sources of `selftest --metamorphic` each requirement was judged, and in how many found broken. "
        "`scripts/update-docs` makes this page. {:.1f} % of all pairs of a requirement and a source have a "
        "verdict.\n\n"
        "The run: {} changes by {} relations of {} sources: {} broken.\n\n",
        100 * counts.share(), outcome.variants, outcome.by_relation.size(), sources, outcome.breaks.size());
    std::string head = "| requirement |", line = "|---|", all = "| sources |";
    for (const auto& [kind, count] : counts.sources) {
        head += ' ' + kind + " |";
        line += "---|";
        all += ' ' + std::to_string(count) + " |";
    }
    text += head + '\n' + line + '\n' + all + '\n';
    for (const auto* requirement : requirements::all()) {
        std::string row = "| " + std::string(requirement->id) + " |";
        bool is_judged = false;
        for (const auto& [kind, count] : counts.sources) {
            const auto found = counts.cells.find({std::string(requirement->id), kind});
            const auto cell = found == counts.cells.end() ? Decisiveness::Cell{} : found->second;
            is_judged = is_judged || cell.judged > 0;
            row += ' ' + std::to_string(cell.judged);
            if (cell.broken) row += fmt::format(", {} broken", cell.broken);
            row += " |";
        }
        if (is_judged) text += row + '\n';
    }
    return text;
}

Decisiveness parse(const std::string& text) {
    Decisiveness counts;
    std::istringstream lines{text};
    std::vector<std::string> kinds;
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with("| ")) continue;
        const auto cells = cells_of(line);
        if (cells[1] == "requirement") {
            kinds = cells;
            continue;
        }
        if (cells.size() != kinds.size()) throw std::runtime_error("a line has other columns than its head: " + line);
        for (std::size_t i = 2; i < cells.size(); ++i) {
            const auto cell = cell_of(cells[i]);
            if (cells[1] == "sources")
                counts.sources[kinds[i]] = cell.judged;
            else
                counts.cells[{cells[1], kinds[i]}] = cell;
        }
    }
    if (counts.cells.empty()) throw std::runtime_error("there is no table of requirements");
    return counts;
}

std::vector<std::string> losses(const Decisiveness& before, const Decisiveness& now) {
    std::vector<std::string> lines;
    for (const auto& [at, cell] : before.cells) {
        const auto& [id, kind] = at;
        if (!now.sources.contains(kind)) continue;
        const auto found = now.cells.find(at);
        const auto current = found == now.cells.end() ? Decisiveness::Cell{} : found->second;
        if (current.judged < cell.judged)
            lines.push_back(fmt::format("{} is judged in {} of the sources \"{}\", before in {}", id, current.judged,
                                        kind, cell.judged));
        if (current.broken < cell.broken)
            lines.push_back(fmt::format("{} is found broken in {} of the sources \"{}\", before in {}", id,
                                        current.broken, kind, cell.broken));
    }
    return lines;
}

}  // namespace ipoib::metamorphic
