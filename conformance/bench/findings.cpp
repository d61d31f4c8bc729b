// SPDX-License-Identifier: GPL-2.0-or-later
// Counts what is found, and makes the verdict of it.
#include "conformance/bench/findings.hpp"

#include "conformance/bench/case.hpp"
#include "conformance/bench/case_ends.hpp"
#include "conformance/bench/observation.hpp"
#include "conformance/judge/force.hpp"
#include "protocol/requirements/rfc4391.hpp"
#include "protocol/wire/rebuilt.hpp"

#include <algorithm>

namespace ipoib::conformance {
using namespace wire;
using reports::NotJudged;
using reports::Verdict;

namespace {

constexpr std::size_t most_details = 100;

}  // namespace

Findings::Findings(const Case& running, std::uint32_t capture, Recorder& recorder)
    : capture_(capture), recorder_(recorder) {
    result_.id = running.id;
    result_.title = running.title;
    for (const auto* requirement : running.checks) {
        result_.checks.emplace_back(requirement->id);
        tallies_.push_back({requirement});
    }
}

void Findings::step(std::string_view title, const std::vector<const requirements::Requirement*>& judged) {
    step_title_ = matter_ + std::string(title);
    judged_.clear();
    for (std::size_t i = 0; i < tallies_.size(); ++i)
        if (judged.empty() || std::ranges::find(judged, tallies_[i].requirement) != judged.end()) judged_.push_back(i);
    if (judged_.size() < judged.size())
        throw CaseEnds::error("step \"" + step_title_ + "\" judges a requirement that the case does not list");
    std::vector<std::string_view> ids;
    for (const auto index : judged_) ids.push_back(tallies_[index].requirement->id);
    recorder_.step(step_title_, std::move(ids));
}

void Findings::observed() {
    for (const auto index : judged_) ++tallies_[index].observed;
    ++result_.observed;
}

void Findings::violated(reports::Detail detail, const std::string& sentence, std::size_t before) {
    for (const auto index : judged_) ++tallies_[index].violations;
    keep(std::move(detail), "VIOLATION", sentence, before);
    if (const auto told = std::exchange(on_first_violation_, nullptr)) told(where() + sentence);
}

void Findings::warned(reports::Detail detail, const std::string& sentence) {
    for (const auto index : judged_) ++tallies_[index].warnings;
    keep(std::move(detail), "WARNING", sentence, recorder_.size());
    note(where() + sentence);
}

void Findings::keep(reports::Detail detail, std::string_view kind, const std::string& sentence, std::size_t before) {
    ++result_.violations;
    const auto text = where() + sentence;
    if (first_failure_.empty()) first_failure_ = text;
    recorder_.breach(kind, text, before);
    if (result_.details.size() >= most_details) return;
    detail.capture = capture_;
    for (const auto index : judged_) detail.requirements.emplace_back(tallies_[index].requirement->id);
    if (detail.frame) result_.frames.push_back(detail.frame);
    result_.details.push_back(std::move(detail));
}

void Findings::judge_claims(const Expectation& expectation, std::size_t frame, const Situation& situation) {
    Packet packet;
    recorder_.decode(frame, packet);
    bool is_absence_charged = false;
    for (const auto& claim : expectation.claims()) {
        const auto field = std::string(claim.header->name) + '.' + std::string(claim.field->name);
        if (recorder_.is_rebuilt(frame) && !is_told_by_rebuilt(*claim.header, *claim.field, packet.is_multicast)) {
            untold_ = frame_name(frame) + " was rebuilt from what the queue pair told: " + field +
                      " is not what was on the wire";
            continue;
        }
        const bool is_there = claim.header_at(packet) != nullptr;
        if (!is_there && claim.header == &spec_of<Grh> && !claim.is_presence) {
            if (is_absence_charged) continue;
            throw CaseEnds::inconclusive(where() + expectation.what() + " (" + frame_name(frame) + ") has no GRH, so " +
                                         field + " is not judged; that it has none is a matter of " +
                                         std::string(rfc4391::grh_on_multicast.id));
        }
        is_absence_charged |= !is_there;
        judge_claim(claim, expectation, frame, packet, situation);
    }
}

void Findings::judge_claim(const Expectation::Claim& claim, const Expectation& expectation, std::size_t frame,
                           const Packet& packet, const Situation& situation) {
    observed();
    const auto* at = claim.header_at(packet);
    if (at && claim.holds(at, situation)) return;
    const auto field = std::string(claim.header->name) + '.' + std::string(claim.field->name);
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

Verdict Findings::verdict_of(const Tally& tally) {
    using requirements::Strength;
    if (tally.violations > 0) {
        if (tally.requirement->strength == Strength::must) return Verdict::fail;
        return tally.requirement->strength == Strength::should ? Verdict::warn : Verdict::pass;
    }
    if (tally.warnings > 0) return Verdict::warn;
    return tally.observed > 0 ? Verdict::pass : Verdict::na;
}

void Findings::conclude() {
    result_.verdict = Verdict::na;
    std::vector<const requirements::Requirement*> violated;
    for (const auto& tally : tallies_) {
        const auto verdict = verdict_of(tally);
        result_.parts.push_back({std::string(tally.requirement->id), verdict,
                                 verdict == Verdict::na ? NotJudged::not_seen : NotJudged::none, tally.observed,
                                 std::string(verdict == Verdict::fail ? fail_type(*tally.requirement) : "")});
        if (verdict == Verdict::fail) violated.push_back(tally.requirement);
        result_.verdict = std::min(result_.verdict, verdict);
    }
    if (result_.observed == 0 && !untold_.empty()) {
        result_.na = NotJudged::tester;
        result_.message = untold_;
        result_.parts.clear();
        return;
    }
    if (!untold_.empty()) note("not judged: " + untold_);
    if (result_.observed == 0) {
        result_.verdict = Verdict::error;
        result_.message = "the case checked nothing";
        result_.parts.clear();
        return;
    }
    if (result_.verdict == Verdict::fail) result_.fail_type = strongest_fail_type(violated);
    result_.message = first_failure_;
}

void Findings::conclude(Verdict verdict, const std::string& why, NotJudged reason) {
    if (verdict == Verdict::na) result_.na = reason;
    // A violation that was proven before is not hidden by what came after it.
    if (std::ranges::any_of(tallies_, [](const Tally& tally) { return tally.violations > 0; })) {
        conclude();
        note(std::string(reports::name(verdict)) + " afterwards: " + why);
        return;
    }
    // What was judged before the rest could not be done keeps its verdict.
    if (verdict == Verdict::na && result_.observed > 0) conclude();
    result_.verdict = verdict;
    result_.message = why;
}

}  // namespace ipoib::conformance
