// SPDX-License-Identifier: GPL-2.0-or-later
// Keeps the steps that the reference takes, and of each failure the frames that show it.
#include "conformance/documents/case_stories.hpp"

#include "conformance/judge/notation.hpp"

#include <algorithm>

namespace ipoib::conformance {
namespace {

/// A page shows at most so many frames; around a wrong one so many before it at least, and so many after it at most.
constexpr std::size_t most_frames = 12, least_before = 4, most_after = 1;

/// Frames by index, the end not included; and how many of the step stand before them.
struct Window {
    std::size_t begin, end, left_out;
};

/// From the failed step's first frame to where the failure was found; the last of them where these are many.
Window window_of(const Recorder& recorder, std::size_t wrong_frame) {
    const auto& steps = recorder.steps();
    auto step = steps.empty() ? 0 : steps.size() - 1;
    auto end = recorder.size();
    if (!recorder.breaches().empty()) {
        const auto& breach = recorder.breaches().front();
        step = breach.step, end = breach.before;
    }
    // A step that only looks at what came before has no frames of its own.
    while (step > 0 && steps[step].before >= end) --step;
    auto begin = steps.empty() ? 0 : steps[step].before;
    if (wrong_frame > 0) {
        begin = std::min(begin, wrong_frame - 1 - std::min(wrong_frame - 1, least_before));
        end = std::min(end, wrong_frame + most_after);
    }
    const auto left_out = end > begin + most_frames ? end - most_frames - begin : 0;
    return {begin + left_out, end, left_out};
}

std::string header_with(const wire::Packet& packet, std::string_view field) {
    std::string text;
    packet.for_each_header([&](const wire::HeaderSpec& header, const std::uint8_t* at) {
        if (field.substr(0, field.find('.')) == header.name) text = header_text(packet, header, at);
    });
    return text;
}

Failure failure_of(const Mutant& mutant, const Recorder& recorder, const reports::Result& result) {
    Failure failure{.mutant = &mutant, .verdict = result.verdict, .message = result.message, .frames = {}};
    wire::Packet packet;
    if (!result.details.empty()) {
        const auto& detail = result.details.front();
        if (!detail.field.empty())
            failure.what_is_wrong = detail.field + " is " + detail.actual + ", expected " + detail.expected;
        failure.wrong_frame = detail.frame;
        if (detail.frame > 0) {
            recorder.decode(detail.frame - 1, packet);
            failure.wrong_header = header_with(packet, detail.field);
        }
    }
    const auto window = window_of(recorder, failure.wrong_frame);
    failure.left_out = window.left_out;
    for (auto i = window.begin; i < window.end; ++i) {
        recorder.decode(i, packet);
        failure.frames.push_back({i + 1, std::string(title_of(recorder.party(i))), in_one_line(packet)});
    }
    return failure;
}

}  // namespace

void CaseStories::take(const Mutant* mutant, const Case& one, const Recorder& recorder, const reports::Result& result) {
    auto& story = stories_[&one];
    if (!mutant) {
        // Scenarios that a case is not for end early.
        if (recorder.steps().size() > story.steps.size()) story.steps = recorder.steps();
        return;
    }
    if (result.verdict == reports::Verdict::fail || result.verdict == reports::Verdict::warn)
        story.failures.push_back(failure_of(*mutant, recorder, result));
}

const CaseStory& CaseStories::of(const Case& one) const {
    static const CaseStory none;
    const auto found = stories_.find(&one);
    return found == stories_.end() ? none : found->second;
}

}  // namespace ipoib::conformance
