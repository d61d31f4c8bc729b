// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/exhibits/exhibits.hpp"

#include "conformance/exhibits/ladder.hpp"
#include "conformance/exhibits/packet_text.hpp"
#include "reports/matrix.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

namespace ipoib::conformance {
using reports::Result;
using reports::Verdict;

namespace {

/// Frames that are read beyond a wrong one, for what came of it.
constexpr std::uint64_t lookahead = 16;

/// What is to be shown of a capture.
struct Wanted {
    std::size_t result;
    std::uint64_t frame;  ///< 0: its end
};

/// The worst first; what many hosts have in common once.
std::vector<const Result*> findings_of(const reports::Results& results) {
    std::vector<const Result*> all;
    for (const auto verdict : {Verdict::fail, Verdict::error, Verdict::inconc, Verdict::warn, Verdict::xfail})
        for (const auto& finding : reports::findings(results, verdict)) all.push_back(finding.result);
    return all;
}

/// A pipe, or what a kernel makes up, would wait for ever.
bool can_be_read_again(const std::string& file) {
    std::error_code unknown;
    return std::filesystem::is_regular_file(file, unknown) && std::filesystem::file_size(file, unknown) > 0;
}

/// Which captures are to be read again, and for what.
std::map<std::size_t, std::vector<Wanted>> wanted_of(const reports::Results& results) {
    std::map<std::size_t, std::vector<Wanted>> wanted;
    std::size_t count = 0;
    for (const auto* found : findings_of(results)) {
        if (count == reports::Exhibit::most) break;
        const auto& result = *found;
        const auto detail =
            std::ranges::find_if(result.details, [](const reports::Detail& one) { return one.frame > 0; });
        const bool has_frame = detail != result.details.end();
        if (!has_frame && result.evidence.empty()) continue;
        const std::size_t capture = has_frame ? detail->capture : result.capture;
        if (capture >= results.captures.size() || !can_be_read_again(results.captures[capture].file)) continue;
        const auto index = static_cast<std::size_t>(found - results.results.data());
        wanted[capture].push_back({index, has_frame ? detail->frame : 0});
        ++count;
    }
    for (auto& [capture, of_capture] : wanted)
        // The end comes last.
        std::ranges::stable_sort(of_capture, {}, [](const Wanted& one) { return one.frame - 1; });
    return wanted;
}

reports::Exhibit exhibit_of(const Film& film, const Wanted& wanted, std::size_t capture, const Result& result) {
    reports::Exhibit exhibit{
        .result = wanted.result, .capture = static_cast<std::uint32_t>(capture), .frame = wanted.frame};
    draw_ladder(film, wanted.frame, exhibit);
    if (wanted.frame == 0) return exhibit;
    std::vector<const reports::Detail*> wrong;
    for (const auto& detail : result.details)
        if (detail.capture == capture && detail.frame == wanted.frame) wrong.push_back(&detail);
    const auto shot = std::ranges::find(film.shots(), wanted.frame, &Shot::number);
    if (shot != film.shots().end()) take_apart(*shot, wrong, exhibit);
    return exhibit;
}

}  // namespace

std::vector<reports::Exhibit> exhibits_of(const reports::Results& results) {
    std::vector<reports::Exhibit> exhibits;
    for (const auto& [capture, wanted] : wanted_of(results)) {
        Film film{results.captures[capture].file};
        bool has_more = true;
        for (const auto& one : wanted) {
            while (has_more &&
                   (one.frame == 0 || film.shots().empty() || film.shots().back().number < one.frame + lookahead))
                has_more = film.next();
            auto exhibit = exhibit_of(film, one, capture, results.results[one.result]);
            if (!exhibit.ladder.empty()) exhibits.push_back(std::move(exhibit));
        }
    }
    return exhibits;
}

}  // namespace ipoib::conformance
