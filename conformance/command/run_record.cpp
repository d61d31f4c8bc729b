// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/command/run_record.hpp"

#include "base/atomic_file.hpp"
#include "conformance/replay/digest.hpp"
#include "conformance/replay/record.hpp"

#include <filesystem>

namespace ipoib::conformance {

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
    const std::filesystem::path folder = aim.run.evidence;
    std::string problem;
    try {
        for (const auto& capture : results.captures) {
            record.scenes.push_back(std::filesystem::path(capture.file).stem().string());
            for (const auto& name : replay::files_of(record.scenes.back()))
                record.hashes.emplace_back(name,
                                           replay::sha256(replay::content_of(folder / name, replay::most_of_file)));
        }
    } catch (const std::invalid_argument& why) {
        problem = why.what();
    }
    record.verdicts = replay::verdicts_of(results);
    if (problem.empty()) problem = write_atomically(folder / replay::Record::file, text(record));
    if (problem.empty()) return;
    reports::Result result{.id = "EVIDENCE", .title = "What the run was is kept beside its journals"};
    result.verdict = reports::Verdict::error;
    result.message = problem;
    results.results.push_back(std::move(result));
}

}  // namespace ipoib::conformance
