// SPDX-License-Identifier: GPL-2.0-or-later
// Lays out the terminal report. Failures come last, where the eye is when the command ends.
#include "reports/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <string_view>
#include <unordered_set>

#include "base/clock_text.hpp"
#include "base/one_line.hpp"
#include "base/secret_hash.hpp"
#include "base/utf8.hpp"
#include "reports/failure.hpp"
#include "reports/matrix.hpp"
#include "reports/suspicions.hpp"
#include "reports/text.hpp"

namespace ipoib::reports {
namespace {

constexpr std::array in_full{Verdict::fail, Verdict::xpass, Verdict::error, Verdict::inconc, Verdict::warn};

/// "RFC4391-9.1.1-02" padded to a column; what is longer stays whole.
std::string padded(std::string_view text, std::size_t to) {
    auto out = std::string(text);
    out.append(to - std::min(to, columns(text)), ' ');
    return out;
}

std::string_view link_type_name(int type) {
    switch (type) {
        case 1:
            return "Ethernet";
        case 12:
        case 14:
        case 101:
            return "raw IP";
        case 113:
        case 276:
            return "Linux cooked";
        case 197:
            return "ERF";
        case 242:
            return "IP over InfiniBand";
        case 247:
            return "InfiniBand";
        default:
            return "unknown";
    }
}

class Table {
public:
    Table(const Results& results, const TableOptions& options)
        : results_(results), options_(options), requirements_(results) {}

    std::string text() {
        if (!options_.quiet) {
            head();
            if (!results_.hosts.empty())
                matrix_rows();
            else if (results_.requirements.empty())
                result_rows();
            else
                requirement_rows();
            not_judged();
        }
        for (const auto verdict : in_full)
            if (verdict == Verdict::inconc)
                by_cause(findings(results_, verdict));
            else if (!options_.quiet || verdict != Verdict::warn)
                for (const auto& one : findings(results_, verdict)) finding(one);
        suspicions();
        beyond();
        unreadable();
        if (!results_.hosts.empty()) hosts();
        if (options_.quiet) {
            for (const auto& capture : results_.captures)
                for (const auto& note : capture.notes) indented(0, one_line(capture.file) + ": " + one_line(note));
            coverage();
        }
        once_more();
        slowest();
        if (!results_.hosts.empty()) line("hosts: " + host_summary());
        line("rules and cases: " + summary(results_));
        return std::move(out_);
    }

private:
    void line(std::string_view text) { out_.append(text).append("\n"); }
    void indented(std::size_t indent, std::string_view text) {
        line(std::string(indent, ' ') + wrapped(text, indent, options_.width));
    }

    [[nodiscard]] std::string coloured(Verdict verdict, std::string_view text) const {
        if (!options_.colour) return std::string(text);
        const std::string_view code = verdict == Verdict::pass                                ? "32"
                                      : verdict == Verdict::na                                ? "2"
                                      : verdict == Verdict::warn                              ? "33"
                                      : verdict == Verdict::xfail                             ? "36"
                                      : verdict == Verdict::fail || verdict == Verdict::xpass ? "31;1"
                                                                                              : "35";
        return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
    }

    void head() {
        const auto command = called(results_);
        // The files of a fleet are hundreds.
        indented(0, results_.hosts.empty() ? command : clipped(command, 4 * options_.width));
        captures();
        facts("fabric", results_.fabric);
        facts("dut", results_.dut);
        coverage();
        line("");
    }

    /// The evidence of an active run is named where something is wrong.
    void captures() {
        const bool is_evidence = results_.captures.size() > 1 && !is_by_capture_;
        if (is_evidence || (results_.captures.size() > 1 && !results_.hosts.empty()))
            return line(fmt::format("evidence: {} captures", results_.captures.size()));
        for (const auto& capture : results_.captures) {
            line(fmt::format("{}: link type {} ({}), {} packets, {} of them IPoIB{}", one_line(capture.file),
                             capture.link_type, link_type_name(capture.link_type), capture.packets, capture.ipoib,
                             time_of(capture)));
            for (const auto& note : capture.notes) indented(2, "note: " + one_line(note));
        }
    }

