// SPDX-License-Identifier: GPL-2.0-or-later
// Looks for frames, and waits for them.
#include "conformance/bench/observation.hpp"

#include "conformance/bench/case.hpp"
#include "conformance/bench/case_ends.hpp"
#include "conformance/judge/notation.hpp"
#include "protocol/wire/ip_checksums.hpp"

#include <fmt/format.h>

namespace ipoib::conformance {
using namespace wire;

std::string frame_name(std::size_t index) { return "frame " + std::to_string(index + 1); }

void Observation::begin_step() {
    step_begin_ = recorder_.size();
    stimulate();
}

bool Observation::sees_all() const { return session_.fabric().abilities().has(fabric::Ability::see_all); }

void Observation::demand_sight(const Expectation& expectation) const {
    if (expectation.seen_by() == SeenBy::anyone && !sees_all())
        throw CaseEnds::not_applicable("this fabric does not show what the DUT sends to others (" + expectation.what() +
                                       ")");
}

std::optional<std::size_t> Observation::find(const Expectation& expectation, const Situation& asked, std::size_t since,
                                             Damaged damaged) const {
    const bool must_arrive =
        expectation.seen_by() == SeenBy::tester || (expectation.seen_by() == SeenBy::either && !sees_all());
    Packet packet;
    for (auto i = since; i < recorder_.size(); ++i) {
        if (recorder_.party(i) != Party::dut) continue;
        if (must_arrive && !recorder_.has_arrived(i)) continue;
        recorder_.decode(i, packet);
        if (damaged == Damaged::is_dropped && !has_right_checksums(packet)) continue;
        if (expectation.is_it(packet, asked)) return i;
    }
    return {};
}

std::optional<std::size_t> Observation::find_in_step(const Expectation& expectation, Damaged damaged) const {
    return find(expectation, session_.situation(), step_begin_, damaged);
}

std::optional<std::size_t> Observation::await(const Expectation& expectation, const Situation& asked, std::size_t since,
                                              Within time, Damaged damaged) {
    demand_sight(expectation);
    auto found = find(expectation, asked, since, damaged);
    auto& loop = session_.loop();
    auto deadline = loop.now() + scaled(time);
    // A frame is seen when it is sent and arrives later: both make the look worth while.
    std::size_t seen = recorder_.size(), arrived = recorder_.arrivals();
    while (!found) {
        const bool is_news = loop.run_until(
            [&] { return recorder_.size() != seen || recorder_.arrivals() != arrived || recorder_.is_full(); },
            deadline);
        if (recorder_.is_full()) throw CaseEnds::error("more than 64 MiB of frames: somebody floods the link");
        found = find(expectation, asked, since, damaged);
        if (!is_news && !found) {
            if (!session_.control().waits_for_stopped() || fabric::Loop::stop_requested()) break;
            deadline = loop.now() + scaled(time);
        }
        seen = recorder_.size(), arrived = recorder_.arrivals();
    }
    return found;
}

std::optional<std::size_t> Observation::await(const Expectation& expectation, Within time) {
    return await(expectation, session_.situation(), stimulus_.frame, time);
}

std::size_t Observation::demand(const Expectation& expectation, Within time) {
    const auto found = await(expectation, time);
    if (!found)
        throw CaseEnds::inconclusive(findings_.where() + "no " + expectation.what() + limit_text(time) + "; " +
                                     what_came_instead());
    return *found;
}

std::string Observation::limit_text(Within time) const {
    if (time.time == fabric::Duration{}) return {};
    // What the DUT was found to be late by is granted besides. In words it would be another time in each run.
    return fmt::format(" within {:g} s", std::chrono::duration<double>(stretched(time)).count());
}

fabric::Duration Observation::stretched(Within time) const {
    const fabric::Duration whole = time.time;
    return time.is_stated ? std::max(whole, session_.scaled(whole)) : session_.scaled(whole);
}

fabric::Duration Observation::scaled(Within time) const {
    if (time.time == fabric::Duration{}) return {};
    // There and back: what it is told, and what it says.
    return stretched(time) + (time.is_before_control ? fabric::Duration{} : session_.lateness());
}

bool Observation::comes_true(const std::function<bool()>& holds, Within time) {
    constexpr auto between_looks = std::chrono::milliseconds{50};
    auto& loop = session_.loop();
    auto deadline = loop.now() + scaled(time);
    while (!holds()) {
        if (fabric::Loop::stop_requested()) return false;
        if (loop.now() >= deadline) {
            if (!session_.control().waits_for_stopped()) return false;
            deadline = loop.now() + scaled(time);
        }
        loop.run_for(between_looks);
    }
    return true;
}

bool Observation::comes_true_by_frames(const std::function<bool()>& holds, Within time) {
    auto& loop = session_.loop();
    (void)loop.run_until(holds, loop.now() + scaled(time));
    return holds();
}

std::string Observation::what_came_instead() const {
    constexpr std::size_t most_told = 5;
    const bool is_sa = subject_ == Subject::sa;
    const std::string who = is_sa ? "the SA" : "the DUT";
    std::string told;
    std::size_t count = 0;
    Packet packet;
    for (auto i = stimulus_.frame; i < recorder_.size(); ++i) {
        if (recorder_.party(i) != (is_sa ? Party::sa : Party::dut)) continue;
        if (++count > most_told) continue;
        recorder_.decode(i, packet);
        told += (told.empty() ? "" : "; ") + frame_name(i) + ' ' + in_one_line(packet);
        if (!has_right_checksums(packet)) told += " with a wrong checksum";
    }
    if (count == 0) return who + (sees_all() ? " sent nothing" : " sent nothing that this fabric shows");
    if (count > most_told) told += "; and " + std::to_string(count - most_told) + " more";
    return who + " sent " + told;
}

}  // namespace ipoib::conformance
