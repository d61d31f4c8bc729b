// SPDX-License-Identifier: GPL-2.0-or-later
// The sentences about findings. Everything that came from a capture or a file passes `printable`.
#include "reports/failure.hpp"

#include <algorithm>
#include <cstddef>
#include <span>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include "base/clock_text.hpp"
#include "base/one_line.hpp"

namespace ipoib::reports {
namespace {

/// Longest value of a field that a line shows.
constexpr std::size_t longest_value = 400;

std::string upper(std::string_view text) {
    std::string out(text);
    for (auto& c : out)
        if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    return out;
}

/// " at 0.160000 s" since the capture began.
std::string moment_of(const Results& results, const Detail& detail) {
    if (detail.time == 0 || detail.capture >= results.captures.size()) return {};
    const auto began = results.captures[detail.capture].began;
    return began == 0 ? std::string{} : " at " + seconds_between(began, detail.time);
}

/// Whether the tester chose it for the one case: an address or a port, or it is the number of a frame.
bool is_of_the_case_alone(std::string_view before, std::string_view word) {
    if (word.find_first_of("0123456789") == std::string_view::npos) return false;
    if (before == "frame" || before == "frames" || before == "port") return true;
    const auto count = [word](char mark) { return std::ranges::count(word, mark); };
    constexpr std::ptrdiff_t in_ipv4 = 3, in_ipv6 = 2;
    const bool has_only_its_characters = word.find_first_not_of("0123456789abcdef.:/,;") == std::string_view::npos;
    return has_only_its_characters && (count('.') >= in_ipv4 || count(':') >= in_ipv6);
}

}  // namespace

Requirements::Requirements(const Results& results) {
    for (const auto& requirement : results.requirements) by_id_.emplace(requirement.id, &requirement);
}

const RequirementResult* Requirements::find(std::string_view id) const {
    const auto found = by_id_.find(id);
    return found == by_id_.end() ? nullptr : found->second;
}

std::vector<std::string_view> concerned(const Result& result) {
    std::vector<std::string_view> ids;
    for (const auto& id : result.checks) {
        const auto part = std::find_if(result.parts.begin(), result.parts.end(),
                                       [&](const PartVerdict& one) { return one.id == id; });
        if (part == result.parts.end() || part->verdict == result.verdict) ids.push_back(id);
    }
    return ids;
}

std::string verdict_name(const Result& result) {
    if (result.verdict != Verdict::fail || result.fail_type.empty()) return std::string(name(result.verdict));
    return one_line(result.fail_type, longest_value);
}

std::string force_of(const RequirementResult& requirement) {
    const auto& level = requirement.level;
    const bool is_in_capitals = !level.empty() && upper(level) == level;
    const auto with_status = [&](std::string force) {
        return force + (requirement.status == "informative" ? ", informative" : "");
    };
    if (is_in_capitals || requirement.strength.empty()) return with_status(one_line(level, longest_value));
    const auto* word = requirement.strength == "must"     ? "stated"
                       : requirement.strength == "should" ? "advice"
                                                          : "permission";
    if (level.empty() || level.starts_with("stmt")) return with_status(word);
    return with_status(fmt::format("{} (\"{}\" in the text)", word, one_line(level, longest_value)));
}

std::string facts_text(const std::vector<std::pair<std::string, std::string>>& facts) {
    std::string text;
    for (const auto& [key, value] : facts)
        if (!value.empty())
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", one_line(key, longest_value),
                                one_line(value, longest_value));
    return text;
}

std::string place_of(const RequirementResult& requirement) {
    const auto document = one_line(requirement.id.substr(0, requirement.id.find('-')), longest_value);
    return requirement.section.empty()
               ? document
               : fmt::format("{} section {}", document, one_line(requirement.section, longest_value));
}

std::string requirement_line(const RequirementResult& requirement) {
    return fmt::format("{} ({}, {}): {}", one_line(requirement.id, longest_value), place_of(requirement),
                       force_of(requirement), one_line(requirement.statement, longest_value));
}

std::vector<std::string> demand_lines(const Requirements& requirements, const Result& result) {
    // No rule or case checks as many; a results file from elsewhere may say that one does.
    constexpr std::size_t most_told = 20;
    const auto ids = concerned(result);
    std::vector<std::string> lines;
    for (const auto id : std::span(ids).first(std::min(ids.size(), most_told))) {
        const auto* requirement = requirements.find(id);
        lines.push_back(requirement == nullptr ? one_line(id, longest_value) : requirement_line(*requirement));
    }
    if (ids.size() > most_told) lines.push_back(fmt::format("and {} more requirements", ids.size() - most_told));
    return lines;
}

std::string assumed_text(const Detail& detail) {
    if (detail.assumed.empty()) return {};
    return fmt::format(", assumed: {}", one_line(fmt::format("{}", fmt::join(detail.assumed, ", ")), longest_value));
}

