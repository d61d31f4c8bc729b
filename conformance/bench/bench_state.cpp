// SPDX-License-Identifier: GPL-2.0-or-later
// Looks for frames, judges their claims, and counts what was found.
#include "conformance/bench/bench_state.hpp"

#include "conformance/bench/case.hpp"
#include "conformance/judge/notation.hpp"
#include "protocol/requirements/rfc4391.hpp"
#include "protocol/wire/rebuilt.hpp"

namespace ipoib::conformance {
using namespace wire;
using reports::NotJudged;

namespace {

constexpr std::size_t most_details = 100, most_told = 5;

}  // namespace

void Bench::State::observed() {
    for (const auto index : judged) ++tallies[index].observed;
    ++result.observed;
}

void Bench::State::violated(reports::Detail detail, const std::string& sentence) {
    for (const auto index : judged) ++tallies[index].violations;
    keep(std::move(detail), "VIOLATION", sentence);
}

void Bench::State::warned(reports::Detail detail, const std::string& sentence) {
    for (const auto index : judged) ++tallies[index].warnings;
    keep(std::move(detail), "WARNING", sentence);
    result.notes.push_back("step \"" + step_title + "\": " + sentence);
}

void Bench::State::keep(reports::Detail detail, std::string_view kind, const std::string& sentence) {
    ++result.violations;
    const auto told = "step \"" + step_title + "\": " + sentence;
    if (first_failure.empty()) first_failure = told;
    recorder.breach(kind, told);
    if (result.details.size() >= most_details) return;
    detail.capture = capture;
    for (const auto index : judged) detail.requirements.emplace_back(tallies[index].requirement->id);
    if (detail.frame) result.frames.push_back(detail.frame);
    result.details.push_back(std::move(detail));
}

void Bench::State::demand_sight(const Expectation& expectation) const {
    if (expectation.seen_by() == SeenBy::anyone && !session.fabric().abilities().has(fabric::Ability::see_all))
        throw NotApplicable{NotJudged::tester,
                            "this fabric does not show what the DUT sends to others (" + expectation.what() + ")"};
}

std::optional<std::size_t> Bench::State::find(const Expectation& expectation, const Situation& asked,
                                              std::size_t since) const {
    const bool sees_all = session.fabric().abilities().has(fabric::Ability::see_all);
    const bool must_arrive =
        expectation.seen_by() == SeenBy::tester || (expectation.seen_by() == SeenBy::either && !sees_all);
    Packet packet;
    for (auto i = since; i < recorder.size(); ++i) {
        if (recorder.party(i) != Party::dut) continue;
        if (must_arrive && !recorder.has_arrived(i)) continue;
        recorder.decode(i, packet);
        if (expectation.is_it(packet, asked)) return i;
    }
    return {};
}

std::optional<std::size_t> Bench::State::await(const Expectation& expectation, const Situation& asked,
                                               std::size_t since, Within time) {
    demand_sight(expectation);
    auto found = find(expectation, asked, since);
    auto& loop = session.loop();
    auto deadline = loop.now() + scaled(time);
    // A frame is seen when it is sent and arrives later: both make the look worth while.
    std::size_t seen = recorder.size(), arrived = recorder.arrivals();
    while (!found) {
        const bool is_news = loop.run_until(
            [&] { return recorder.size() != seen || recorder.arrivals() != arrived || recorder.is_full(); }, deadline);
        if (recorder.is_full()) throw CaseDefect("more than 64 MiB of frames: somebody floods the link");
        found = find(expectation, asked, since);
        if (!is_news && !found) {
            if (!session.control().waits_for_stopped() || fabric::Loop::stop_requested()) break;
            deadline = loop.now() + scaled(time);
        }
        seen = recorder.size(), arrived = recorder.arrivals();
    }
    return found;
}

fabric::Duration Bench::State::scaled(Within time) const {
    const fabric::Duration whole = time.time;
    return time.is_stated ? std::max(whole, session.scaled(whole)) : session.scaled(whole);
}

bool Bench::State::comes_true(const std::function<bool()>& holds, Within time) {
    constexpr auto between_looks = std::chrono::milliseconds{50};
    auto& loop = session.loop();
    auto deadline = loop.now() + scaled(time);
    while (!holds()) {
        if (fabric::Loop::stop_requested()) return false;
        if (loop.now() >= deadline) {
            if (!session.control().waits_for_stopped()) return false;
            deadline = loop.now() + scaled(time);
        }
        loop.run_for(between_looks);
    }
    return true;
}

std::size_t Bench::State::demand(const Expectation& expectation, Within time) {
    const auto found = await(expectation, situation(), mark, time);
    if (!found)
        throw Inconclusive("step \"" + step_title + "\": no " + expectation.what() + " within " +
                           milliseconds(time.time) + "; " + what_came_instead(mark));
    return *found;
}

void Bench::State::judge_claims(const Expectation& expectation, std::size_t frame) {
    Packet packet;
    recorder.decode(frame, packet);
    bool is_absence_charged = false;
    for (const auto& claim : expectation.claims()) {
        if (recorder.is_rebuilt(frame) && !is_told_by_rebuilt(*claim.header, *claim.field, packet.is_multicast)) {
            untold = frame_name(frame) +
                     " was rebuilt from what the queue pair told: " + std::string(claim.header->name) + '.' +
                     std::string(claim.field->name) + " is not what was on the wire";
            continue;
        }
        const auto* at = claim.header_at(packet);
        const auto field = std::string(claim.header->name) + '.' + std::string(claim.field->name);
        if (!at && claim.header == &spec_of<Grh> && !claim.is_presence) {
            if (is_absence_charged) continue;
            throw Inconclusive("step \"" + step_title + "\": " + expectation.what() + " (" + frame_name(frame) +
                               ") has no GRH, so " + field + " is not judged; that it has none is a matter of " +
                               std::string(rfc4391::grh_on_multicast.id));
        }
        observed();
        if (at && claim.holds(at, situation())) continue;
        is_absence_charged |= !at;
        const auto actual = at ? value_text(*claim.field, at) : std::string("absent");
        const bool is_inside = at >= packet.octets.data() && at < packet.octets.data() + packet.octets.size();
        auto said = expectation.what() + " (" + frame_name(frame) + "): ";
        said.append(field).append(" is ").append(actual).append(", expected ").append(claim.expected);
        violated({.frame = frame + 1,
                  .offset = is_inside ? static_cast<std::uint32_t>(packet.offset_of(at) + claim.field->at.bit / 8u) : 0,
                  .field = field,
                  .expected = claim.expected,
                  .actual = actual,
                  .subject = packet.lrh ? "LID " + hex(packet.lrh[Lrh::slid], 4) : std::string{},
                  .link = {}},
                 said);
    }
}

std::string Bench::State::what_came_instead(std::size_t since) const {
    const bool is_sa = running.subject == Subject::sa;
    const std::string who = is_sa ? "the SA" : "the DUT";
    std::string told;
    std::size_t count = 0;
    Packet packet;
    for (auto i = since; i < recorder.size(); ++i) {
        if (recorder.party(i) != (is_sa ? Party::sa : Party::dut)) continue;
        if (++count > most_told) continue;
        recorder.decode(i, packet);
        told += (told.empty() ? "" : "; ") + frame_name(i) + ' ' + in_one_line(packet);
    }
    const bool sees_all = session.fabric().abilities().has(fabric::Ability::see_all);
    if (count == 0) return who + (sees_all ? " sent nothing" : " sent nothing that this fabric shows");
    if (count > most_told) told += "; and " + std::to_string(count - most_told) + " more";
    return who + " sent " + told;
}

}  // namespace ipoib::conformance