    /// When it was taken, and how long.
    static std::string time_of(const CaptureResult& capture) {
        if (capture.began == 0) return {};
        constexpr std::size_t to_seconds = 19;
        auto text = utc_time(capture.began).substr(0, to_seconds);
        std::ranges::replace(text, 'T', ' ');
        return fmt::format("; {} UTC, {}", text, seconds_between(capture.began, capture.ended));
    }

    void coverage() {
        if (!results_.requirements.empty()) indented(0, coverage_sentence(results_));
    }

    void facts(std::string_view of, const std::vector<std::pair<std::string, std::string>>& facts) {
        if (const auto text = facts_text(facts); !text.empty()) indented(0, fmt::format("{}: {}", of, text));
    }

    /// Verdict, id and a sentence; the sentence goes on below itself.
    void row(Verdict verdict, const std::string& id, std::string_view sentence) {
        constexpr std::size_t sentence_at = 28;
        const auto label = padded(name(verdict), 6);
        const auto begin = padded(id, sentence_at - 9);
        line(fmt::format("  {} {}{}", coloured(verdict, label), begin,
                         columns(begin) > sentence_at - 9 ? "\n" + std::string(sentence_at, ' ') : "") +
             wrapped(sentence, sentence_at, options_.width));
    }

    /// By id of the rule or case.
    using Observed = std::map<std::string_view, std::uint64_t>;

    [[nodiscard]] Observed observed() const {
        Observed sums;
        for (const auto& result : results_.results) sums[result.id] += result.observed;
        return sums;
    }

    void requirement_row(const RequirementResult& requirement, Verdict verdict, const Observed& observed) {
        std::uint64_t times = 0;
        for (const auto& id : requirement.by)
            if (const auto found = observed.find(id); found != observed.end()) times += found->second;
        row(verdict, one_line(requirement.id),
            fmt::format("{}: {} [{} observed{}]", force_of(requirement), one_line(requirement.statement), times,
                        inherited_from(requirement)));
    }

    void requirement_rows() {
        const auto times = observed();
        std::string section;
        for (const auto& requirement : results_.requirements) {
            if (requirement.verdict == Verdict::na) continue;
            if (const auto place = place_of(requirement); place != section) {
                section = place;
                line(section);
            }
            requirement_row(requirement, requirement.verdict, times);
        }
        if (!section.empty()) line("");
    }

    /// A row for each requirement that somebody breaks, with who does; where hosts differ otherwise, all such
    /// requirements together.
    void matrix_rows() {
        const auto found = matrix(results_);
        const auto times = observed();
        std::map<std::pair<Verdict, std::string>, std::string> others;
        std::map<Verdict, std::size_t> well;
        bool any = false;
        for (const auto& one : found.rows) {
            const auto& requirement = results_.requirements[one.requirement];
            const auto worst = one.worst();
            if (one.is_well()) {
                ++well[worst];
            } else if (worst == Verdict::error || worst >= Verdict::xfail) {
                auto& ids = others[{worst, where(results_, one)}];
                ids += (ids.empty() ? "" : " ") + one_line(requirement.id);
            } else {
                requirement_row(requirement, worst, times);
                line("                            " + wrapped(where(results_, one), 28, options_.width));
                any = true;
            }
        }
        for (const auto& [key, ids] : others) {
            line("  " + coloured(key.first, wrapped(key.second, 2, options_.width)));
            indented(9, ids);
        }
        if (any || !others.empty()) line("");
        const auto speaking = results_.hosts.size() - found.silent.size();
        for (const auto& [verdict, count] : well)
            if (verdict != Verdict::na)
                line(fmt::format("  {} {} requirement{} on {}{} host{}{}", coloured(verdict, padded(name(verdict), 6)),
                                 count, count == 1 ? "" : "s", speaking == 1 ? "" : "all ", speaking,
                                 speaking == 1 ? "" : "s", found.silent.empty() ? "" : " that have results"));
    }

    /// A host that judged nothing is NA.
    [[nodiscard]] std::string host_summary() const {
        std::array<std::size_t, verdicts> counts{};
        for (const auto& host : results_.hosts) ++counts[static_cast<std::size_t>(host.verdict)];
        return counted(counts);
    }