std::string violation_line(const Results& results, const Detail& detail) {
    std::string line;
    if (!detail.in_case.empty())
        line += one_line(detail.in_case, longest_value) + " ";
    else if (results.captures.size() > 1 && detail.capture < results.captures.size())
        line += one_line(results.captures[detail.capture].file, longest_value) + " ";
    if (detail.frame > 0)
        line += fmt::format("frame {} octet {}{}: ", detail.frame, detail.offset, moment_of(results, detail));
    if (!detail.field.empty()) line += one_line(detail.field, longest_value) + ": ";
    line += fmt::format("expected {}, actual {}", one_line(detail.expected, longest_value),
                        one_line(detail.actual, longest_value));
    if (!detail.subject.empty() && !detail.link.empty())
        line +=
            fmt::format(" ({} on {})", one_line(detail.subject, longest_value), one_line(detail.link, longest_value));
    else if (!detail.subject.empty() || !detail.link.empty())
        line += fmt::format(" ({})", one_line(detail.subject.empty() ? detail.link : detail.subject, longest_value));
    return line + assumed_text(detail);
}

std::string first_violation(const Result& result) {
    if (result.details.empty()) return {};
    const auto& first = result.details.front();
    std::string place;
    if (!first.in_case.empty()) place = first.in_case;
    if (first.frame > 0) place += fmt::format("{}frame {}", place.empty() ? "" : ", ", first.frame);
    if (place.empty()) place = first.subject;
    // What did not come is nowhere.
    return fmt::format("{}{}{}, expected {}{}", place.empty() ? "" : "first in " + place + ": ",
                       first.field.empty() ? "" : first.field + " is ", first.actual, first.expected,
                       assumed_text(first));
}

std::string packets_message(const Result& result) {
    return fmt::format("{} of {} packet{}; {}", result.violations, result.observed, result.observed == 1 ? "" : "s",
                       first_violation(result));
}

std::string counts_of(const Result& result) {
    return fmt::format("{} violation{} in {} observed", result.violations, result.violations == 1 ? "" : "s",
                       result.observed);
}

std::vector<std::string> case_lines(const Result& result, std::size_t most) {
    std::vector<std::string> lines;
    for (const auto& found : result.cases) {
        if (lines.size() == most) {
            const auto others = result.cases.size() - most;
            lines.push_back(fmt::format("and in {} more case{}", others, others == 1 ? "" : "s"));
            break;
        }
        std::string frames;
        for (const auto frame : found.frames)
            if (frame > 0) frames += fmt::format("{}{}", frames.empty() ? "" : ", ", frame);
        const auto named = found.frames.size();
        auto line = "in " + one_line(found.id, longest_value);
        if (!frames.empty()) line += fmt::format(": frame{} {}", named == 1 ? "" : "s", frames);
        if (found.violations > named) line += fmt::format(" and {} more", found.violations - named);
        lines.push_back(std::move(line));
    }
    return lines;
}

std::string message_of(const Result& result) {
    auto message = printable(result.message);
    if (message.find_first_not_of(" \t\n") != std::string::npos) return message;
    return result.violations == 0 ? verdict_name(result) : counts_of(result);
}

std::string cause_of(const Result& result) {
    std::string_view rest = result.message;
    constexpr std::string_view family = "IPv6: ", step = "step \"", end = "\": ", instead = "; the DUT sent ";
    if (rest.starts_with(family)) rest.remove_prefix(family.size());
    if (const auto behind = rest.find(end); rest.starts_with(step) && behind != std::string_view::npos)
        rest.remove_prefix(behind + end.size());
    rest = rest.substr(0, rest.find(instead));
    std::string cause;
    for (std::string_view before; !rest.empty();) {
        const auto word = rest.substr(0, rest.find(' '));
        rest.remove_prefix(std::min(rest.size(), word.size() + 1));
        if (!cause.empty()) cause += ' ';
        cause += is_of_the_case_alone(before, word) ? "*" : word;
        before = word;
    }
    return cause;
}

std::string why_not_judged(const Result& result) {
    const auto reason = result.na == NotJudged::none ? std::string_view("no reason given") : name(result.na);
    const auto message = printable(result.message);
    return message.empty() ? std::string(reason) : fmt::format("{}: {}", reason, message);
}

std::string explanation(const Results& results, const Requirements& requirements, const Result& result,
                        std::size_t most) {
    auto text = message_of(result);
    for (const auto& line : demand_lines(requirements, result)) text += "\n" + line;
    for (const auto& line : case_lines(result)) text += "\n" + line;
    const auto shown = std::min(most, result.details.size());
    for (std::size_t i = 0; i < shown; ++i) text += "\n" + violation_line(results, result.details[i]);
    if (result.violations > shown && shown > 0) text += fmt::format("\nand {} more", result.violations - shown);
    return text;
}

}  // namespace ipoib::reports
