// SPDX-License-Identifier: GPL-2.0-or-later
// One case, from its session to its result: what goes wrong is caught, and what was found becomes a result.
#pragma once

#include "conformance/bench/active.hpp"
#include "conformance/bench/bench.hpp"
#include "conformance/bench/case_context.hpp"
#include "conformance/bench/case_ends.hpp"
#include "conformance/bench/rule_tally.hpp"

#include <filesystem>

namespace ipoib::conformance {

/// FNV-1a: the same everywhere, which std::hash does not promise.
[[nodiscard]] constexpr std::uint64_t hash_of(std::string_view text) noexcept {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3;
    return hash;
}

/// One case, from its session to its result.
class CaseRun {
public:
    CaseRun(const ActiveRun& run, Rig& rig, RuleTally& rules, const Case& running, unsigned repetition)
        : run_(run),
          rig_(rig),
          rules_(rules),
          case_(running),
          repetition_(repetition),
          seed_((run.seed + repetition) ^ hash_of(running.id)) {
        result_.id = running.id;
        result_.title = running.title;
        for (const auto* requirement : running.checks) result_.checks.emplace_back(requirement->id);
    }

    /// Whether adapter or fabric broke.
    [[nodiscard]] bool is_broken() const noexcept { return is_broken_; }
    /// Whether there was a session to begin with.
    [[nodiscard]] bool has_begun() const noexcept { return has_begun_; }
    /// Whether it could not be judged for want of the DUT's interface.
    [[nodiscard]] bool was_without_dut() const noexcept { return was_without_dut_; }
    /// What of the fabric could not be put back afterwards; empty where it is as before.
    [[nodiscard]] const std::string& not_put_back() const noexcept { return not_put_back_; }
    /// Why a file of its evidence could not be written; empty where all were.
    [[nodiscard]] const std::string& not_kept() const noexcept { return not_kept_; }

    reports::Result execute(reports::Results& results) {
        Rig::CaseEnd end{.is_broken = true};
        try {
            auto& session = rig_.prepare(seed_);
            has_begun_ = true;
            const auto begin = session.loop().now();
            const auto capture = run_.evidence.empty() ? 0 : static_cast<std::uint32_t>(results.captures.size());
            CaseContext context{session, case_, run_.profile, capture};
            Bench bench{context};
            session.record_into(&context.recorder);
            if (auto* const journal = session.journal()) journal->case_begins();
            if (pauses_at_failures())
                context.findings.on_first_violation([&](const std::string& what) { pause(what, session); });
            converse(bench, context);
            session.record_into(nullptr);
            // The DUT's adapter may be gone, and the fabric still be there. On one that is gone there is nothing to
            // undo.
            if (session.fabric().problem().empty()) tidy_up(bench);
            for (auto& note : session.take_notes()) context.findings.note(std::move(note));
            // Who crashed may be in any state: the next case greets it anew.
            end = {.changed_fabric = bench.fabric.was_changed(), .is_broken = is_broken_ || has_crashed_};
            if (results.dut.empty()) results.dut = session.dut().facts();
            result_ = std::move(context.findings.result());
            result_.seconds = std::chrono::duration<double>(session.loop().now() - begin).count();
            keep_evidence(context, results);
            if (run_.witness) run_.witness(case_, context.recorder, result_);
        } catch (const std::exception& broken) {
            fails(reports::Verdict::error, broken.what());
        }
        try {
            if (const auto why = rig_.clean_up(end); not_put_back_.empty()) not_put_back_ = why;
            is_broken_ = end.is_broken && !has_crashed_;
        } catch (const std::exception& broken) {
            result_.notes.push_back(std::string("afterwards: ") + broken.what());
        }
        if (result_.verdict != reports::Verdict::pass && result_.verdict != reports::Verdict::na)
            result_.repeat = repetition();
        return std::move(result_);
    }

private:
    void fails(reports::Verdict verdict, std::string why) {
        result_.verdict = verdict;
        result_.message = std::move(why);
    }

