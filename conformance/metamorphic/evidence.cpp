// SPDX-License-Identifier: GPL-2.0-or-later
// The evidence of cases, on the simulated fabric.
#include "conformance/metamorphic/keeper.hpp"
#include "conformance/metamorphic/source.hpp"
#include "conformance/selftest/selftest.hpp"
#include "protocol/wire/crc.hpp"

namespace ipoib::metamorphic {
namespace {

using conformance::Case, conformance::Mutant, conformance::Recorder;
using inspection::Party;

/// What evidence files hold: a CRC that is zero within a process is computed where somebody looks.
wire::Octets with_crcs(Store& store, wire::Octets octets) {
    constexpr std::size_t tail = wire::icrc_size + wire::vcrc_size;
    const auto kept = store.copy(octets);
    if (kept.size() >= wire::Lrh::size + tail &&
        std::ranges::all_of(kept.last(tail), [](auto octet) { return octet == 0; }))
        wire::write_crcs(kept);
    return kept;
}

Trace trace_of(const Recorder& recorder, Party judged) {
    Trace trace;
    for (std::size_t i = 0; i < recorder.size(); ++i) {
        const auto octets = with_crcs(trace.store, recorder.octets(i));
        const auto sender = recorder.party(i);
        const bool is_charged = sender == judged || sender == Party::tester;
        const inspection::Origin origin{is_charged ? sender : Party::bystander, recorder.is_rebuilt(i)};
        trace.frames.push_back({.octets = octets,
                                .wire_length = static_cast<std::uint32_t>(octets.size()),
                                .time = begin_ns + recorder.time(i).count(),
                                .interface = static_cast<std::uint32_t>(origin.party),
                                .origin = origin,
                                .from = static_cast<std::uint32_t>(i)});
    }
    return trace;
}

/// "mutant:maps-32-bits,", without the case.
std::string label_of(const Mutant* mutant) {
    if (!mutant) return "reference:";
    return (mutant->breaks.empty() ? "permitted:" : "mutant:") + std::string(mutant->name) + ',';
}

/// A case runs in several scenarios.
std::string free_name(const Sources& sources, const std::string& wanted) {
    auto name = wanted;
    const auto is_taken = [&](const auto& source) { return source->name == name; };
    for (unsigned number = 2; std::ranges::any_of(sources, is_taken); ++number)
        name = wanted + ',' + std::to_string(number);
    return name;
}

}  // namespace

void add_evidence(Sources& sources, const EvidenceOptions& options,
                  const std::function<void(const std::string&)>& progress) {
    conformance::SelftestRun run{.cases = conformance::all_cases(), .seed = options.seed};
    run.progress = [&](std::string_view mutant, std::size_t, std::size_t) {
        if (progress) progress(std::string(mutant));
    };
    run.takes = [&](const Mutant& mutant) {
        return mutant.breaks.empty() ? options.with_permitted : options.with_mutants;
    };
    run.witness = [&](const Mutant* mutant, const Case& one, const Recorder& recorder, const reports::Result&) {
        if (recorder.size() == 0 || (!mutant && !options.with_reference)) return;
        const auto judged = one.subject == conformance::Subject::sa ? Party::sa : Party::dut;
        const auto name = label_of(mutant) + std::string(one.id);
        sources.push_back(make_source(free_name(sources, name), trace_of(recorder, judged)));
        if (!mutant) return;
        auto broken = mutant->breaks;
        broken.insert(broken.end(), mutant->sometimes.begin(), mutant->sometimes.end());
        sources.back()->broken = numbers_of(broken);
    };
    (void)conformance::selftest(run);
}

}  // namespace ipoib::metamorphic
