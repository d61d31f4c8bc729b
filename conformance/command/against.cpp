// SPDX-License-Identifier: GPL-2.0-or-later
// Puts two on one fabric, lets them talk, and reports what each made of it.
#include "conformance/command/against.hpp"

#include "base/complain.hpp"
#include "base/temporary_folder.hpp"
#include "conformance/command/choice.hpp"
#include "conformance/command/commands.hpp"
#include "conformance/command/output.hpp"
#include "conformance/command/pausing.hpp"
#include "conformance/command/run_record.hpp"
#include "conformance/judge/passive.hpp"
#include "conformance/target/meeting_place.hpp"
#include "conformance/terminal/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace ipoib::conformance {
namespace {

using interop::both_sides;

bool keeps_journal(const AgainstOptions& options) { return !options.evidence.empty() || !options.bundle.empty(); }

MeetingPlaceOptions place_options(const AgainstOptions& options) {
    const auto& target = options.target;
    MeetingPlaceOptions place{.fabric = target.fabric,
                              .scenario = target.scenario,
                              .listen = target.listen,
                              .timeout_scale = target.timeout_scale,
                              .keeps_journal = keeps_journal(options)};
    place.contenders.dut.dut = target.dut.empty() ? "reference" : target.dut;
    place.contenders.against.dut = options.against;
    return place;
}

void refuse_what_two_have_not(const AgainstOptions& options) {
    const auto& target = options.target;
    const std::pair<const char*, bool> wrong[] = {{"--fabric-control", !target.fabric_control.empty()},
                                                  {"--tester-ip", !target.tester_ip.empty()},
                                                  {"--profile", !target.profile.empty()},
                                                  {"--allow", !target.allow.empty()},
                                                  {"--allow-long", target.allows_long}};
    for (const auto& [name, is_given] : wrong)
        if (is_given)
            throw UsageError(std::string(name) + " is about a tester and one DUT; --against has two, and no tester");
}

std::vector<std::pair<std::string, std::string>> fabric_facts(interop::Place& place) {
    try {
        return place.fabric().facts();
    } catch (const std::runtime_error&) {
        return {};
    }
}

/// None where it never came to be.
fabric::Abilities abilities(interop::Place& place) {
    return place.journal() ? place.fabric().abilities() : fabric::Abilities{};
}

/// As for cases: what failed before, a shard, an order.
void narrow(interop::InteropRun& run, const AgainstOptions& options) {
    if (!options.only_failed.empty()) {
        for (const auto& id : keep_failed(run.exchanges, options.only_failed))
            complain("ipoib-conform",
                     "'" + id + "' of " + options.only_failed + " is no exchange and no rule here; it is not repeated");
        if (run.exchanges.empty())
            complain("ipoib-conform", "nothing to repeat: " + options.only_failed +
                                          " holds no FAIL, XPASS, ERROR, INCONC or WARN of what is selected");
    }
    if (!options.shard.empty()) keep_shard(run.exchanges, options.shard);
    put_in(order_named(options.order), run.exchanges);
}

std::optional<interop::InteropRun::Pause> pause_of(const AgainstOptions& options,
                                                   const std::vector<const interop::Exchange*>& exchanges,
                                                   StatusLine& line) {
    if (options.pause_on.empty()) return std::nullopt;
    const auto wait = [&line](const std::string& why, interop::Place& place) {
        wait_for_person(why + ". Both are as they were then",
                        {place.process(interop::Side::dut), place.process(interop::Side::against)},
                        place.fabric().loop(), line);
    };
    return interop::InteropRun::Pause{.exchange_id = paused_id(options.pause_on, exchanges, "exchanges"), .wait = wait};
}

/// Tells what would be done, and starts nothing.
int rehearse(const interop::InteropRun& run, const AgainstOptions& options, bool is_watched) {
    std::string text;
    std::chrono::seconds total{};
    for (const auto* one : run.exchanges) {
        text += fmt::format("{:<24} ", one->id);
        if (!is_watched) {
            text += "NA (tester): there is no tap on this fabric\n";
            continue;
        }
        text += fmt::format("at most {:g} s: {}\n",
                            static_cast<double>(one->lasts_at_most.count()) * options.target.timeout_scale, one->how);
        total += one->lasts_at_most;
    }
    text += fmt::format(
        "{} exchanges, in at most {:g} s and what the two themselves take; {} rules watch each of them.\n",
        run.exchanges.size(), static_cast<double>(total.count()) * options.target.timeout_scale, run.rules.size());
    text += "Nothing was started or sent.\n";
    print(text);
    return exit_ok;
}

}  // namespace

