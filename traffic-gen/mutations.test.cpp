// SPDX-License-Identifier: GPL-2.0-or-later
// The judge finds in each mutation what it declares, and in nothing else anything.
#include "catch2.hpp"
#include "conformance/engine/judge.hpp"
#include "protocol/build/samples.hpp"
#include "protocol/rules/rule.hpp"
#include "traffic-gen/mutation.hpp"
#include "traffic-gen/profile.hpp"

#include <set>

namespace ipoib::traffic {
namespace {

using Ids = std::set<std::string>;

/// What was found in a run.
struct Found {
    Ids broken;   ///< requirements, with all that follows from them
    Ids checked;  ///< those alone that the broken rules check themselves
};

/// Judges frames as if they had been captured.
class Judging : public Sink {
public:
    bool take(Time time, const Sender&, wire::Octets frame) override {
        judge_.frame({.number = ++number_,
                      .time_ns = time.count() + 1,
                      .link_type = capture::LinkType::infiniband,
                      .octets = frame,
                      .wire_length = static_cast<std::uint32_t>(frame.size())});
        return true;
    }
    [[nodiscard]] Found found() const {
        Found found;
        for (const auto& result : judge_.results()) {
            if (result.verdict != reports::Verdict::fail && result.verdict != reports::Verdict::warn) continue;
            for (const auto& id : result.checks) {
                add(found.broken, *requirements::find(id));
                found.checked.insert(id);
            }
        }
        return found;
    }
    static void add(Ids& ids, const requirements::Requirement& requirement) {
        for (const auto id : requirements::closure(requirement)) ids.emplace(id);
    }
    [[nodiscard]] std::uint64_t frames() const noexcept { return number_; }

private:
    conformance::Judge judge_{rules::every(), 0};
    std::uint64_t number_ = 0;
};

Found judged(const Profile& profile, const build::Link& link, void (*change)(build::PacketBuilder&) = nullptr,
             std::string_view rate = "1000") {
    Scene scene{{.hosts = 4, .groups = 3, .partitions = 2, .link = link}};
    Judging sink;
    Stage stage{scene, {.count = 400, .rate = Rate{rate}}, sink};
    stage.mutate_by(change);
    play(profile, stage);
    CHECK(sink.frames() >= 400);
    return sink.found();
}

/// With its mutation, on a link where no right value is a usual default.
Found judged(const Mutation& mutation) {
    const auto* profile = find_profile(mutation.profile);
    REQUIRE(profile);
    return judged(*profile, build::samples::controlled(), mutation.change);
}

}  // namespace

TEST_CASE("Profiles: nothing is wrong with what they send") {
    for (const auto* profile : all_profiles()) {
        CAPTURE(std::string(profile->name));
        if (profile->name == "replay" || profile->name == "malformed") continue;
        CHECK(judged(*profile, build::samples::controlled()).broken == Ids{});
        const Ids usual{"RFC4391-4.1-02", "RFC4391-13-02"};  // an ordinary Q_Key
        for (const auto& id : judged(*profile, {}).broken) CHECK(usual.contains(id));
    }
}

TEST_CASE("Profiles: nothing is missing after a while, either") {
    for (const auto* profile : all_profiles()) {
        // Its sender subscribes to no traps.
        if (profile->name == "udp-multicast" || profile->name == "replay" || profile->name == "malformed") continue;
        CAPTURE(std::string(profile->name));
        CHECK(judged(*profile, build::samples::controlled(), nullptr, "3.3").broken == Ids{});
    }
}

TEST_CASE("Mutations: each breaks what it declares, and nothing else") {
    CHECK(all_mutations().size() >= 100);
    for (const auto* mutation : all_mutations()) {
        CAPTURE(std::string(mutation->name));
        Ids declared;
        for (const auto* requirement : mutation->breaks) Judging::add(declared, *requirement);
        CHECK(judged(*mutation).broken == declared);
    }
}

}  // namespace ipoib::traffic