    /// A line for each host; of hundreds, one for those with the same verdict and faults.
    void hosts() {
        constexpr std::size_t most_lines = 100;
        const auto counts = matrix(results_).counts;
        for (const auto& [verdict, faults, some] : groups(results_, most_lines)) {
            const bool is_well = verdict == Verdict::pass || verdict == Verdict::xfail || verdict == Verdict::warn;
            if (options_.quiet && is_well) continue;
            auto text = named(results_, some);
            const auto what = results_.hosts.size() > most_lines
                                  ? fmt::format("{} host{}", some.size(), some.size() == 1 ? "" : "s")
                                  : counted(counts[some.front()]);
            if (!what.empty()) text += ": " + what;
            if (!faults.empty()) text += (what.empty() ? ": " : "; ") + faults;
            line(fmt::format("  {} {}", coloured(verdict, padded(name(verdict), 6)), wrapped(text, 9, options_.width)));
        }
        std::map<std::string, Hosts> notes;
        for (std::size_t i = 0; i < results_.hosts.size(); ++i)
            for (const auto& note : results_.hosts[i].notes) notes[one_line(note)].push_back(i);
        for (const auto& [note, some] : notes) indented(2, fmt::format("note: {} ({})", note, named(results_, some)));
    }

    /// The results behind a verdict that is bad only by way of another requirement: none of their findings names it.
    [[nodiscard]] std::string inherited_from(const RequirementResult& requirement) const {
        if (requirement.verdict != Verdict::na && !requirement.reason.empty())
            return "; " + one_line(requirement.reason);
        if (std::ranges::find(in_full, requirement.verdict) == in_full.end()) return {};
        std::string from;
        // What is named once is taken out.
        std::unordered_set<std::string_view, SecretHash> by{requirement.by.begin(), requirement.by.end()};
        for (const auto& result : results_.results) {
            if (result.verdict != requirement.verdict) continue;
            if (std::ranges::find(result.checks, requirement.id) != result.checks.end()) return {};
            if (by.erase(result.id) != 0) from += (from.empty() ? "; by " : ", ") + one_line(result.id);
        }
        return from;
    }

    void result_rows() {
        bool any = false;
        for (const auto& result : results_.results) {
            if (result.verdict == Verdict::na) continue;
            any = true;
            row(result.verdict, one_line(result.id),
                fmt::format("{} [{} observed]", one_line(result.title), result.observed));
        }
        if (any) line("");
    }

    void not_judged() {
        std::map<NotJudged, std::size_t> reasons;
        const bool by_requirement = !results_.requirements.empty();
        for (const auto& one : results_.requirements)
            if (one.verdict == Verdict::na && is_selected(results_, one)) ++reasons[one.na];
        if (!by_requirement)
            for (const auto& one : results_.results)
                if (one.verdict == Verdict::na) ++reasons[one.na];
        for (const auto& [reason, count] : reasons)
            line(fmt::format("  {} {:<10} {:>4} {}{}", coloured(Verdict::na, padded("NA", 6)),
                             reason == NotJudged::none ? "no reason" : name(reason), count,
                             by_requirement ? "requirement" : "result", count == 1 ? "" : "s"));
        if (!reasons.empty()) line("");
    }

    /// What one thing keeps from a verdict is told once, and named.
    void by_cause(const std::vector<Finding>& found) {
        std::map<std::pair<std::string, Hosts>, std::vector<const Finding*>> causes;
        std::vector<std::vector<const Finding*>*> in_order;
        for (const auto& one : found) {
            if (is_suspicion(results_, *one.result)) continue;
            auto& same = causes[{cause_of(*one.result), one.hosts}];
            if (same.empty()) in_order.push_back(&same);
            same.push_back(&one);
        }
        for (const auto* same : in_order) finding(*same->front(), others(*same));
    }

    [[nodiscard]] static std::string others(const std::vector<const Finding*>& same) {
        if (same.size() < 2) return {};
        std::string ids;
        constexpr std::size_t most_named = 100;
        for (std::size_t i = 1; i < std::min(same.size(), most_named + 1); ++i)
            ids += (i == 1 ? " " : ", ") + one_line(same[i]->result->id);
        if (same.size() > most_named + 1) ids += fmt::format(" and {} more", same.size() - most_named - 1);
        return fmt::format("for the same reason {} more:{}", same.size() - 1, ids);
    }

