// SPDX-License-Identifier: GPL-2.0-or-later
// Whatever happens to the octets of a frame: judging it and telling of the link go on.
#include "captures/samples.hpp"
#include "catch2.hpp"
#include "conformance/judge/passive.hpp"
#include "conformance/links/choice.hpp"

#include <algorithm>
#include <random>

using namespace ipoib;

namespace {

struct Whole {
    capture::Frame frame;
    std::vector<std::uint8_t> octets;
    conformance::Origin origin{};
};

std::vector<Whole> read(std::string_view file) {
    auto reader = capture::Reader::open(std::string(IPOIB_SOURCE_DIR) + "/captures/" + std::string(file));
    std::vector<Whole> frames;
    capture::Frame frame;
    while (reader.next(frame) == capture::Status::frame)
        frames.push_back({frame,
                          {frame.octets.begin(), frame.octets.end()},
                          inspection::origin_of(reader.interface_name(frame.interface))});
    return frames;
}

/// One octet in `every` gets another value. The CRCs are blanked: a frame with a wrong one is not looked at.
void damage(std::vector<std::uint8_t>& octets, unsigned every, std::mt19937& random) {
    std::uniform_int_distribution<unsigned> hit(0, every - 1), value(0, 255);
    for (auto& octet : octets)
        if (hit(random) == 0) octet = static_cast<std::uint8_t>(value(random));
    constexpr auto crcs = wire::icrc_size + wire::vcrc_size;
    if (octets.size() > crcs)
        std::fill(octets.end() - static_cast<std::ptrdiff_t>(crcs), octets.end(), std::uint8_t{0});
}

}  // namespace

TEST_CASE("Damage: frames with any octets changed are judged and told of without harm") {
    const auto rules = rules::every();
    std::mt19937 random{4391};
    std::uint64_t observed = 0;
    for (const auto& sample : captures::all()) {
        const auto frames = read(sample.file);
        for (const unsigned every : {10u, 30u, 100u, 300u})
            for (int round = 0; round < 25; ++round) {
                links::Observer observer;
                conformance::Judge judge{rules, 0, observer.listener()};
                judge.set_onlooker(observer.onlooker());
                for (const auto& one : frames) {
                    auto octets = one.octets;
                    damage(octets, every, random);
                    auto frame = one.frame;
                    frame.octets = octets;
                    judge.frame(frame, one.origin);
                }
                const auto account = links::account_of(judge, observer);
                std::size_t told = 0;
                const auto count = [&](const std::string& piece) { told += piece.ends_with('\n') ? 1 : 1000; };
                links::to_text(account, {}, {}, count);
                links::to_json(account, {}, {}, count);
                CHECK((told >= 2 && told < 1000));
                judge.finish();
                for (const auto& result : judge.results()) {
                    CHECK(result.violations <= result.observed);
                    observed += result.observed;
                }
            }
    }
    CHECK(observed > 10'000);
}
