// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-conform audit: judge the groups that a subnet administrator holds.
#include "conformance/audit/audit.hpp"
#include "base/complain.hpp"
#include "conformance/audit/findings.hpp"
#include "conformance/bench/recorder.hpp"
#include "conformance/command/asking.hpp"
#include "conformance/command/commands.hpp"
#include "conformance/command/knowledge_options.hpp"
#include "conformance/command/output.hpp"
#include "conformance/command/report_options.hpp"
#include "conformance/command/writing.hpp"
#include "conformance/judge/passive.hpp"
#include "conformance/target/outlook.hpp"
#include "conformance/target/simulated_target.hpp"
#include "conformance/terminal/numbers.hpp"
#include "conformance/terminal/terminal.hpp"

#include <fmt/format.h>

#include <iostream>

namespace ipoib::conformance {
namespace {

struct AuditOptions {
    std::vector<std::string> selectors;
    std::vector<std::string> sa;
    std::string fabric, scenario = "default", evidence;
    double timeout_scale = 1, rate = usual_sa_rate;
    std::vector<std::string> host_states;
    bool dry_run = false;
    ReportOptions report;
};

std::vector<const audit::Rule*> chosen(const AuditOptions& options) {
    const Selection selection{options.selectors};
    if (const auto wrong = selection.unmatched(audit::selectable_rules()); wrong)
        throw UsageError("'" + *wrong + "' matches no rule of audit" +
                         nearest_selector(*wrong, audit::selectable_rules()) + " (ipoib-conform list tag:audit)");
    auto rules = audit::selected_rules(selection);
    if (rules.empty()) throw UsageError("the selectors leave no rule");
    return rules;
}

/// What is to be judged, and the facts of where it is from.
struct Audited {
    std::vector<audit::Inventory> inventories;  ///< of a subnet each
    std::vector<std::pair<std::string, std::string>> facts;
    std::int64_t now = 0;         ///< when a fabric was asked, in ns since 1970
    bool lacks_evidence = false;  ///< what was asked for could not be written, as was told
};

Audited audited_by_files(const AuditOptions& options) {
    Audited audited{.inventories = {}, .facts = {{"kind", "file"}}};
    for (const auto& file : options.sa) try {
            audited.inventories.push_back(
                audit::inventory_of(assumptions::read_sa_file(file, assumptions::Irregularities::kept)));
            audited.facts.emplace_back("file", file);
        } catch (const std::exception& problem) {
            throw UsageError(std::string("--sa: ") + problem.what());
        }
    return audited;
}

std::unique_ptr<Outlook> outlook(const AuditOptions& options) {
    Target target{.fabric = options.fabric, .scenario = options.scenario};
    target.session.timeout_scale = options.timeout_scale;
    target.session.seed = options.report.seed;
    return told_apart([&] { return look_at(target); });
}

std::string evidence_file(const std::string& folder) { return folder + "/audit.pcapng"; }

/// Whether what is to be kept is kept; if not, why is told.
bool keep(const Recorder& recorder, const std::string& folder) {
    if (folder.empty()) return true;
    return write_each({[&]() -> std::string {
        try {
            recorder.write(evidence_file(folder));
        } catch (const std::runtime_error& problem) {
            return problem.what();
        }
        return {};
    }});
}

Audited audited_on_fabric(const AuditOptions& options) {
    // Before the fabric, which sends to the end.
    Recorder recorder;
    const auto place = outlook(options);
    auto& fabric = place->fabric();
    if (!options.evidence.empty()) fabric.observe([&](const fabric::Sighting& sighting) { recorder.add(sighting); });
    StatusLine line;
    audit::Progress progress;
    if (progress_is_seen() && !options.report.quiet)
        progress = [&](std::size_t done, std::size_t all) { line.show(fmt::format("[{}/{}] ports", done, all)); };
    using namespace std::chrono_literals;
    const auto patience = std::chrono::duration_cast<fabric::Duration>(1s * options.timeout_scale);
    try {
        Audited audited{.inventories = {}, .facts = fabric.facts()};
        audited.inventories.push_back(audit::survey(*fabric.ports().front(),
                                                    fabric.abilities().has(fabric::Ability::trusted_sa), patience,
                                                    progress, pace_of(fabric.loop(), options.rate)));
        audited.now = now_ns();
        line.clear();
        audited.lacks_evidence = !keep(recorder, options.evidence);
        return audited;
    } catch (const std::runtime_error& problem) {
        line.clear();
        (void)keep(recorder, options.evidence);
        throw Fault(problem.what());
    }
}

void add_counts(Audited& audited) {
    std::size_t members = 0, groups = 0, ports = 0;
    for (const auto& inventory : audited.inventories) {
        for (const auto& group : inventory.groups) members += group.members.size();
        groups += inventory.groups.size();
        ports += inventory.ports.size();
        audited.facts.emplace_back("administrator", inventory.origin);
        std::string p_keys;
        for (const auto p_key : inventory.p_keys) p_keys += (p_keys.empty() ? "" : " ") + fmt::format("{:#06x}", p_key);
        if (!p_keys.empty()) audited.facts.emplace_back("partitions", p_keys);
        for (const auto& note : inventory.notes) audited.facts.emplace_back("note", note);
    }
    for (const auto& inventory : audited.inventories) {
        const auto mlids = audit::mlids_of(inventory);
        audited.facts.emplace_back(
            "MLIDs", fmt::format("{} in use{}, {} solicited-node groups", mlids.in_use,
                                 mlids.room ? fmt::format(" of {}", mlids.room) : std::string{}, mlids.solicited_node));
        if (inventory.questions) audited.facts.emplace_back("questions", std::to_string(inventory.questions));
    }
    audited.facts.emplace_back("groups", std::to_string(groups));
    audited.facts.emplace_back("members", std::to_string(members));
    audited.facts.emplace_back("ports", std::to_string(ports));
}

/// What would be asked, and how fast; nothing is.
int rehearse(const AuditOptions& options) {
    if (!options.fabric.empty() && !fabric_kinds().find(options.fabric, FabricUse::audit))
        throw UsageError("--fabric is " + fabric_kinds().forms(FabricUse::audit) + ", not '" + options.fabric + "'");
    if (options.fabric.empty())
        print("Nothing would be sent: the records are read from files.\n");
    else
        print(audit_rehearsal(options.fabric, options.rate));
    return exit_ok;
}

int run_audit(const AuditOptions& options, const std::vector<std::string>& command) {
    const bool has_administrator = !options.fabric.empty() || !options.sa.empty();
    if (!options.fabric.empty() && !options.sa.empty())
        throw UsageError("either --fabric or --sa says whose groups are judged");
    if (!has_administrator && options.host_states.empty())
        throw UsageError("either --fabric or --sa says whose groups are judged, or --host-state what hosts believe");
    if (!has_administrator && !options.selectors.empty())
        throw UsageError("rules are about the groups of an administrator: --fabric or --sa says whose");
    if (options.fabric.empty() && !options.evidence.empty())
        throw UsageError("--evidence keeps what a fabric's administrator answers; --sa asks nobody");
    if (options.fabric.empty() && (options.scenario != AuditOptions{}.scenario || options.timeout_scale != 1))
        throw UsageError("--scenario and --timeout-scale are of a fabric; --sa asks nobody");
    const auto rules = chosen(options);
    auto told = host_states_of(options.host_states);
    if (options.dry_run) return rehearse(options);
    auto read = options.sa;
    read.insert(read.end(), options.host_states.begin(), options.host_states.end());
    refuse_overwriting(options.report, read);
    const auto comparisons = load_comparisons(options.report);
    make_evidence_folder(options.evidence);
    try_reports(options.report);
    stop_on_interrupt();
    const RunClock clock;
    auto audited = options.fabric.empty() ? audited_by_files(options) : audited_on_fabric(options);
    for (const auto& inventory : audited.inventories)
        for (const auto& note : inventory.notes) complain("ipoib-conform", note);
    auto results = has_administrator ? audit::judge(audited.inventories, rules) : reports::Results{};
    // What nothing is judged by is worth knowing all the same.
    for (const auto& result : results.results)
        if (result.verdict == reports::Verdict::na)
            for (const auto& note : result.notes) complain("ipoib-conform", note);
    for (auto& note : told.notes) {
        complain("ipoib-conform", note);
        audited.facts.emplace_back("note", std::move(note));
    }
    const auto take = [&](audit::Troubles troubles) {
        for (auto& note : troubles.notes) {
            std::pair<std::string, std::string> fact{"note", std::move(note)};
            if (std::ranges::find(audited.facts, fact) != audited.facts.end()) continue;
            complain("ipoib-conform", fact.second);
            audited.facts.push_back(std::move(fact));
        }
        // Of several subnets, what hosts say of each other is the same.
        for (auto& one : troubles.findings)
            if (std::ranges::find(results.beyond, one.text, &reports::Beyond::text) == results.beyond.end())
                results.beyond.push_back(std::move(one));
    };
    if (!has_administrator) take(audit::troubles_of(told.hosts));
    for (std::size_t i = 0; i < audited.inventories.size(); ++i)
        take(audit::troubles_of(audited.inventories[i], audit::hosts_of(told.hosts, audited.inventories, i),
                                audited.now));
    if (has_administrator) add_counts(audited);
    results.fabric = each_once(audited.facts);
    if (!options.evidence.empty() && !audited.lacks_evidence)
        for (auto& result : results.results) result.evidence = evidence_file(options.evidence);
    clock.complete(results, options.report, command);
    if (!options.selectors.empty())
        results.selected = selected_requirements(Selection{options.selectors}, audit::selectable_rules());
    int verdict = report(results, options.report, comparisons);
    // Of hosts alone nothing is to be judged.
    if (!has_administrator && verdict == exit_unjudged) verdict = exit_ok;
    return audited.lacks_evidence ? exit_fault : verdict;
}

Action set_up_audit(CLI::App& command, const std::string&) {
    auto options = std::make_shared<AuditOptions>();
    command
        .add_option("SELECTOR", options->selectors,
                    "Rules (ipoib-conform list tag:audit): an id, a glob, a section (rfc4391/4), level:must, "
                    "status:standard; '!' negates; none: all")
        ->type_name("...");
    command
        .add_option("--fabric", options->fabric,
                    "Whose administrator is asked: " + fabric_kinds().help(FabricUse::audit) +
                        ". Members are told only to those who know the SM_Key")
        ->check(not_empty())
        ->type_name("FABRIC");
    command
        .add_option("--sa", options->sa,
                    "A list of the administrator's records instead: text of saquery MCMR, -g, -m, NR, PIR and PKTR, "
                    "one after the other, or JSON. Again for each further IB subnet of one network")
        ->check(not_empty())
        ->allow_extra_args(false)
        ->type_name("FILE");
    command
        .add_option("--scenario", options->scenario,
                    "With simulated: how the link is set up (" + scenario_names() + ')')
        ->check(not_empty())
        ->type_name("NAME");
    command
        .add_option("--timeout-scale", options->timeout_scale,
                    "Waits so many times as long (0.1 to 1000), for slow administrators")
        ->check(from_to(0.1, 1000.0))
        ->type_name("X");
    command.add_option("--evidence", options->evidence, "Keep what was asked and answered in this folder, as pcapng")
        ->check(not_empty())
        ->type_name("DIR");
    add_host_state_option(command, options->host_states);
    add_rate_option(command, options->rate);
    command.add_flag("--dry-run", options->dry_run, "Send nothing; tell what would be asked, and how fast");
    add_report_options(command, options->report, "Where random numbers of a simulated fabric begin");
    command.footer(
        "Exit code: 0 nothing against it, 1 a failure, 3 fabric or administrator at fault or interrupted,\n"
        "5 inconclusive (what a file lacks may be there), 4 nothing was judged, 2 wrong usage.");
    return [options, &command] { return run_audit(*options, words_of(command, options->selectors)); };
}

}  // namespace

namespace command {

extern const Command audit{.name = "audit",
                           .about = "Judge the groups that a subnet administrator holds; asks, and changes nothing",
                           .set_up = set_up_audit};

}  // namespace command
}  // namespace ipoib::conformance