    void finding(const Finding& found, const std::string& others = {}) {
        const auto& result = *found.result;
        const auto label = verdict_name(result);
        line(coloured(result.verdict, label) + " " +
             wrapped(one_line(result.id + " " + result.title), label.size() + 1, options_.width));
        if (!found.hosts.empty())
            indented(2, on_hosts(results_, found.hosts) +
                            (found.hosts.size() > 1 ? "; this is " + one_line(result.host) : std::string{}));
        if (is_by_capture_ && result.capture < results_.captures.size())
            line("  in " + one_line(results_.captures[result.capture].file));
        if (result.violations > 0 || result.verdict == Verdict::fail || result.verdict == Verdict::warn)
            indented(2, counts_of(result));
        indented(2, clipped(message_of(result), 4000));
        for (const auto& line : demand_lines(requirements_, result)) indented(2, line);
        for (const auto& line : case_lines(result)) indented(2, line);
        const auto shown = std::min(options_.violations, result.details.size());
        for (std::size_t i = 0; i < shown; ++i) indented(4, violation_line(results_, result.details[i]));
        if (result.violations > shown && shown > 0) line(fmt::format("    and {} more", result.violations - shown));
        for (const auto& note : result.notes) indented(2, "note: " + one_line(note));
        if (!others.empty()) indented(2, others);
        if (!result.evidence.empty()) indented(2, "evidence: " + one_line(result.evidence));
        // To be copied: neither wrapped nor cut.
        if (!result.repeat.empty()) line("  repeat: " + printable(result.repeat, Lines::join));
        line("");
    }

    /// Where the eye is when the command ends: the findings, a line each.
    void once_more() {
        constexpr std::size_t most_lines = 100;
        std::vector<std::string> lines;
        for (const auto verdict : in_full) {
            if (options_.quiet && verdict == Verdict::warn) continue;
            std::map<std::pair<std::string, Hosts>, std::size_t> causes;
            const auto found = findings(results_, verdict);
            if (verdict == Verdict::inconc)
                for (const auto& one : found) ++causes[{cause_of(*one.result), one.hosts}];
            for (const auto& one : found) {
                std::size_t others = 0;
                if (verdict == Verdict::inconc) {
                    const auto cause = causes.find({cause_of(*one.result), one.hosts});
                    if (cause == causes.end()) continue;
                    others = cause->second - 1;
                    causes.erase(cause);
                }
                lines.push_back(in_brief(one, others));
            }
        }
        if (lines.empty()) return;
        line("findings:");
        for (std::size_t i = 0; i < std::min(lines.size(), most_lines); ++i) line(lines[i]);
        if (lines.size() > most_lines) line(fmt::format("  and {} more", lines.size() - most_lines));
        line("");
    }

    [[nodiscard]] std::string in_brief(const Finding& found, std::size_t others) const {
        const auto& result = *found.result;
        const auto label = padded(verdict_name(result), 11), id = one_line(result.id);
        std::string words = others == 0 ? std::string{} : fmt::format(" and {} more", others);
        if (!found.hosts.empty()) words += " on " + named(results_, found.hosts);
        if (is_by_capture_ && results_.captures.size() > 1 && result.capture < results_.captures.size())
            words +=
                " in " + one_line(std::filesystem::path(results_.captures[result.capture].file).filename().string());
        words +=
            ": " + one_line(is_flaky(result) || result.details.empty() ? message_of(result) : first_violation(result));
        const auto taken = 3 + columns(label) + columns(id);
        constexpr std::size_t least = 20;
        return fmt::format("  {} {}{}", coloured(result.verdict, label), id,
                           shortened(words, std::max(least, options_.width - std::min(options_.width, taken))));
    }

    /// At most so many columns; what was cut ends with "...".
    [[nodiscard]] static std::string shortened(std::string_view text, std::size_t most) {
        if (columns(text) <= most) return std::string(text);
        std::string out;
        std::size_t taken = 0;
        for_each_character(text, [&](const Character&, std::string_view octets) {
            if (taken++ + 3 < most) out += octets;
        });
        return out + "...";
    }