interop::InteropRun chosen_exchanges(const std::vector<std::string>& selectors) {
    const Selection selection{selectors};
    auto candidates = interop::selectable_exchanges();
    std::ranges::move(selectable_rules(), std::back_inserter(candidates));
    if (const auto wrong = selection.unmatched(candidates); wrong)
        throw UsageError("no exchange and no rule matches '" + *wrong + "'" + nearest_selector(*wrong, candidates) +
                         " (run --against reference --dry-run lists the exchanges)");
    interop::InteropRun run{.exchanges = interop::selected_exchanges(selection), .rules = selected_rules(selection)};
    if (run.exchanges.empty())
        throw UsageError("the selectors leave no exchange; rules only judge what exchanges bring about");
    // Who names exchanges only is not told of fewer rules.
    if (run.rules.empty()) run.rules = selected_rules(Selection{});
    return run;
}

int run_against(const AgainstOptions& options, const std::vector<std::string>& command) {
    refuse_what_two_have_not(options);
    auto run = chosen_exchanges(options.selectors);
    narrow(run, options);
    const auto* kind = fabric_kinds().find(options.target.fabric, FabricUse::run);
    if (!kind)
        throw UsageError("--fabric is " + fabric_kinds().forms(FabricUse::run) + ", not '" + options.target.fabric +
                         "'");
    const bool is_watched = kind->is_ours();
    std::unique_ptr<interop::Place> place;
    if (is_watched) place = told_apart([&] { return make_meeting_place(place_options(options)); });
    if (options.dry_run) return rehearse(run, options, is_watched);

    std::vector<std::string> taken{options.evidence, options.bundle, options.only_failed};
    std::erase(taken, "");
    refuse_overwriting(options.report, std::move(taken));
    if (!options.bundle.empty() && !is_watched)
        throw UsageError("--bundle: there is no tap on this fabric, so nothing that could be in it");
    const auto comparisons = load_comparisons(options.report);
    make_evidence_folder(options.evidence);
    require_report(options.report);
    try_bundle(options.bundle);
    run.evidence = options.evidence;
    std::optional<TemporaryFolder> frames;
    if (options.evidence.empty() && (options.report.is_illustrated() || !options.bundle.empty())) {
        run.evidence = frames.emplace().path().string();
        run.may_lack_evidence = options.bundle.empty();
    }
    run.repeat = options.repeat;
    run.options.seed = options.report.seed;
    run.options.timeout_scale = options.target.timeout_scale;
    run.repeat_command = options.repeat_command;
    StatusLine line;
    run.pause = pause_of(options, run.exchanges, line);
    run.max_failures = options.max_failures;
    run.is_failure = counted_failures(options.report, comparisons);
    if (progress_is_seen() && !options.report.quiet)
        run.progress = [&](const interop::Exchange& one, std::size_t number, std::size_t count) {
            line.show(fmt::format("[{}/{}] {}", number, count, one.id));
        };
    stop_on_interrupt();
    const RunClock clock;
    auto both = is_watched ? interop::run(run, *place)
                           : interop::not_watched(run, "there is no tap on this fabric: nobody sees what the two say");
    if (place)
        for (const auto side : both_sides) both[side].fabric = fabric_facts(*place);
    for (const auto side : both_sides) {
        add_revisions(both[side]);
        add_proofs(both[side]);
    }
    auto results = interop::joined(std::move(both));
    if (place && keeps_journal(options)) keep_meeting(run, place->is_virtual(), abilities(*place), results);
    place.reset();
    fabric::Loop::clear_stop();
    line.clear();
    clock.complete(results, options.report, command);
    const auto exhibits = exhibits_for(options.report, results);
    const bool is_bundled = keep_bundle(options.bundle, run.evidence, results);
    if (frames) forget_evidence(results);
    const auto code = report(results, options.report, comparisons, exhibits);
    return is_bundled ? code : exit_fault;
}

}  // namespace ipoib::conformance
