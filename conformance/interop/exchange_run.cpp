// SPDX-License-Identifier: GPL-2.0-or-later
// From what was owed, kept and violated to the verdict on each of the two.
#include "conformance/interop/exchange_run.hpp"

#include "conformance/bench/inputs/journal.hpp"
#include "conformance/judge/force.hpp"
#include "fabric/capture/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace ipoib::conformance::interop {
using reports::Verdict;

namespace {

constexpr std::size_t most_details = 100;

/// FNV-1a, as for cases: an exchange alone is what it is among all.
std::uint64_t hash_of(std::string_view text) noexcept {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3;
    return hash;
}

CaseEnds without(Side broken, const std::string& why) {
    return CaseEnds::inconclusive(fmt::format("{} is not there to the end: {}", name(broken), why));
}

}  // namespace

ExchangeRun::ExchangeRun(const InteropRun& run, Place& place, const Exchange& one, unsigned repetition,
                         Each<RuleTally>& tallies, Each<reports::Results>& results)
    : run_(run),
      place_(place),
      one_(one),
      repetition_(repetition),
      seed_((run.options.seed + repetition) ^ hash_of(one.id)),
      tallies_(tallies),
      results_(results) {}

reports::Result ExchangeRun::result_of(const Exchange& one) {
    reports::Result result{.id = std::string(one.id), .title = std::string(one.title)};
    for (const auto* requirement : one.checks) result.checks.emplace_back(requirement->id);
    return result;
}

void ExchangeRun::broke(Side side, const std::string& why) {
    is_broken_ = true;
    why_broken_ = fmt::format("{}: {}", name(side), why);
    ends_[side] = CaseEnds::error(why);
    ends_[other(side)] = without(side, why);
    place_.drop(side);
}

void ExchangeRun::execute() {
    auto options = run_.options;
    options.seed = seed_;
    if (pauses_at_failures()) options.charged = [this](const std::string& what) { pause(what); };
    try {
        place_.prepare(options.seed);
        has_begun_ = true;
        for (const auto side : both_sides)
            if (results_[side].dut.empty()) results_[side].dut = place_.dut(side).facts();
    } catch (const SideBroken& why) {
        broke(why.side, why.what());
    } catch (const std::runtime_error& why) {
        is_broken_ = true;
        why_broken_ = why.what();
        for (const auto side : both_sides) ends_[side] = CaseEnds::error(why_broken_);
    }
    if (!has_begun_) {
        for (const auto side : both_sides) results_[side].results.push_back(result(side));
        return;
    }
    if (auto* const journal = place_.journal()) journal->case_begins();
    auto& loop = place_.fabric().loop();
    const auto begin = loop.now();
    place_.fabric().observe([this](const fabric::Sighting& sighting) { recorder_.add(sighting); });
    Meeting meeting{place_, recorder_, ledger_, options};
    meet(meeting);
    if (pauses_at_failures()) pause_at_violations(meeting);
    look_for_faults();
    place_.fabric().observe({});
    seconds_ = std::chrono::duration<double>(loop.now() - begin).count();
    if (recorder_.is_full())
        for (const auto side : both_sides) ends_[side] = CaseEnds::error("more than 64 MiB of frames: somebody floods");
    judge(meeting);
    keep(meeting);
}