    /// Of an active run that took its time: what it took it for.
    void slowest() {
        constexpr double worth_telling = 1;  // s
        constexpr std::size_t most_told = 5;
        std::vector<const Result*> slow;
        for (const auto& result : results_.results)
            if (result.seconds >= worth_telling) slow.push_back(&result);
        if (slow.empty() || options_.quiet) return;
        const auto told = std::min(most_told, slow.size());
        std::ranges::partial_sort(slow, slow.begin() + static_cast<std::ptrdiff_t>(told), std::ranges::greater{},
                                  &Result::seconds);
        std::string words;
        for (std::size_t i = 0; i < told; ++i)
            words += fmt::format("{}{} {:.1f} s", i == 0 ? "" : ", ", one_line(slow[i]->id), slow[i]->seconds);
        const bool is_virtual = std::ranges::find(results_.fabric, std::pair<std::string, std::string>{
                                                                       "clock", "virtual"}) != results_.fabric.end();
        indented(0, fmt::format("slowest{}: {}", is_virtual ? " in virtual time" : "", words));
    }

    /// What is not decided for a doubt: the doubts, not the rules.
    void suspicions() {
        const auto groups = groups_of(results_.suspicions, results_.captures);
        for (std::size_t i = 0; i < std::min(groups.size(), suspicions_shown); ++i) {
            const auto& one = groups[i];
            indented(0, coloured(Verdict::inconc, "SUSPICION") + " " + one.head);
            for (const auto& frame : one.frames) indented(4, frame);
            indented(2, one.innocent);
            // To be copied: neither wrapped nor cut.
            if (!one.command.empty())
                line("  settled by: " + printable(one.command, Lines::join));
            else if (!one.assume.empty())
                indented(2, "settled by: --assume " + one.assume);
            indented(2, (one.assume.empty() ? "settled by: " : "or by: ") + one.settled_by);
            line("");
        }
        if (const auto rest = rest_of(groups); !rest.empty()) {
            line("and " + rest + " (--json has them all)");
            line("");
        }
    }

    /// Of a capture they are among its notes. Many of one name are mostly of one cause, which the first ones show.
    void beyond() {
        constexpr std::size_t most_alike = 5;
        std::map<std::string, std::size_t> count;
        for (const auto& one : results_.beyond) {
            if (one.capture != no_capture && !results_.is_strict) continue;
            if (++count[one.name] > most_alike) continue;
            indented(0, fmt::format("{} {}{}{}: {}", coloured(Verdict::warn, "FINDING"), one_line(one.name),
                                    one.link.empty() ? "" : ", link " + one_line(one.link),
                                    one.host.empty() ? "" : " on " + one_line(one.host), one_line(one.text)));
        }
        for (const auto& [name, number] : count)
            if (number > most_alike)
                indented(0, fmt::format("and {} more of {} (--json and --html have them all)", number - most_alike,
                                        one_line(name)));
    }

    void unreadable() {
        for (const auto& capture : results_.captures) {
            if (capture.error.empty()) continue;
            line(fmt::format("{} {}", coloured(Verdict::error, "ERROR"), one_line(capture.file)));
            indented(2, one_line(capture.error));
            line("");
        }
    }

    const Results& results_;
    const TableOptions& options_;
    Requirements requirements_;
    bool is_by_capture_ = is_by_capture(results_);
    std::string out_;
};

}  // namespace

std::string to_table(const Results& results, const TableOptions& options) { return Table(results, options).text(); }

std::string summary(const Results& results) {
    std::map<Verdict, std::size_t> counts{{Verdict::fail, 0}, {Verdict::pass, 0}};
    for (const auto& result : results.results) ++counts[result.verdict];
    for (const auto& capture : results.captures)
        if (!capture.error.empty()) ++counts[Verdict::error];
    for (const auto& host : results.hosts)
        if (!faults_of(host).empty()) ++counts[Verdict::error];
    std::string text;
    for (const auto& [verdict, count] : counts)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, name(verdict));
    return text;
}

}  // namespace ipoib::reports
