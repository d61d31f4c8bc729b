// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/command/run_record.hpp"

#include "base/atomic_file.hpp"
#include "base/complain.hpp"
#include "conformance/command/report_options.hpp"
#include "conformance/command/revisions.hpp"
#include "conformance/command/usage.hpp"
#include "conformance/judge/passive.hpp"
#include "conformance/replay/bundle.hpp"
#include "conformance/replay/digest.hpp"
#include "conformance/replay/record.hpp"
#include "generated/version.hpp"
#include "reports/json.hpp"

#include <algorithm>
#include <filesystem>

namespace ipoib::conformance {

namespace {

/// What is not there cannot be kept: that is an ERROR among the results.
void write_record(const std::filesystem::path& folder, replay::Record& record, reports::Results& results) {
    std::string problem;
    try {
        for (const auto& capture : results.captures) {
            // What could not be written has been told.
            if (capture.file.empty()) continue;
            // Of two that met both have it.
            if (record.is_meeting() && capture.host != results.captures.front().host) continue;
            record.scenes.push_back(std::filesystem::path(capture.file).stem().string());
            for (const auto& name : replay::files_of(record.scenes.back()))
                record.hashes.emplace_back(name,
                                           replay::sha256(replay::content_of(folder / name, replay::most_of_file)));
        }
    } catch (const std::invalid_argument& why) {
        problem = why.what();
    }
    record.verdicts = replay::verdicts_of(results);
    record.suite_texts = suite_texts().digest;
    if (problem.empty()) problem = write_atomically(folder / replay::Record::file, text(record));
    if (problem.empty()) return;
    reports::Result result{.id = "EVIDENCE", .title = "What the run was is kept beside its journals"};
    result.verdict = reports::Verdict::error;
    result.message = problem;
    if (record.is_meeting()) result.host = interop::name(interop::Side::dut);
    results.results.push_back(std::move(result));
}

/// Of a run that had enough.
std::string note_of_not_begun(const reports::Results& results) {
    for (const auto& result : results.results)
        for (const auto& note : result.notes)
            if (note.ends_with(" not begun")) return note;
    return {};
}

}  // namespace

void keep_record(const Aim& aim, const Rig& rig, reports::Results& results) {
    if (!aim.target.session.keeps_journal) return;
    const auto* kind = fabric_kinds().with_scheme_of(aim.target.fabric);
    replay::Record record{.suite = {},
                          .run = aim.run,
                          .session = aim.target.session,
                          .abilities = rig.abilities(),
                          .fabric = results.fabric,
                          .dut = results.dut,
                          .is_virtual = rig.is_virtual()};
    if (kind && kind->is_somebodys())
        record.why_not = "on somebody's fabric groups and nonces are drawn by chance, and a host's memberships matter";
    // Those that were begun: a run may have had enough. What was not judged for want of the interface has no result of
    // its own, but was played.
    const auto is_evidence_of = [](const Case& one) {
        return [&one](const auto& capture) {
            return std::filesystem::path(capture.file).stem().string().starts_with(one.id);
        };
    };
    std::erase_if(record.run.cases, [&](const Case* one) {
        return std::ranges::find(results.results, one->id, &reports::Result::id) == results.results.end() &&
               std::ranges::none_of(results.captures, is_evidence_of(*one));
    });
    if (std::ranges::find(results.results, "SESSION", &reports::Result::id) != results.results.end())
        record.why_not = "the run did not come to its end";
    record.not_begun = note_of_not_begun(results);
    write_record(aim.run.evidence, record, results);
}

void keep_meeting(const interop::InteropRun& run, bool is_virtual, fabric::Abilities abilities,
                  reports::Results& results) {
    replay::Record record{.suite = {},
                          .abilities = abilities,
                          .fabric = results.fabric,
                          .dut = results.dut,
                          .is_virtual = is_virtual,
                          .exchanges = run.exchanges};
    // Those that were begun: a run may have had enough.
    std::erase_if(record.exchanges, [&](const interop::Exchange* one) {
        return std::ranges::find(results.results, one->id, &reports::Result::id) == results.results.end();
    });
    record.run.rules = run.rules;
    record.run.seed = run.options.seed;
    record.run.repeat = run.repeat;
    record.session.timeout_scale = run.options.timeout_scale;
    record.not_begun = note_of_not_begun(results);
    const auto is_error = [](const reports::Result& one) { return one.verdict == reports::Verdict::error; };
    if (std::ranges::any_of(results.results, is_error))
        record.why_not = "what an adapter did that broke is in no journal, or the run did not come to its end";
    write_record(run.evidence, record, results);
}

void try_bundle(const std::string& path) {
    if (path.empty()) return;
    if (const auto why_not = why_not_writable(path); !why_not.empty()) throw Fault("--bundle " + why_not);
}

replay::SuiteTexts suite_texts() {
    const auto add = [](reports::Results& results) {
        results.suite = suite_version;
        // Also of two that met.
        auto hosts = std::exchange(results.hosts, {});
        add_revisions(results);
        add_proofs(results);
        results.hosts = std::move(hosts);
    };
    reports::Results all;
    for (const auto& one : revisions()) all.results.push_back(reports::Result{.id = std::string(one.id), .title = {}});
    for (const auto* one : all_cases())
        all.results.push_back(reports::Result{.id = std::string(one->id), .title = std::string(one->title)});
    add(all);
    reports::roll_up(all, catalogue_for_reports());
    return {.digest = replay::sha256(reports::to_json(all)), .add = add};
}

bool keep_bundle(const std::string& path, const std::string& evidence, const reports::Results& results) {
    if (path.empty()) return true;
    // The fabric could not be brought up, which is told as an error of the session.
    if (!std::filesystem::exists(std::filesystem::path{evidence} / replay::Record::file)) {
        complain("ipoib-conform", "--bundle: nothing was run, so there is nothing to put in it");
        return false;
    }
    std::string problem;
    try {
        auto defined = results;
        add_revisions(defined);
        problem = write_atomically(path, replay::bundle_of(evidence, defined));
    } catch (const std::exception& why) {
        problem = why.what();
    }
    if (!problem.empty()) complain("ipoib-conform", "--bundle " + problem);
    return problem.empty();
}

}  // namespace ipoib::conformance
