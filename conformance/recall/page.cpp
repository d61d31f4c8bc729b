// SPDX-License-Identifier: GPL-2.0-or-later
// Numbers and words.
#include "conformance/recall/page.hpp"

#include <fmt/format.h>

#include <set>
#include <sstream>
#include <stdexcept>

namespace ipoib::recall {
namespace {

std::string_view word(bool is_whole) { return is_whole ? "whole" : "sample"; }

std::string joined(std::string words) {
    std::ranges::replace(words, ' ', '-');
    return words;
}

std::string key_of(const Cell& cell, bool is_whole, bool has_psns) {
    return fmt::format("{} {} {}{}", word(is_whole), cell.statement, joined(cell.kind), has_psns ? "" : ",no-psns");
}

/// "3 (2 a, 1 b)", by the letters of doubts.
class Letters {
public:
    std::string counts(const Count& count) {
        if (count.suspected() == 0) return "";
        std::string text;
        for (const auto& [doubt, number] : count.doubts)
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", number, letter(doubt));
        return text;
    }
    [[nodiscard]] const std::map<std::size_t, std::string>& doubts() const noexcept { return by_number_; }
    static std::string letter(std::size_t number) {
        constexpr std::size_t letters = 26;
        const std::string last(1, static_cast<char>('a' + number % letters));
        return number < letters ? last : letter(number / letters - 1) + last;
    }

private:
    std::string letter(const std::string& doubt) {
        const auto [at, is_new] = numbers_.try_emplace(doubt, numbers_.size());
        if (is_new) by_number_[at->second] = doubt;
        return letter(at->second);
    }
    std::map<std::string, std::size_t> numbers_;
    std::map<std::size_t, std::string> by_number_;
};

std::string number(std::size_t count) { return count ? std::to_string(count) : ""; }

std::string row(const Cell& cell, Letters& letters) {
    auto text = fmt::format("| {} | {}{} |", cell.statement, cell.kind, cell.is_provable ? "" : " (not provable)");
    for (const auto* count : {&cell.with_psns, &cell.without, &cell.vouched})
        text += count->places == 0 ? " | | | | |"
                                   : fmt::format(" {} | {} | {} | {} | {} |", count->places, number(count->found),
                                                 number(count->other), letters.counts(*count), number(count->silent));
    return text + '\n';
}

Count sum_of(const Outcome& outcome, const auto& takes, auto member) {
    Count sum;
    for (const auto& cell : outcome.cells) {
        if (!takes(cell)) continue;
        const Count& count = cell.*member;
        sum.places += count.places;
        sum.found += count.found;
        sum.other += count.other;
        sum.silent += count.silent;
        for (const auto& [doubt, number] : count.doubts) sum.doubts[doubt] += number;
    }
    return sum;
}

std::string summary(const Outcome& outcome) {
    std::string text;
    const auto line = [&](std::string_view what, const auto& takes, auto member) {
        const auto sum = sum_of(outcome, takes, member);
        if (sum.places == 0) return;
        text += fmt::format("{}: {} of {} found ({:.2f} %), {} as another statement, {} suspected, {} silent\n", what,
                            sum.found, sum.places, sum.recall(), sum.other, sum.suspected(), sum.silent);
    };
    const auto at_rest = [](const Cell& cell) { return cell.is_at_rest && cell.is_provable; };
    const auto changed = [](const Cell& cell) { return !cell.is_at_rest && cell.is_provable; };
    const auto unproven = [](const Cell& cell) { return !cell.is_provable; };
    line("at rest, with PSNs", at_rest, &Cell::with_psns);
    line("after changes, with PSNs", changed, &Cell::with_psns);
    line("at rest, without PSNs", at_rest, &Cell::without);
    line("after changes, without PSNs", changed, &Cell::without);
    line("at rest, without PSNs, vouched for as whole", at_rest, &Cell::vouched);
    line("after changes, without PSNs, vouched for as whole", changed, &Cell::vouched);
    line("what an innocent sender may send", unproven, &Cell::with_psns);
    const auto means = means_of(outcome);
    text += fmt::format("mean over cells with PSNs: {:.2f} % at rest, {:.2f} % after changes, {:.2f} % of all\n",
                        means.at_rest, means.after_changes, means.all);
    if (means.worst)
        text += fmt::format("worst cell: {}, {}: {} of {}\n", means.worst->statement, means.worst->kind,
                            means.worst->with_psns.found, means.worst->with_psns.places);
    std::set<const World*> accused, accused_by_loss;
    for (const auto& one : outcome.false_charges) (one.lost ? accused_by_loss : accused).insert(one.world);
    text += fmt::format("{} of {} legal worlds accused, and with losses {} of them, of {} such captures\n",
                        accused.size(), outcome.worlds, accused_by_loss.size(), outcome.losses);
    return text;
}

}  // namespace

Means means_of(const Outcome& outcome) {
    Means means;
    double sums[2] = {0, 0};
    std::size_t cells[2] = {0, 0};
    for (const auto& cell : outcome.cells) {
        means.silent += cell.with_psns.silent + cell.without.silent;
        if (!cell.is_provable || cell.with_psns.places == 0) continue;
        sums[cell.is_at_rest] += cell.with_psns.recall();
        ++cells[cell.is_at_rest];
        if (!means.worst || cell.with_psns.recall() < means.worst->with_psns.recall()) means.worst = &cell;
    }
    const auto mean = [](double sum, std::size_t count) { return count ? sum / static_cast<double>(count) : 100; };
    means.at_rest = mean(sums[1], cells[1]);
    means.after_changes = mean(sums[0], cells[0]);
    means.all = mean(sums[0] + sums[1], cells[0] + cells[1]);
    means.found = sum_of(
                      outcome, [](const Cell& cell) { return cell.is_provable; }, &Cell::with_psns)
                      .recall();
    return means;
}

std::string text(const Outcome& outcome) {
    std::string all;
    for (const auto& one : outcome.false_charges)
        all += fmt::format("ACCUSED {} of {}{}\n", one.world->name, one.statement,
                           one.lost ? fmt::format(", {} frames lost", one.lost) : "");
    for (const auto& cell : outcome.cells) {
        const auto line = [&](const Count& count, std::string_view where) {
            if (count.found == count.places) return;
            all += fmt::format("{:<20} {:<34} {:>6} of {:<6}", cell.statement, cell.kind + std::string(where),
                               count.found, count.places);
            if (count.other) all += fmt::format(" {} as another;", count.other);
            if (count.suspected()) all += fmt::format(" {} suspected;", count.suspected());
            if (count.silent) all += fmt::format(" {} silent", count.silent);
            all += '\n';
        };
        line(cell.with_psns, "");
        line(cell.without, ", no PSNs");
    }
    return all + summary(outcome);
}

std::string page(const Outcome& outcome) {
    std::string text =
        "# How many violations are found\n\n"
        "`selftest --recall --whole --markdown` makes this page: each violation was put into a legal capture, at each "
        "place where it can be, one at a time ([how](../docs/recall.md)). *Other*: the frame is accused of another "
        "statement. *Suspected*: INCONC that names the frame, by the doubts below. *Silent*: nothing is said. The "
        "second five columns are of link types that show no PSNs, the last five of these with `--assume whole`.\n\n";
    std::istringstream lines{summary(outcome)};
    for (std::string line; std::getline(lines, line);) text += "- " + line + '\n';
    Letters letters;
    const auto table = [&](std::string_view title, bool is_at_rest) {
        text += fmt::format(
            "\n## {}\n\n| statement | kind | places | FAIL | other | suspected | silent | places | FAIL | other | "
            "suspected | silent | places | FAIL | other | suspected | silent |\n"
            "|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|---|\n",
            title);
        for (const auto& cell : outcome.cells)
            if (cell.is_at_rest == is_at_rest) text += row(cell, letters);
    };
    table("After changes", false);
    table("At rest", true);
    if (!letters.doubts().empty()) text += "\n## Doubts\n\n| | what is missing | places |\n|---|---|---|\n";
    std::map<std::string, std::size_t> counts;
    for (const auto member : {&Cell::with_psns, &Cell::without, &Cell::vouched})
        for (const auto& [doubt, number] : sum_of(
                                               outcome, [](const Cell&) { return true; }, member)
                                               .doubts)
            counts[doubt] += number;
    for (const auto& [number, doubt] : letters.doubts())
        text += fmt::format("| {} | {} | {} |\n", Letters::letter(number), doubt, counts[doubt]);
    return text;
}

std::string file_name(const Miss& miss) {
    return joined(fmt::format("{}--{}--{}--{}.pcapng", miss.world->name, miss.violation->claims[miss.claim].front()->id,
                              miss.violation->kind, miss.violation->place()));
}

std::string file_name(const FalseCharge& charge) {
    return fmt::format("accused--{}--{}--{}.pcapng", charge.world->name, charge.statement,
                       charge.lost ? fmt::format("lost-{:x}", charge.seed) : "whole");
}

Floor floor_of(const Outcome& outcome, bool is_whole) {
    Floor floor;
    for (const auto& cell : outcome.cells)
        for (const bool has_psns : {true, false}) {
            const auto& count = has_psns ? cell.with_psns : cell.without;
            if (cell.is_provable && count.found < count.places)
                floor[key_of(cell, is_whole, has_psns)] = count.recall();
        }
    return floor;
}

Floor parse_floor(const std::string& text) {
    Floor floor;
    std::istringstream lines{text};
    for (std::string line; std::getline(lines, line);) {
        if (line.empty() || line.starts_with('#')) continue;
        const auto last = line.rfind(' ');
        std::size_t used = 0;
        try {
            if (last == std::string::npos) throw std::invalid_argument(line);
            floor[line.substr(0, last)] = std::stod(line.substr(last + 1), &used);
        } catch (const std::logic_error&) {
            throw std::runtime_error("no line of a floor: " + line);
        }
        if (used != line.size() - last - 1) throw std::runtime_error("no line of a floor: " + line);
    }
    return floor;
}

std::string floor_text(const Floor& floor) {
    std::string text =
        "# How much of each statement and kind `ipoib-conform selftest --recall` finds, in percent, where that is "
        "less\n"
        "# than all. No number may fall. `--floor` writes it.\n";
    for (const auto& [key, least] : floor) text += fmt::format("{} {:.1f}\n", key, least);
    return text;
}

std::vector<std::string> losses(const Floor& before, const Floor& now, const Outcome& outcome, bool is_whole) {
    constexpr double rounding = 0.051, whole = 100;
    std::vector<std::string> lines;
    for (const auto& cell : outcome.cells)
        for (const bool has_psns : {true, false}) {
            const auto key = key_of(cell, is_whole, has_psns);
            const auto found = now.find(key), least = before.find(key);
            const auto is = found == now.end() ? whole : found->second;
            const auto was = least == before.end() ? whole : least->second;
            if (is + rounding < was) lines.push_back(fmt::format("{}: {:.1f} %, before {:.1f} %", key, is, was));
        }
    return lines;
}

}  // namespace ipoib::recall