    /// The case's own part: begin, steps, health. Leaves the verdict in the findings.
    void converse(Bench& bench, CaseContext& context) {
        auto& findings = context.findings;
        // Known only now, and before anything is done for it.
        if (const auto why_not = obstacle(case_, run_, rig_.abilities(), &context.session.dut().abilities())) {
            findings.conclude(reports::Verdict::na, why_not->why, why_not->reason);
            return;
        }
        auto end = pass(bench, context, Family::ipv4);
        if (case_.in_both_families && !is_broken_ && !was_without_dut_ && !fabric::Loop::stop_requested()) {
            tidy_up(bench);
            if (not_put_back_.empty()) end = worse(std::move(end), pass(bench, context, Family::ipv6), findings);
        }
        if (end.verdict)
            findings.conclude(*end.verdict, end.why, end.reason);
        else
            findings.conclude();
        if (fabric::Loop::stop_requested()) findings.conclude(reports::Verdict::error, "interrupted");
        examine(context);
    }

    /// The steps in one family, and how they ended.
    CaseEnds pass(Bench& bench, CaseContext& context, Family family) {
        auto& session = context.session;
        try {
            if (family == Family::ipv6) {
                session.undo();
                context.findings.speak_of("IPv6: ");
            }
            context.situation().family = family;
            if (!run_.judges_sa) {
                if (case_.begin == Begin::running)
                    session.bring_dut_up();
                else
                    session.take_dut_down();
            }
            if (session.dut_is_found()) context.recorder.dut_is(context.situation().dut.lid);
            if (family == Family::ipv6) meet_in_ipv6(bench, session);
            if (run_.pause && run_.pause->case_id == case_.id && family == Family::ipv4)
                pause("its steps begin now", session);
            case_.steps(bench);
            return CaseEnds::as_judged();
        } catch (const DutStaysDown& ends) {
            was_without_dut_ = was_without_dut_ || family == Family::ipv4;
            return ends;
        } catch (const CaseEnds& ends) {
            return ends;
        } catch (const Unsupported& unsupported) {
            return CaseEnds::not_applicable(unsupported.what());
        } catch (const ControlFailed& why) {
            return CaseEnds::inconclusive(std::string("the DUT could not do what was asked: ") + why.what());
        } catch (const ChannelBroken& why) {
            is_broken_ = true;
            return CaseEnds::error(why.what());
        }
    }

    /// The tester tells of itself, as it did by ARP. Any answer will do: which the DUT must give is the case's matter.
    void meet_in_ipv6(Bench& bench, Session& session) const {
        if (bench.situation().dut.ipv6.is_zero()) session.look_for_ipv6();
        if (bench.situation().dut.ipv6.is_zero()) bench.not_applicable("the DUT tells no IPv6 address");
        if (case_.begin == Begin::down) return;
        bench.step("The DUT answers in IPv6");
        // Who had to join everything again may be in a pause between two joins.
        const int attempts = bench.fabric.was_changed() ? 8 : 3;
        for (int i = 0; i < attempts; ++i) {
            for (const auto& [word, question] : {std::pair{address_request(), echo_request()},
                                                 {address_request_with_grh(), echo_request_with_grh()}}) {
                bench.send(word);
                (void)bench.happens(address_reply(), within(1s));
                bench.send(question);
                if (bench.happens(echo_reply(), within(1s))) return;
            }
        }
        bench.precondition(false, "an answer to an echo request in IPv6");
    }

    /// Of both families: what could not be judged in one does not hide what was in the other.
    static CaseEnds worse(CaseEnds ipv4, CaseEnds ipv6, Findings& findings) {
        const auto rank = [](const CaseEnds& ends) { return ends.verdict.value_or(reports::Verdict::pass); };
        if (ipv6.verdict && rank(ipv6) != reports::Verdict::na) ipv6.why = "IPv6: " + ipv6.why;
        if (rank(ipv6) == reports::Verdict::na && rank(ipv4) != reports::Verdict::na)
            findings.note("not judged in IPv6: " + ipv6.why);
        if (rank(ipv4) == reports::Verdict::na && rank(ipv6) != reports::Verdict::na)
            findings.note("not judged in IPv4: " + ipv4.why);
        return rank(ipv6) < rank(ipv4) ? ipv6 : ipv4;
    }

    void tidy_up(Bench& bench) {
        try {
            not_put_back_ = bench.undo();
        } catch (const std::exception& broken) {
            bench.note(std::string("afterwards: ") + broken.what());
            if (bench.fabric.was_changed())
                not_put_back_ = std::string("the fabric could not be put back: ") + broken.what();
        }
    }

