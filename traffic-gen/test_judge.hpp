// SPDX-License-Identifier: GPL-2.0-or-later
// What the judge of captures finds in what a profile sends, for tests.
#pragma once

#include "catch2.hpp"
#include "conformance/judge/judge.hpp"
#include "protocol/requirements/catalogue.hpp"
#include "protocol/rules/rule.hpp"
#include "traffic-gen/profile.hpp"

#include <set>
#include <string>
#include <vector>

namespace ipoib::traffic {

using Ids = std::set<std::string>;

/// What was found in a run.
struct Found {
    Ids broken;                      ///< requirements, with all that follows from them
    Ids checked;                     ///< those alone that the broken rules check themselves
    Ids unproven;                    ///< the same of rules that may be broken: INCONC
    std::vector<std::string> words;  ///< what is wrong, a line for each rule
    static void add(Ids& ids, const requirements::Requirement& requirement) {
        for (const auto id : requirements::closure(requirement)) ids.emplace(id);
    }
};

/// Judges frames as if they had been captured.
class Judging : public Sink {
public:
    bool take(Time time, const Sender&, wire::Octets frame) override {
        wire::decode(frame, packet_);
        if (packet_.stop || packet_.tail != wire::Tail::both) ++undecoded_;
        judge_.frame({.number = ++number_,
                      .time_ns = time.count() + 1,
                      .link_type = capture::LinkType::infiniband,
                      .octets = frame,
                      .wire_length = static_cast<std::uint32_t>(frame.size())});
        return true;
    }
    [[nodiscard]] Found found() {
        judge_.finish();
        Found found;
        for (const auto& result : judge_.results()) {
            if (result.verdict == reports::Verdict::inconc)
                for (const auto& id : result.checks) found.unproven.insert(id);
            if (result.verdict != reports::Verdict::fail && result.verdict != reports::Verdict::warn) continue;
            auto& words = found.words.emplace_back(result.id + ", " + std::to_string(result.violations) + " of " +
                                                   std::to_string(result.observed));
            if (!result.details.empty())
                words += ", frame " + std::to_string(result.details.front().frame) + ": " +
                         result.details.front().expected + " / " + result.details.front().actual;
            for (const auto& id : result.checks) {
                Found::add(found.broken, *requirements::find(id));
                found.checked.insert(id);
            }
        }
        return found;
    }
    [[nodiscard]] std::uint64_t frames() const noexcept { return number_; }
    /// Frames that end before their headers do.
    [[nodiscard]] std::uint64_t undecoded() const noexcept { return undecoded_; }

private:
    conformance::Judge judge_{rules::every(), 0};
    wire::Packet packet_;
    std::uint64_t number_ = 0, undecoded_ = 0;
};

/// A run of a profile.
struct Run {
    build::Link link{};
    std::uint64_t seed = 1;
    std::string_view rate = "1000";
    void (*change)(build::PacketBuilder& packet) = nullptr;
    unsigned hosts = 4, partitions = 2;
};

inline Found judged(const Profile& profile, const Run& run) {
    constexpr std::uint64_t count = 400;
    Scene scene{{.hosts = run.hosts, .groups = 3, .partitions = run.partitions, .link = run.link}};
    Judging sink;
    Stage stage{scene, {.count = count, .seed = run.seed, .rate = Rate{run.rate}}, sink};
    stage.mutate_by(run.change);
    play(profile, stage);
    CHECK(sink.frames() >= count);
    if (!run.change) CHECK(sink.undecoded() == 0);
    return sink.found();
}

}  // namespace ipoib::traffic
