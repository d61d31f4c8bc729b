// SPDX-License-Identifier: GPL-2.0-or-later
// Absence is judged only where a capture can show it: one that lacks frames shows no failure that the whole does not.
#include "captures/samples.hpp"
#include "catch2.hpp"
#include "conformance/judge/passive.hpp"

#include <algorithm>
#include <set>

using namespace ipoib;
using conformance::Judge;

namespace {

struct Recorded {
    capture::Frame frame;
    std::vector<std::uint8_t> octets;
    conformance::Origin origin{};
};

std::vector<Recorded> frames_of(std::string_view file) {
    auto reader = capture::Reader::open(std::string(IPOIB_SOURCE_DIR) + "/captures/" + std::string(file));
    std::vector<Recorded> frames;
    capture::Frame frame;
    while (reader.next(frame) == capture::Status::frame)
        frames.push_back({frame,
                          {frame.octets.begin(), frame.octets.end()},
                          inspection::origin_of(reader.interface_name(frame.interface))});
    return frames;
}

template <class Takes>
std::set<std::string> failures(const std::vector<Recorded>& frames, Takes&& takes) {
    Judge judge{rules::every(), 0};
    for (std::size_t i = 0; i < frames.size(); ++i) {
        if (!takes(i)) continue;
        auto frame = frames[i].frame;
        frame.octets = frames[i].octets;
        judge.frame(frame, frames[i].origin);
    }
    std::set<std::string> ids;
    judge.finish();
    for (const auto& result : judge.results())
        if (result.verdict == reports::Verdict::fail) ids.insert(result.id);
    return ids;
}

}  // namespace

TEST_CASE("Cuts: a capture that lacks frames at its beginning, its end or between fails nothing more") {
    for (const auto& sample : captures::all()) {
        const auto frames = frames_of(sample.file);
        const auto whole = failures(frames, [](std::size_t) { return true; });
        const auto fails_no_more = [&](const std::set<std::string>& part) {
            return std::ranges::includes(whole, part);
        };
        for (std::size_t at = 0; at < frames.size(); ++at) {
            CAPTURE(sample.file, at);
            CHECK(fails_no_more(failures(frames, [&](std::size_t i) { return i >= at; })));
            CHECK(fails_no_more(failures(frames, [&](std::size_t i) { return i < at; })));
            CHECK(fails_no_more(failures(frames, [&](std::size_t i) { return i != at; })));
        }
    }
}