void ExchangeRun::meet(Meeting& meeting) {
    const auto both_end = [this](const CaseEnds& ends) {
        for (const auto side : both_sides) ends_[side] = ends;
    };
    try {
        for (const auto side : both_sides)
            for (const auto request : one_.dut_can)
                if (!meeting.can(side, request))
                    throw CaseEnds::not_applicable(fmt::format("the adapter of {} cannot \"{}\"", name(side), request));
        if (!one_.begins_down) {
            meeting.bring_up();
            // That they are up is what another exchange judges.
            ledger_ = {};
        }
        meeting.begins_now();
        if (run_.pause && run_.pause->exchange_id == one_.id) pause("its steps begin now");
        one_.steps(meeting);
        if (fabric::Loop::stop_requested()) both_end(CaseEnds::error("interrupted"));
    } catch (const CaseEnds& ends) {
        const bool never_came_up = !ends.verdict && !one_.begins_down && meeting.began() == 0;
        if (never_came_up) {
            meeting.begins_now();
            both_end(CaseEnds::inconclusive("not both come up (INTEROP-BRING-UP)"));
            ledger_ = {};
        } else {
            both_end(ends);
        }
    } catch (const SideBroken& why) {
        broke(why.side, why.what());
    } catch (const SideUnknown& why) {
        ends_[why.side] = CaseEnds::error(why.what());
        ends_[other(why.side)] = CaseEnds::inconclusive(fmt::format("of {}, {}", name(why.side), why.what()));
    } catch (const SideRefused& why) {
        both_end(CaseEnds::inconclusive(fmt::format("{} could not do what was asked: {}", name(why.side), why.what())));
    } catch (const Unsupported& why) {
        both_end(CaseEnds::not_applicable(why.what()));
    }
}

/// Asked after every exchange: whatever was seen, a crash is a FAIL. What was asked of them is taken back.
void ExchangeRun::look_for_faults() {
    for (const auto side : both_sides) {
        if (is_broken_ && ends_[side] && ends_[side]->verdict == Verdict::error) continue;
        try {
            auto& dut = place_.dut(side);
            if (dut.can("health")) faults_[side] = dut.health();
            if (pauses_at_failures() && !faults_[side].empty())
                pause(fmt::format("{} reports: {}", name(side), faults_[side].front()));
            if (faults_[side].empty() && !place_.is_virtual()) dut.undo();
        } catch (const std::exception& why) {
            broke(side, std::string("asked for its health: ") + why.what());
        }
        // Who crashed may be in any state: the next exchange begins it anew.
        if (!faults_[side].empty()) place_.drop(side);
    }
    if (!place_.is_virtual() && place_.fabric().problem().empty())
        static_cast<void>(place_.fabric().change(fabric::Restore{}));
}

void ExchangeRun::pause(const std::string& why) {
    if (std::exchange(has_paused_, true)) return;
    run_.pause->wait(scene() + ": " + why, place_);
}

void ExchangeRun::pause_at_violations(const Meeting& meeting) {
    for (const auto side : both_sides) {
        if (meeting.peer(side).guid == 0) continue;
        std::string first;
        const auto told = [&](const rules::Rule& rule, const reports::Detail& detail) {
            const bool binds = rule.weight.value_or(rule.checks[0]->strength) == requirements::Strength::must;
            if (binds && first.empty() && detail.frame > meeting.began())
                first = fmt::format("{}: frame {} violates {} ({})", name(side), detail.frame, rule.id, rule.title);
        };
        RuleTally alone{run_.rules, Party::dut};
        alone.judge(
            recorder_,
            {.id = scene(), .evidence = {}, .repetition = {}, .subject = subject(meeting, side), .violated = told});
        if (!first.empty()) pause(first);
    }
}

void ExchangeRun::judge(const Meeting& meeting) {
    for (const auto side : both_sides) {
        const auto& peer = meeting.peer(side);
        if (peer.guid == 0) continue;
        auto& found = violations_[side];
        const auto capture = run_.evidence.empty() ? 0 : static_cast<std::uint32_t>(results_[side].captures.size());
        const auto told = [&](const rules::Rule& rule, const reports::Detail& detail) {
            const bool binds = rule.weight.value_or(rule.checks[0]->strength) == requirements::Strength::must;
            const auto is_during = detail.frame > meeting.began();
            if (binds && (found.first.empty() || (is_during && found.during.empty())))
                found.first = fmt::format("frame {} violates {} ({})", detail.frame, rule.id, rule.title);
            if (!is_during) return;
            auto& list = binds ? found.during : found.advice;
            if (list.size() >= most_details) return;
            list.push_back(detail);
            for (const auto* requirement : rule.checks)
                if (requirement) list.back().requirements.emplace_back(requirement->id);
            found.is_must = found.is_must || (binds && strongest_fail_type(rule.checks) == "FAIL.MUST");
        };
        tallies_[side].judge(recorder_, {.id = scene(),
                                         .capture = capture,
                                         .evidence = run_.evidence.empty() ? "" : path(),
                                         .repetition = repeat(),
                                         .subject = subject(meeting, side),
                                         .violated = told});
    }
}