    /// Asked after every case: whatever was seen, a crash is a FAIL.
    void examine(CaseContext& context) {
        if (!run_.has_control) return;
        auto& result = context.findings.result();
        try {
            const auto faults = context.session.dut().health();
            if (faults.empty()) return;
            // What was sent last is in the violation, where there was one.
            const auto before = result.message.empty() ? std::string{} : "; before that: " + result.message;
            result.message = "the DUT reports: " + faults.front() + before;
            result.verdict = reports::Verdict::fail;
            result.fail_type = "FAIL.CRASH";
            for (const auto& fault : faults) result.notes.push_back("fault: " + fault);
            result.parts.clear();
            has_crashed_ = true;
            if (pauses_at_failures() && !has_paused_) pause("the DUT reports: " + faults.front(), context.session);
        } catch (const std::exception& why) {
            is_broken_ = true;
            if (result.verdict == reports::Verdict::error || result.verdict == reports::Verdict::fail) return;
            result.verdict = reports::Verdict::error;
            result.message = std::string("asked for its health: ") + why.what();
            result.parts.clear();
        }
    }

    [[nodiscard]] bool pauses_at_failures() const { return run_.pause && run_.pause->case_id.empty(); }
    void pause(const std::string& why, Session& session) {
        has_paused_ = true;
        run_.pause->wait(scene() + ": " + why, session);
    }

    [[nodiscard]] std::string repetition() const {
        return run_.repeat_command.empty() ? std::string{} : run_.repeat_command + ' ' + std::string(case_.id);
    }

    void keep_evidence(CaseContext& context, reports::Results& results) {
        if (const auto said = context.session.control().diagnostics();
            !said.empty() && result_.verdict != reports::Verdict::pass)
            result_.notes.push_back("the adapter said: " + said);
        const auto ipoib = rules_.judge(context.recorder, {.id = scene(),
                                                           .capture = context.findings.capture(),
                                                           .evidence = run_.evidence.empty() ? "" : path(),
                                                           .repetition = repetition()});
        if (run_.evidence.empty()) return;
        const bool is_kept = keep([&] { context.recorder.write(path()); });
        if (auto* const journal = context.session.journal()) keep([&] { write_journal(context.session, *journal); });
        if (is_kept) result_.evidence = path();
        result_.capture = context.findings.capture();
        constexpr auto link_type = static_cast<int>(capture::LinkType::erf);
        results.captures.push_back({.file = is_kept ? path() : "",
                                    .link_type = link_type,
                                    .packets = context.recorder.size(),
                                    .ipoib = ipoib,
                                    .notes = {},
                                    .error = {}});
    }

    /// Whether it could be written. What could not costs no verdict: it is told beside it.
    template <class Write>
    bool keep(const Write& write) {
        try {
            write();
            return true;
        } catch (const std::runtime_error& why) {
            if (not_kept_.empty()) not_kept_ = why.what();
            result_.notes.emplace_back(run_.may_lack_evidence ? "its frames found no room in the temporary folder"
                                                              : why.what());
            return false;
        }
    }

    void write_journal(Session& session, InputJournal& journal) {
        journal.case_ends(reports::name(result_.verdict));
        journal.write(path(".journal.jsonl"), {.case_id = case_.id,
                                               .command = repetition(),
                                               .repetition = repetition_,
                                               .seed = run_.seed,
                                               .timeout_scale = session.options().timeout_scale,
                                               .fabric = session.fabric().facts()});
    }

    /// The case, and which repetition of it.
    [[nodiscard]] std::string scene() const {
        return std::string(case_.id) + (repetition_ ? "-" + std::to_string(repetition_ + 1) : std::string{});
    }

    [[nodiscard]] std::string path(std::string_view ending = ".pcapng") const {
        return (std::filesystem::path(run_.evidence) / scene().append(ending)).string();
    }

    const ActiveRun& run_;
    Rig& rig_;
    RuleTally& rules_;
    const Case& case_;
    unsigned repetition_;
    std::uint64_t seed_;
    bool has_begun_ = false, was_without_dut_ = false, is_broken_ = false, has_crashed_ = false, has_paused_ = false;
    std::string not_put_back_, not_kept_;
    reports::Result result_;
};

}  // namespace ipoib::conformance
