// SPDX-License-Identifier: GPL-2.0-or-later
// Every profile is a legal network, however unusual: the judge accuses nobody in it.
#include "catch2.hpp"
#include "protocol/build/samples.hpp"
#include "traffic-gen/mutation.hpp"
#include "traffic-gen/test_judge.hpp"

#include <algorithm>

namespace ipoib::traffic {
namespace {

constexpr std::uint64_t seeds = 4;

/// Those that make a world of their own.
std::vector<const Profile*> worlds() {
    auto all = all_profiles();
    std::erase_if(all, [](const auto* profile) { return profile->name == "replay" || profile->name == "malformed"; });
    return all;
}

class Recording : public Sink {
public:
    bool take(Time time, const Sender&, wire::Octets frame) override {
        all.insert(all.end(), frame.begin(), frame.end());
        end = time;
        return true;
    }
    std::vector<std::uint8_t> all;
    Time end{};
};

std::vector<std::uint8_t> recorded(const Profile& profile, std::uint64_t seed) {
    Scene scene{{.hosts = 5, .groups = 3, .partitions = 2}};
    Recording sink;
    Stage stage{scene, {.count = 300, .seed = seed}, sink};
    play(profile, stage);
    return sink.all;
}

}  // namespace

TEST_CASE("Profiles: legal worlds are not accused") {
    for (const auto* profile : worlds()) {
        CAPTURE(std::string(profile->name));
        for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
            CAPTURE(seed);
            const Run run{.link = build::samples::controlled(),
                          .seed = seed,
                          .hosts = static_cast<unsigned>(1 + seed * seed),
                          .partitions = static_cast<unsigned>(1 + seed % 3)};
            CHECK(judged(*profile, run).words == std::vector<std::string>{});
        }
    }
}

TEST_CASE("Profiles: on a usual link only its ordinary Q_Key is said") {
    const Ids usual{"RFC4391-4.1-02", "RFC4391-13-02"};
    for (const auto* profile : worlds()) {
        CAPTURE(std::string(profile->name));
        const auto found = judged(*profile, {.seed = 2});
        CAPTURE(found.words);
        CHECK(std::includes(usual.begin(), usual.end(), found.broken.begin(), found.broken.end()));
    }
}

TEST_CASE("Profiles: nothing is missing after a while, either") {
    for (const auto* profile : worlds()) {
        CAPTURE(std::string(profile->name));
        for (std::uint64_t seed = 1; seed <= 2; ++seed) {
            CAPTURE(seed);
            CHECK(judged(*profile, {.link = build::samples::controlled(), .seed = seed, .rate = "3.3"}).words ==
                  std::vector<std::string>{});
        }
    }
}

TEST_CASE("Profiles: who asks at the Service-ID that Linux uses is wrong, not who rejects it") {
    const auto& asks = *find_mutation("cm-service-id");
    Ids expected;
    for (const auto* requirement : asks.breaks) Found::add(expected, *requirement);
    const Run run{.link = build::samples::controlled(), .change = asks.change};
    CHECK(judged(*find_profile("mixed-modes"), run).broken == expected);
}

TEST_CASE("Profiles: the same seed gives the same octets") {
    for (const auto* profile : worlds()) {
        CAPTURE(std::string(profile->name));
        CHECK(recorded(*profile, 7) == recorded(*profile, 7));
    }
}

}  // namespace ipoib::traffic