/// Of what the exchange itself checks: kept, charged, or not come to.
void ExchangeRun::count_parts(reports::Result& result, Side side) const {
    const auto& account = ledger_[side];
    auto all = one_.checks;
    for (const auto& charge : account.charges)
        if (std::ranges::find(all, charge.requirement) == all.end()) {
            all.push_back(charge.requirement);
            result.checks.emplace_back(charge.requirement->id);
        }
    for (const auto* requirement : all) {
        reports::PartVerdict part{.id = std::string(requirement->id)};
        const auto kept = account.kept.find(requirement);
        part.observed = kept == account.kept.end() ? 0 : kept->second;
        const auto charged = std::ranges::count(account.charges, requirement, &Charge::requirement);
        part.observed += static_cast<std::uint64_t>(charged);
        if (charged > 0) {
            part.verdict = result.verdict;
            part.fail_type = result.verdict == Verdict::fail ? std::string(fail_type(*requirement)) : std::string{};
        } else if (part.observed > 0) {
            part.verdict = Verdict::pass;
        }
        result.parts.push_back(std::move(part));
    }
}

void ExchangeRun::blame(reports::Result& result, Side side) const {
    const auto& account = ledger_[side];
    const auto& own = violations_[side];
    const auto& others = violations_[other(side)];
    const bool is_excused = !account.charges.empty() && !others.first.empty();
    const bool is_charged = !account.charges.empty() && !is_excused;
    if (is_charged || !own.during.empty()) {
        result.verdict = Verdict::fail;
        const bool has_keyword = std::ranges::any_of(
            account.charges, [&](const Charge& one) { return is_charged && one.requirement->has_keyword(); });
        result.fail_type = own.is_must || has_keyword ? "FAIL.MUST" : "FAIL.STATED";
        result.message = !own.during.empty() ? own.first : account.charges.front().sentence;
    } else if (is_excused) {
        result.verdict = Verdict::inconc;
        result.message = fmt::format("{}; it need not: of {}, {}", account.charges.front().sentence, name(other(side)),
                                     others.first);
    } else if (!own.advice.empty()) {
        result.verdict = Verdict::warn;
        result.message = fmt::format("frame {} does not follow advice ({})", own.advice.front().frame,
                                     fmt::join(own.advice.front().requirements, ", "));
    } else if (account.observed() > 0) {
        result.verdict = Verdict::pass;
        if (!ledger_[other(side)].charges.empty() || !others.during.empty())
            result.message = fmt::format("kept its part; {} did not", name(other(side)));
    }
}

