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
#include "conformance/explore/remote.hpp"
#include "conformance/target/simulated_target.hpp"
#include "conformance/terminal/numbers.hpp"
#include "conformance/terminal/terminal.hpp"
#include "fabric/loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>

namespace ipoib::conformance {
namespace {

struct ShrinkOptions {
    std::string source, finding, out, dut = "reference", listen, interface;
    double timeout_scale = 1;
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

/// A DUT in another process, where there is one.
std::unique_ptr<explore::RemoteDut> remote_of(const ShrinkOptions& options) {
    const bool is_exec = options.dut.starts_with(exec_prefix);
    if (is_exec && options.listen.empty()) throw UsageError("a DUT in another process needs a raw port: --listen PATH");
    if (!is_exec && !options.listen.empty())
        throw UsageError("--listen is for a DUT in another process (--dut exec:COMMAND)");
    if (!is_exec) return nullptr;
    if (options.dut.size() == exec_prefix.size()) throw UsageError("--dut exec: names no command");
    return std::make_unique<explore::RemoteDut>(
        explore::RemoteDut::Options{.listen = options.listen,
                                    .command = options.dut.substr(exec_prefix.size()),
                                    .interface = options.interface,
                                    .timeout_scale = options.timeout_scale,
                                    .remark = [](const std::string& words) { complain("ipoib-conform", words); }});
}

explore::Playing playing_of(const ShrinkOptions& options, explore::RemoteDut* remote) {
    if (options.dut == "reference" || remote) return {.remote = remote};
    const auto* mutant = told_apart([&] { return mutant_named(options.dut, "mutant:"); });
    if (!mutant || mutant->sa)
        throw UsageError("--dut: schedules are played against reference, mutant:NAME or exec:COMMAND, not '" +
                         options.dut + "'");
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
    const auto remote = remote_of(options);
    const auto playing = playing_of(options, remote.get());
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
    // There each try takes seconds, and each step is left out once.
    const auto found = remote ? explore::shrunk_together(schedule, {*violation}, playing).front()
                              : explore::shrunk(schedule, *violation, playing);
    if (fabric::Loop::stop_requested()) end_unwritten(options.out);
    if (fabric::Loop::stop_requested()) end_unwritten(options.out);
    keep_whole(options.out, explore::text(found.schedule, {fmt::format("{}: {}", explore::name(found.violation.weight),
                                                                       found.violation.what)}));
    say("{} of {} events show {}:\n", found.schedule.steps.size(), schedule.steps.size(), options.finding);
    print(explore::text(found.schedule, {found.violation}));
    return exit_ok;
}

int shrink_run(const ShrinkOptions& options) {
    StatusLine line;
    AgainOptions again{.results = options.source, .finding = options.finding, .out = options.out, .dut = options.dut};
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
    command
        .add_option("--dut", options->dut,
                    "Whom a schedule is played against: reference, mutant:NAME or exec:COMMAND; of a run: the "
                    "command that its results name, if it may be started")
        ->check(not_empty())
        ->type_name("DUT");
    command
        .add_option("--listen", options->listen,
                    "The raw port of a DUT in another process: a socket that is made at PATH")
        ->check(not_empty())
        ->type_name("PATH");
    command.add_option("--interface", options->interface, "The interface of such a DUT, as its adapter names it")
        ->check(not_empty())
        ->type_name("NAME");
    command.add_option("--timeout-scale", options->timeout_scale, "Waits so many times as long for it (0.1 to 1000)")
        ->check(from_to(0.1, 1000.0))
        ->type_name("X");
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
