// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-conform shrink: the fewest frames, steps or events that still show a finding.
#include "base/atomic_file.hpp"
#include "base/complain.hpp"
#include "base/one_line.hpp"
#include "conformance/command/commands.hpp"
#include "conformance/command/knowledge_options.hpp"
#include "conformance/command/output.hpp"
#include "conformance/command/reading.hpp"
#include "conformance/command/report_options.hpp"
#include "conformance/command/run_again.hpp"
#include "conformance/excerpt/excerpt.hpp"
#include "conformance/explore/explore.hpp"
#include "conformance/target/simulated_target.hpp"
#include "conformance/terminal/terminal.hpp"
#include "fabric/loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>

namespace ipoib::conformance {
namespace {

struct ShrinkOptions {
    std::string source, finding, out, dut = "reference";
    KnowledgeOptions knowledge;
};

/// "RULE-RFC4391-6-02#17": the finding, and the frame that shows it.
excerpt::Wanted wanted(const std::string& finding) {
    const auto mark = finding.find('#');
    if (mark == std::string::npos) return {.name = finding};
    excerpt::Wanted wanted{.name = finding.substr(0, mark)};
    const auto *first = finding.data() + mark + 1, *last = finding.data() + finding.size();
    const auto [end, error] = std::from_chars(first, last, wanted.frame);
    if (error != std::errc{} || end != last || wanted.frame == 0)
        throw UsageError("'" + finding + "': behind # stands the number of a frame, from 1");
    return wanted;
}

/// The file is written whole, or not at all.
void keep_whole(const std::string& path, const std::string& content) {
    if (const auto error = write_atomically(path, content); !error.empty()) throw Fault("--out " + error);
}

[[noreturn]] void end_unwritten(const std::string& out) { throw Fault("interrupted: " + out + " was not written"); }

int shrink_capture(const ShrinkOptions& options) {
    StatusLine line;
    excerpt::Request request{.capture = options.source,
                             .wanted = wanted(options.finding),
                             .judge = judge_options(options.knowledge),
                             .is_stopped = capture::stop_requested};
    if (progress_is_seen())
        request.progress = [&](std::size_t frames, std::size_t tries) {
            line.show(fmt::format("{} frames are left after {} tries", frames, tries));
        };
    stop_on_interrupt();
    excerpt::Excerpt excerpt;
    std::string why_not;
    try {
        excerpt = told_apart([&] {
            try {
                return excerpt::fewest_frames(request);
            } catch (const excerpt::NotThere& why) {
                why_not = why.what();
                return excerpt::Excerpt{};
            }
        });
    } catch (const Fault&) {
        if (capture::stop_requested()) end_unwritten(options.out);
        throw;
    }
    line.clear();
    if (capture::stop_requested()) end_unwritten(options.out);
    if (!why_not.empty()) {
        complain("ipoib-conform", why_not);
        return exit_worse;
    }
    keep_whole(options.out, excerpt.file);
    std::string numbers;
    constexpr std::size_t most_named = 40;
    for (std::size_t i = 0; i < std::min(excerpt.frames.size(), most_named); ++i)
        numbers += (i == 0 ? "" : ", ") + std::to_string(excerpt.frames[i]);
    if (excerpt.frames.size() > most_named) numbers += " ...";
    say("{} of {} frames show {}: {}\n", excerpt.frames.size(), excerpt.of, options.finding, numbers);
    if (!excerpt.is_minimal) print("there may be fewer: no more was tried\n");
    for (const auto& other : excerpt.others) say("the same frames show {}, too\n", other);
    return exit_ok;
}

explore::Playing playing_of(const ShrinkOptions& options) {
    if (options.dut == "reference") return {};
    const auto* mutant = told_apart([&] { return mutant_named(options.dut, "mutant:"); });
    if (!mutant || mutant->sa)
        throw UsageError("--dut: schedules are played against reference or mutant:NAME, not '" + options.dut + "'");
    return {.mutant = mutant};
}

/// Of what a schedule breaks the first that is meant: an invariant, a rule, or a requirement.
const explore::Violation* meant(const std::vector<explore::Violation>& violations, const std::string& finding) {
    const auto found = std::ranges::find_if(violations, [&](const explore::Violation& one) {
        return one.invariant == finding || one.key() == finding || (one.requirement && one.requirement->id == finding);
    });
    return found == violations.end() ? nullptr : &*found;
}

int shrink_schedule(const ShrinkOptions& options, const std::string& content) {
    const auto schedule = told_apart([&] {
        try {
            return explore::parse_schedule(content);
        } catch (const std::invalid_argument& wrong) {
            throw std::invalid_argument(options.source + ": " + wrong.what());
        }
    });
    const auto playing = playing_of(options);
    stop_on_interrupt();
    const auto outcome = told_apart([&] { return explore::play(schedule, playing); });
    const auto* violation = meant(outcome.violations, options.finding);
    if (fabric::Loop::stop_requested()) end_unwritten(options.out);
    if (!violation) {
        std::string others;
        for (const auto& one : outcome.violations) others += (others.empty() ? "it breaks " : ", ") + one.key();
        complain("ipoib-conform", fmt::format("{} does not show {}: {}", options.source, options.finding,
                                              others.empty() ? "it breaks nothing" : others));
        return exit_worse;
    }
    const auto found = explore::shrunk(schedule, *violation, playing);
    if (fabric::Loop::stop_requested()) end_unwritten(options.out);
    keep_whole(options.out, explore::text(found.schedule, {fmt::format("{}: {}", explore::name(found.violation.weight),
                                                                       found.violation.what)}));
    say("{} of {} events show {}:\n", found.schedule.steps.size(), schedule.steps.size(), options.finding);
    print(explore::text(found.schedule, {found.violation}));
    return exit_ok;
}

int shrink_run(const ShrinkOptions& options) {
    StatusLine line;
    AgainOptions again{.results = options.source, .finding = options.finding, .out = options.out};
    if (progress_is_seen()) again.progress = [&](const std::string& words) { line.show(words); };
    stop_on_interrupt();
    const auto shortest = run_again(again);
    line.clear();
    if (fabric::Loop::stop_requested()) end_unwritten(options.out);
    if (!shortest.why_not.empty()) {
        complain("ipoib-conform", shortest.why_not);
        return exit_worse;
    }
    keep_whole(options.out, shortest.file);
    say("{} of {} cases, {} of {} steps of the last show {}: {}\n", shortest.cases.size(), shortest.of_cases,
        shortest.steps, shortest.of_steps, options.finding, shortest.cases.back());
    print(shortest.repeat + '\n');
    return exit_ok;
}

/// The octets that the file begins with, white space left out.
bool is_json(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    if (!file) throw UsageError(path + " cannot be read");
    char first = 0;
    return file >> first && first == '{';
}

int run_shrink(const ShrinkOptions& options) {
    if (options.source == "-") throw UsageError("what is shrunk is read more than once: a file, not standard input");
    refuse_same_files({options.out}, {options.source});
    const bool is_capture = !is_json(options.source);
    if (const auto why_not = why_not_writable(options.out); !why_not.empty()) throw Fault("--out " + why_not);
    if (is_capture) return shrink_capture(options);
    if (!words_of(options.knowledge).empty())
        throw UsageError("--assume, --sa, --subject, --together are for captures");
    if (is_results(options.source)) return shrink_run(options);
    return shrink_schedule(options, text_of(options.source));
}

Action set_up_shrink(CLI::App& command, const std::string&) {
    auto options = std::make_shared<ShrinkOptions>();
    command
        .add_option("CAPTURE|RUN", options->source,
                    "A capture; the results of a run as JSON (run --json); or a schedule (explore --out)")
        ->required()
        ->type_name(" ");
    command
        .add_option("FINDING", options->finding,
                    "Of a capture: a rule or requirement that it breaks, RULE#FRAME for what that frame shows, or a "
                    "finding of links; of a run: a case, rule or requirement; of a schedule: an invariant")
        ->required()
        ->check(not_empty())
        ->type_name(" ");
    command.add_option("--out", options->out, "The smallest that shows the same: pcapng; of a schedule JSON")
        ->required()
        ->check(not_empty())
        ->type_name("FILE");
    add_knowledge_options(command, options->knowledge, true);
    command.add_option("--dut", options->dut, "Whom a schedule is played against: reference or mutant:NAME")
        ->check(not_empty())
        ->type_name("DUT");
    command.footer("Exit code: 0 it was written, 1 what is named does not show the finding, 2 wrong usage, 3 a fault.");
    return [options] { return run_shrink(*options); };
}

}  // namespace

namespace command {

extern const Command shrink{.name = "shrink",
                            .about = "A capture, run or schedule as small as it can be with the same finding",
                            .set_up = set_up_shrink};

}  // namespace command
}  // namespace ipoib::conformance
