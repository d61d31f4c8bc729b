// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-conform selftest --recall: worlds, a run, what it found.
#include "conformance/command/recall.hpp"

#include "base/atomic_file.hpp"
#include "conformance/command/commands.hpp"
#include "conformance/command/output.hpp"
#include "conformance/command/reading.hpp"
#include "conformance/command/report_options.hpp"
#include "conformance/command/writing.hpp"
#include "conformance/metamorphic/text.hpp"
#include "conformance/recall/judges.hpp"
#include "conformance/recall/page.hpp"
#include "conformance/terminal/help.hpp"
#include "conformance/terminal/terminal.hpp"
#include "fabric/loop.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <filesystem>

namespace ipoib::conformance {
namespace {

/// Places of each cell in the sample.
constexpr std::size_t of_each_cell = 60;
constexpr std::size_t few_losses = 2, many_losses = 16;

void refuse_unknown(const std::vector<std::string>& situations) {
    const auto all = recall::all_situations();
    for (const auto& name : situations) {
        if (std::ranges::find(all, name) != all.end()) continue;
        std::string names;
        for (const auto one : all) names.append(names.empty() ? "" : ", ").append(one);
        throw UsageError(fmt::format("no situation is named '{}': {}", name, names));
    }
}

recall::Floor read_floor(const std::string& path) {
    if (path.empty() || !std::filesystem::exists(path)) return {};
    try {
        return recall::parse_floor(text_of(path));
    } catch (const std::runtime_error& wrong) {
        throw UsageError(path + ": " + wrong.what());
    }
}

void write(const std::string& path, const std::string& text) {
    if (path.empty()) return;
    if (const auto error = write_atomically(path, text); !error.empty()) throw Fault(error);
}

/// What is not found, and legal captures that are accused.
void write_frames(const std::string& folder, const recall::Outcome& outcome) {
    if (folder.empty()) return;
    metamorphic::Trace variant;
    const auto write = [&](const std::string& name) {
        try {
            metamorphic::write_capture(variant, (std::filesystem::path(folder) / name).string());
        } catch (const std::runtime_error& wrong) {
            throw UsageError(wrong.what());
        }
    };
    for (const auto& miss : outcome.misses) {
        recall::put(*miss.world, *miss.violation, variant);
        write(recall::file_name(miss));
    }
    for (const auto& charge : outcome.false_charges) {
        if (charge.lost == 0) {
            variant.clear();
            variant.frames = charge.world->source->frames();
        } else {
            recall::lose(*charge.world, charge.seed, variant);
        }
        write(recall::file_name(charge));
    }
}

/// The lines of the other extent, and of other situations, stay as they are.
std::string new_floor(const recall::Floor& before, const recall::Floor& now, bool is_whole) {
    auto floor = now;
    for (const auto& [key, least] : before)
        if (key.starts_with("whole ") != is_whole) floor.emplace(key, least);
    return recall::floor_text(floor);
}

}  // namespace

void add_recall_options(CLI::App& command, RecallOptions& options) {
    auto* flag = command.add_flag("--recall", options.is_asked,
                                  "Put one violation at a time into legal captures, and count how many are found");
    for (const auto* other : {"--full", "--json", "--pages", "--metamorphic"})
        flag->excludes(command.get_option(other));
    command.add_flag("--whole", options.is_whole, "At every place, not a sample of them")->needs(flag);
    command
        .add_flag(
            "--judges", options.has_judges,
            "Also change the judge: each rule without its proof, each rule dropped, each doubt removed must be missed")
        ->needs(flag);
    command.add_option("--floor", options.floor, "Write what is found at least, for --not-below")
        ->type_name("FILE")
        ->needs(flag)
        ->check(not_empty());
}

int run_recall(const RecallOptions& options, const RecallFiles& files, const std::vector<std::string>& situations,
               std::uint64_t seed) {
    refuse_unknown(situations);
    if (!options.floor.empty() && !situations.empty())
        throw UsageError("--floor tells of all situations: it goes with none");
    make_folder_for("frames", files.frames, "a.pcapng");
    if (!files.not_below.empty() && !std::filesystem::exists(files.not_below))
        throw UsageError(files.not_below + " is not there");
    require_path({files.markdown, options.floor});
    const auto before = read_floor(files.not_below);
    const auto written = read_floor(options.floor);
    StatusLine line;
    stop_on_interrupt();
    const auto worlds = recall::make_worlds({.situations = situations, .seed = seed});
    recall::Run run{.worlds = worlds,
                    .seed = seed,
                    .most_each = options.is_whole ? 0 : of_each_cell,
                    .losses_each = options.is_whole ? many_losses : few_losses};
    run.is_stopped = [] { return fabric::Loop::stop_requested(); };
    if (progress_is_seen())
        run.progress = [&](std::size_t done, std::size_t all) {
            line.show(fmt::format("{} of {} violations in {} worlds", done, all, worlds.size()));
        };
    const auto outcome = recall::execute(run);
    line.clear();
    print(recall::text(outcome));
    const auto now = recall::floor_of(outcome, options.is_whole);
    const auto losses = recall::losses(before, now, outcome, options.is_whole);
    if (outcome.is_interrupted) return exit_worse;
    write(files.markdown, recall::page(outcome));
    write(options.floor, new_floor(written, now, options.is_whole));
    write_frames(files.frames, outcome);
    bool is_needed = true;
    if (options.has_judges) {
        const auto judges = recall::judge_judges(
            {.worlds = worlds, .relations = metamorphic::all_relations(), .seed = seed, .is_stopped = [] {
                 return fabric::Loop::stop_requested();
             }});
        print(recall::text(judges));
        is_needed = judges.are_all_killed();
    }
    const bool is_bound = !files.not_below.empty();
    for (const auto& one : losses)
        if (is_bound) print("less is found: " + one + '\n');
    return outcome.false_charges.empty() && (losses.empty() || !is_bound) && is_needed ? exit_ok : exit_worse;
}

}  // namespace ipoib::conformance
