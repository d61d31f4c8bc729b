// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-conform selftest --metamorphic: sources, a run, what it found.
#include "conformance/command/metamorphic.hpp"

#include "base/atomic_file.hpp"
#include "conformance/command/commands.hpp"
#include "conformance/command/output.hpp"
#include "conformance/command/reading.hpp"
#include "conformance/command/report_options.hpp"
#include "conformance/command/writing.hpp"
#include "conformance/metamorphic/decisiveness.hpp"
#include "conformance/metamorphic/text.hpp"
#include "conformance/terminal/help.hpp"
#include "conformance/terminal/numbers.hpp"
#include "conformance/terminal/terminal.hpp"
#include "fabric/capture/reader.hpp"
#include "fabric/loop.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <optional>
#include <set>
#include <sstream>

namespace ipoib::conformance {
namespace {

using metamorphic::Outcome, metamorphic::Relation, metamorphic::Run, metamorphic::Sources;

bool is_stopped() { return fabric::Loop::stop_requested() || capture::stop_requested(); }

constexpr std::array<std::string_view, 6> all_kinds{"sample",    "profile",   "mutation",
                                                    "reference", "permitted", "mutant"};

/// The bounded part leaves out the longest, whose frames differ little from those of the reference.
bool takes(const MetamorphicOptions& options, std::string_view kind) {
    const auto is = [&](std::string_view one) { return std::ranges::find(options.kinds, one) != options.kinds.end(); };
    if (options.kinds.empty()) return options.seconds > 0 || (kind != "permitted" && kind != "mutant");
    return is(kind) || is("all");
}

Sources sources_of(const MetamorphicOptions& options, const std::vector<std::string>& captures, std::uint64_t seed,
                   StatusLine& line) {
    Sources sources;
    for (const auto& path : captures) {
        try {
            metamorphic::add_capture(sources, path, "capture:" + path);
        } catch (const std::runtime_error& wrong) {
            throw UsageError(wrong.what());
        }
    }
    if (takes(options, "sample")) metamorphic::add_samples(sources);
    if (takes(options, "profile") || takes(options, "mutation")) metamorphic::add_generated(sources, seed);
    const metamorphic::EvidenceOptions evidence{.with_reference = takes(options, "reference"),
                                                .with_permitted = takes(options, "permitted"),
                                                .with_mutants = takes(options, "mutant"),
                                                .seed = seed};
    if (evidence.with_reference || evidence.with_permitted || evidence.with_mutants)
        metamorphic::add_evidence(sources, evidence, [&](const std::string& mutant) {
            if (progress_is_seen()) line.show("evidence of " + mutant);
        });
    std::erase_if(sources,
                  [&](const auto& source) { return source->kind != "capture" && !takes(options, source->kind); });
    return sources;
}

std::vector<const Relation*> relations_of(const MetamorphicOptions& options) {
    if (options.relations.empty()) return metamorphic::all_relations();
    std::vector<const Relation*> some;
    for (const auto& name : options.relations) {
        some.push_back(metamorphic::find_relation(name));
        if (some.back()) continue;
        std::string names;
        for (const auto* relation : metamorphic::all_relations())
            names.append(names.empty() ? "" : ", ").append(relation->name);
        throw UsageError(fmt::format("no relation is named '{}': {}", name, names));
    }
    return some;
}

void write_frames(const std::string& folder, const Outcome& outcome) {
    if (folder.empty()) return;
    std::size_t number = 0;
    for (const auto& one : outcome.breaks) {
        const auto name = fmt::format("{:03}-{}.pcapng", ++number, one.relation->name);
        try {
            metamorphic::write_capture(one, (std::filesystem::path(folder) / name).string());
        } catch (const std::runtime_error& wrong) {
            throw UsageError(wrong.what());
        }
    }
}

/// Lines such as "loss-one RULE-RFC4391-9-01 appears"; "#" begins a remark.
std::set<std::string> known_breaks(const std::string& path) {
    std::set<std::string> known;
    if (path.empty()) return known;
    std::istringstream lines{text_of(path)};
    for (std::string line; std::getline(lines, line);)
        if (!line.empty() && !line.starts_with('#')) known.insert(line);
    return known;
}

/// Whether what is broken is what is known to be, no more and no less; says what differs.
bool is_as_known(const MetamorphicOptions& options, const std::set<std::string>& known, const Outcome& outcome) {
    bool is_right = true;
    std::set<std::string> seen;
    for (const auto& one : outcome.breaks) {
        const auto key = metamorphic::key(one);
        seen.insert(key);
        if (known.contains(key)) continue;
        if (!options.known.empty()) print("not known to be broken: " + key + '\n');
        is_right = false;
    }
    for (const auto& key : known) {
        if (seen.contains(key)) continue;
        print("no longer broken: " + key + '\n');
        is_right = false;
    }
    return is_right;
}

/// How often there was a verdict before; nothing where that is not asked.
std::optional<metamorphic::Decisiveness> decisiveness_before(const std::string& path) {
    if (path.empty()) return {};
    try {
        return metamorphic::parse(text_of(path));
    } catch (const std::runtime_error& wrong) {
        throw UsageError(path + ": " + wrong.what());
    }
}

/// Whether there are as many verdicts as before; says where not.
bool is_as_decisive(const MetamorphicOptions& options, const std::optional<metamorphic::Decisiveness>& before,
                    const Sources& sources, const Outcome& outcome) {
    const auto now = metamorphic::decisiveness(sources);
    print(fmt::format("{:.1f} % of the pairs of a requirement and a source have a verdict\n", 100 * now.share()));
    if (!options.decisiveness.empty())
        if (const auto error = write_atomically(options.decisiveness, metamorphic::page(now, outcome)); !error.empty())
            throw Fault(error);
    if (!before) return true;
    const auto losses = metamorphic::losses(*before, now);
    for (const auto& line : losses) print("less decisive: " + line + '\n');
    return losses.empty();
}

/// "loss-one/profile:arp/7": a source's name may hold slashes.
Outcome one_variant(const std::string& name, const Sources& sources) {
    const auto first = name.find('/'), last = name.rfind('/');
    const auto* relation = metamorphic::find_relation(name.substr(0, first));
    if (!relation || first == last) throw UsageError("--variant RELATION/SOURCE/NUMBER, as a run has named it");
    const auto source_name = name.substr(first + 1, last - first - 1);
    const auto source = std::ranges::find(sources, source_name, [](const auto& one) { return one->name; });
    if (source == sources.end()) throw UsageError("no source is named '" + source_name + "'");
    std::size_t number = 0;
    try {
        number = std::stoull(name.substr(last + 1));
    } catch (const std::exception&) {
        throw UsageError("--variant RELATION/SOURCE/NUMBER: '" + name.substr(last + 1) + "' is no number");
    }
    return metamorphic::try_variant(*relation, **source, sources, number);
}

}  // namespace

void add_metamorphic_options(CLI::App& command, MetamorphicOptions& options) {
    auto* flag = command.add_flag("--metamorphic", options.is_asked,
                                  "Judge how verdicts move when captures are changed: frames lost, renamed, mixed");
    for (const auto* other : {"--full", "--json", "--pages"}) flag->excludes(command.get_option(other));
    const auto add = [&](const char* name, auto& value, const char* what, const char* type) {
        return command.add_option(name, value, what)->type_name(type)->needs(flag);
    };
    std::vector<std::string> kinds{all_kinds.begin(), all_kinds.end()};
    kinds.insert(kinds.end(), {"all", "none"});
    add("--for", options.seconds, "Variants by chance until so much time has passed: 90s, 10min, 1h", "TIME")
        ->transform(CLI::AsNumberWithUnit(std::map<std::string, double>{{"s", 1}, {"min", 60}, {"h", 3600}}))
        ->check(positive());
    add("--relation", options.relations, "This relation only; again for more", "NAME")->allow_extra_args(false);
    add("--sources", options.kinds,
        "Of these only: sample, profile, mutation, reference, permitted, mutant, all, or none but CAPTUREs; without it "
        "the first four, with --for all",
        "KIND,...")
        ->delimiter(',')
        ->allow_extra_args(false)
        ->check(one_of(kinds));
    add("--variant", options.variant, "One variant, as a run has named it", "RELATION/SOURCE/NUMBER")
        ->check(not_empty());
    add("--known", options.known, "Broken relations that are known, a line each: any other fails", "FILE")
        ->check(not_empty());
    add("--decisiveness", options.decisiveness, "Write how often each requirement has a verdict", "FILE")
        ->check(not_empty());
}

int run_metamorphic(const MetamorphicOptions& options, const std::vector<std::string>& captures, std::uint64_t seed) {
    make_folder_for("frames", options.frames, "001.pcapng");
    const auto relations = relations_of(options);
    const auto known = known_breaks(options.known);
    const auto before = decisiveness_before(options.not_below);
    require_path({options.decisiveness});
    StatusLine line;
    stop_on_interrupt();
    const auto sources = sources_of(options, captures, seed, line);
    if (sources.empty()) throw UsageError("no source: --sources, or captures");
    Run run{.sources = sources, .relations = relations, .seed = seed};
    run.duration = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(options.seconds));
    run.is_stopped = is_stopped;
    if (progress_is_seen())
        run.progress = [&](std::uint64_t variants, std::size_t breaks) {
            line.show(fmt::format("{} variants of {} sources, {} broken", variants, sources.size(), breaks));
        };
    const auto outcome = options.variant.empty() ? metamorphic::execute(run) : one_variant(options.variant, sources);
    line.clear();
    print(metamorphic::text(outcome));
    print(fmt::format("{} sources, seed {}\n", sources.size(), seed));
    write_frames(options.frames, outcome);
    if (outcome.is_interrupted) return exit_worse;
    const bool is_one = !options.variant.empty();
    const bool is_right = is_one ? outcome.breaks.empty() : is_as_known(options, known, outcome);
    const bool is_decisive = is_one || is_as_decisive(options, before, sources, outcome);
    return is_right && is_decisive ? exit_ok : exit_worse;
}

}  // namespace ipoib::conformance