reports::Result ExchangeRun::result(Side side) const {
    auto result = result_of(one_);
    const auto& account = ledger_[side];
    result.seconds = seconds_;
    result.observed = account.observed();
    result.notes = account.notes;
    result.na = reports::NotJudged::not_seen;
    blame(result, side);
    const auto& ends = ends_[side];
    if (ends && ends->verdict && result.verdict != Verdict::fail) {
        result.verdict = *ends->verdict;
        result.message = ends->why;
        result.na = ends->reason;
    }
    for (const auto& charge : account.charges) {
        result.details.push_back({.frame = charge.frame,
                                  .expected = charge.expected,
                                  .actual = charge.actual,
                                  .subject = std::string(name(side)),
                                  .requirements = {std::string(charge.requirement->id)}});
    }
    for (const auto* list : {&violations_[side].during, &violations_[side].advice})
        result.details.insert(result.details.end(), list->begin(), list->end());
    if (result.verdict == Verdict::fail || result.verdict == Verdict::warn) {
        result.violations = result.details.size();
        // As many as reports show of a case; all are counted.
        if (result.details.size() > most_details) result.details.resize(most_details);
        for (const auto& detail : result.details)
            if (detail.frame != 0) result.frames.push_back(detail.frame);
    } else {
        result.details.clear();
    }
    count_parts(result, side);
    if (!faults_[side].empty()) {
        const auto before = result.message.empty() ? std::string{} : "; before that: " + result.message;
        result.message = "it reports: " + faults_[side].front() + before;
        result.verdict = Verdict::fail;
        result.fail_type = "FAIL.CRASH";
        for (const auto& fault : faults_[side]) result.notes.push_back("fault: " + fault);
        result.parts.clear();
    }
    if (result.verdict != Verdict::na) result.na = reports::NotJudged::none;
    const bool is_well = result.verdict == Verdict::pass || result.verdict == Verdict::na;
    if (!is_well) result.repeat = repeat();
    if (!not_kept_.empty()) result.notes.push_back(not_kept_);
    return result;
}

void ExchangeRun::keep(const Meeting&) {
    bool is_kept = false;
    if (!run_.evidence.empty()) try {
            recorder_.write(path());
            is_kept = true;
        } catch (const std::runtime_error& why) {
            not_kept_ = run_.may_lack_evidence ? "its frames found no room in the temporary folder" : why.what();
        }
    write_journal(
        fmt::format("{} {}", reports::name(result(Side::dut).verdict), reports::name(result(Side::against).verdict)));
    for (const auto side : both_sides) {
        auto& results = results_[side];
        auto result = this->result(side);
        if (const auto said = place_.diagnostics(side); !said.empty() && result.verdict != Verdict::pass)
            result.notes.push_back("the adapter said: " + said);
        if (!run_.evidence.empty()) {
            result.capture = static_cast<std::uint32_t>(results.captures.size());
            for (auto& detail : result.details) detail.capture = result.capture;
            if (is_kept) result.evidence = path();
            results.captures.push_back({.file = is_kept ? path() : "",
                                        .link_type = static_cast<int>(capture::LinkType::erf),
                                        .packets = recorder_.size()});
        }
        for (const auto& [finding, text] : ledger_[side].findings)
            results.beyond.push_back({.name = finding,
                                      .text = std::string(one_.id) + ": " + text,
                                      .link = {},
                                      .capture = run_.evidence.empty() ? reports::no_capture : result.capture});
        results.results.push_back(std::move(result));
    }
}

void ExchangeRun::write_journal(const std::string& verdicts) {
    auto* const journal = place_.journal();
    if (!journal) return;
    journal->case_ends(verdicts);
    if (run_.evidence.empty()) return;
    try {
        journal->write(path(".journal.jsonl"), {.case_id = one_.id,
                                                .command = repeat(),
                                                .repetition = repetition_,
                                                .seed = run_.options.seed,
                                                .timeout_scale = run_.options.timeout_scale,
                                                .fabric = place_.fabric().facts()});
    } catch (const std::runtime_error& why) {
        if (not_kept_.empty()) not_kept_ = why.what();
    }
}

std::string ExchangeRun::scene() const {
    return std::string(one_.id) + (repetition_ ? "-" + std::to_string(repetition_ + 1) : std::string{});
}

std::string ExchangeRun::path(std::string_view ending) const {
    return (std::filesystem::path(run_.evidence) / scene().append(ending)).string();
}

std::string ExchangeRun::repeat() const {
    return run_.repeat_command.empty() ? std::string{} : run_.repeat_command + ' ' + std::string(one_.id);
}

}  // namespace ipoib::conformance::interop
