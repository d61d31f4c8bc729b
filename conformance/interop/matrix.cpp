// SPDX-License-Identifier: GPL-2.0-or-later
// What the runs of pairs come to.
#include "conformance/interop/matrix.hpp"

#include <algorithm>
#include <array>

namespace ipoib::conformance::interop {
using reports::Verdict;

namespace {

/// As the exit code has it: what was proven goes before what is not known, and an error before all in neither.
Verdict worst(Verdict a, Verdict b) noexcept { return std::min(a, b); }

bool is_kept(Verdict verdict) noexcept {
    return verdict == Verdict::pass || verdict == Verdict::warn || verdict == Verdict::xfail;
}

CellExchange::Part part_of(const reports::Result& result) {
    CellExchange::Part part{.verdict = result.verdict, .message = result.message};
    if (result.verdict != Verdict::fail && result.verdict != Verdict::warn) return part;
    for (const auto& detail : result.details)
        for (const auto& id : detail.requirements)
            if (std::ranges::find(part.requirements, id) == part.requirements.end()) part.requirements.push_back(id);
    return part;
}

}  // namespace

Verdict CellExchange::verdict() const noexcept { return worst(of.dut.verdict, of.against.verdict); }

Verdict Cell::verdict() const noexcept {
    auto all = Verdict::na;
    for (const auto& one : exchanges) all = worst(all, one.verdict());
    return all;
}

std::vector<std::size_t> Cell::broken_by() const {
    std::vector<std::size_t> all;
    for (const auto side : both_sides) {
        const auto who = side == Side::dut ? dut : against;
        const bool fails = std::ranges::any_of(
            exchanges, [&](const CellExchange& one) { return one.of[side].verdict == Verdict::fail; });
        if (fails && std::ranges::find(all, who) == all.end()) all.push_back(who);
    }
    return all;
}

std::size_t Cell::kept() const noexcept {
    return static_cast<std::size_t>(
        std::ranges::count_if(exchanges, [](const CellExchange& one) { return is_kept(one.verdict()); }));
}

std::size_t Cell::not_applicable() const noexcept {
    return static_cast<std::size_t>(
        std::ranges::count_if(exchanges, [](const CellExchange& one) { return one.verdict() == Verdict::na; }));
}

const Cell* Matrix::of(std::size_t one, std::size_t other) const {
    const auto [first, second] = std::minmax(one, other);
    const auto found = std::ranges::find_if(
        cells, [&, a = first, b = second](const Cell& cell) { return cell.dut == a && cell.against == b; });
    return found == cells.end() ? nullptr : &*found;
}

int Matrix::exit_code() const noexcept {
    constexpr int error = 3, fail = 1, inconc = 5, nothing = 4;
    std::array<bool, 16> is_there{};
    for (const auto& cell : cells)
        for (const auto& one : cell.exchanges)
            for (const auto side : both_sides) is_there[static_cast<std::size_t>(one.of[side].verdict)] = true;
    const auto has = [&](Verdict verdict) { return is_there[static_cast<std::size_t>(verdict)]; };
    if (is_interrupted || has(Verdict::error)) return error;
    if (has(Verdict::fail)) return fail;
    if (has(Verdict::inconc)) return inconc;
    return has(Verdict::pass) || has(Verdict::warn) ? 0 : nothing;
}

Cell cell_of(std::size_t dut, std::size_t against, const Each<reports::Results>& results) {
    Cell cell{.dut = dut, .against = against};
    // Both have the same exchanges, in the same order; before them may stand SESSION.
    for (const auto& result : results.dut.results) {
        if (result.id.starts_with("RULE-")) continue;
        const auto other = std::ranges::find(results.against.results, result.id, &reports::Result::id);
        CellExchange exchange{.id = result.id};
        exchange.of.dut = part_of(result);
        if (other != results.against.results.end()) exchange.of.against = part_of(*other);
        cell.exchanges.push_back(std::move(exchange));
    }
    for (const auto side : both_sides)
        for (const auto& finding : results[side].beyond) cell.findings.push_back(finding.text);
    return cell;
}

}  // namespace ipoib::conformance::interop
