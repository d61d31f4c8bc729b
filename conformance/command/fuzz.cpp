// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-conform fuzz: whether a node outlives what nobody has thought of.
#include "conformance/fuzz/fuzz.hpp"

#include "base/atomic_file.hpp"
#include "base/complain.hpp"
#include "conformance/command/commands.hpp"
#include "conformance/command/output.hpp"
#include "conformance/command/reading.hpp"
#include "conformance/command/report_options.hpp"
#include "conformance/command/usage.hpp"
#include "conformance/command/writing.hpp"
#include "conformance/fuzz/corpus.hpp"
#include "conformance/target/simulated_target.hpp"
#include "conformance/terminal/numbers.hpp"
#include "conformance/terminal/terminal.hpp"
#include "fabric/loop.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <filesystem>

namespace ipoib::conformance {
namespace {

struct FuzzOptions {
    std::string listen, dut, interface, scenario = "default", target = "all", corpus, out, replay, coverage;
    double seconds = 0, timeout_scale = 1, deadline = 30;
    std::uint64_t sessions = 0, seed = 1;
    std::size_t most_found = 0;
    unsigned repeat = 1, tries = 60;
};
constexpr std::uint64_t usual_sessions = 1000;
constexpr std::string_view exec_of_fuzz = "exec:";
constexpr std::array<std::string_view, 4> targets{"ipoib", "cm", "sa", "all"};

fuzz::Arena::Options arena_options(const FuzzOptions& options, const std::string& scenario, StatusLine& line) {
    return {.listen = options.listen,
            .command = options.dut.substr(exec_of_fuzz.size()),
            .interface = options.interface,
            .scenario = scenario,
            .timeout_scale = options.timeout_scale,
            .seed = options.seed,
            .deadline = std::chrono::duration_cast<fabric::Duration>(std::chrono::duration<double>(options.deadline)),
            .remark = [&line](const std::string& words) {
                line.clear();
                complain("ipoib-conform", words);
            }};
}

std::string words_of(const fuzz::Finding& finding) {
    std::string all;
    for (const auto& words : finding.words) all += words + '\n';
    if (!finding.evidence.empty()) all += '\n' + finding.evidence;
    return all;
}

int replay_session(const FuzzOptions& options) {
    const auto content = text_of(options.replay);
    const auto session = told_apart([&] {
        try {
            return fuzz::parse_session(content);
        } catch (const std::invalid_argument& wrong) {
            throw std::invalid_argument(options.replay + ": " + wrong.what());
        }
    });
    StatusLine line;
    stop_on_interrupt();
    const auto arena =
        told_apart([&] { return std::make_unique<fuzz::Arena>(arena_options(options, session.scenario, line)); });
    std::optional<fuzz::Finding> found;
    for (unsigned i = 0; i < options.repeat && !found && !fabric::Loop::stop_requested(); ++i)
        found = told_apart([&] { return arena->play(session); });
    line.clear();
    if (fabric::Loop::stop_requested()) throw Fault("interrupted");
    if (!found) {
        print(fmt::format("{} operations, and the node is well\n", session.operations.size()));
        return exit_ok;
    }
    print(fmt::format("{}: {}", fuzz::name(found->kind), words_of(*found)));
    return exit_worse;
}

/// What was found, beside each session a file of its words. Numbers go on from those of earlier searches.
class FindingFolder {
public:
    explicit FindingFolder(std::string folder) : folder_(std::move(folder)) {
        make_folder_for("findings", folder_, "001.json");
        if (folder_.empty()) return;
        std::error_code error;
        for (auto entry = std::filesystem::directory_iterator(folder_, error);
             !error && entry != std::filesystem::directory_iterator{}; entry.increment(error)) {
            unsigned number = 0;
            const auto name = entry->path().filename().string();
            const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), number);
            if (problem == std::errc{} && *end == '-' && number < most_number) number_ = std::max(number_, number);
        }
    }
    void keep(const fuzz::Found& found) {
        if (folder_.empty()) return;
        const auto stem = std::filesystem::path(folder_) / fmt::format("{:03}-{}", ++number_, name(found.finding.kind));
        write(stem.string() + ".json", fuzz::text(found.session, {found.finding.key()}));
        write(stem.string() + ".txt", words_of(found.finding));
    }

private:
    static void write(const std::string& path, const std::string& text) {
        if (const auto error = write_atomically(path, text); !error.empty()) throw Fault(error);
    }
    static constexpr unsigned most_number = 1'000'000;
    std::string folder_;
    unsigned number_ = 0;
};

void write_coverage(const std::string& path, const std::set<std::string>& blocks) {
    if (path.empty()) return;
    std::string all;
    for (const auto& block : blocks) all += block + '\n';
    if (const auto error = write_atomically(path, all); !error.empty()) throw Fault(error);
}

int run_search(const FuzzOptions& options) {
    fuzz::Search search{.seed = options.seed,
                        .scenario = options.scenario,
                        .areas = fuzz::areas_of(options.target),
                        .corpus = {},
                        .most_found = options.most_found,
                        .most_tries = options.tries};
    FindingFolder folder(options.out);
    require_path({options.coverage});
    if (!options.corpus.empty()) {
        auto corpus = told_apart([&] { return fuzz::read_corpus(options.corpus, options.scenario); });
        for (const auto& note : corpus.notes) complain("ipoib-conform", note);
        complain("ipoib-conform", fmt::format("{} sessions to begin with; {} frames of evidence, {} of them different",
                                              corpus.sessions.size(), corpus.frames, corpus.different));
        search.corpus = std::move(corpus.sessions);
    }
    if (options.seconds > 0)
        search.time =
            std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::duration<double>(options.seconds));
    if (options.sessions > 0) search.sessions = options.sessions;
    if (!search.time && !search.sessions) search.sessions = usual_sessions;
    StatusLine line;
    search.seen = [&](const fuzz::Finding& finding, double after) {
        line.clear();
        complain("ipoib-conform",
                 fmt::format("after {:.0f} s: {}; it is repeated, and made smaller", after, finding.key()));
    };
    search.found = [&](const fuzz::Found& found) { folder.keep(found); };
    if (progress_is_seen())
        search.progress = [&](const fuzz::Progress& progress) {
            line.show(fmt::format("{} sessions, {} blocks, {} kinds, {} kept, {} found", progress.sessions,
                                  progress.blocks, progress.kinds, progress.corpus, progress.found));
        };
    stop_on_interrupt();
    const auto arena =
        told_apart([&] { return std::make_unique<fuzz::Arena>(arena_options(options, options.scenario, line)); });
    const auto searched = told_apart([&] { return fuzz::search(*arena, search); });
    line.clear();
    print(fuzz::text(searched));
    write_coverage(options.coverage, searched.blocks);
    if (!searched.broken.empty()) throw Fault(searched.broken);
    return searched.found.empty() ? exit_ok : exit_worse;
}

int run_fuzz(const FuzzOptions& options) {
    if (!options.dut.starts_with(exec_of_fuzz) || options.dut.size() == exec_of_fuzz.size())
        throw UsageError("--dut is exec:COMMAND, an adapter, not '" + options.dut + "'");
    return options.replay.empty() ? run_search(options) : replay_session(options);
}

void add_search_options(CLI::App& command, FuzzOptions& options) {
    command
        .add_option(
            "--for", options.seconds,
            "Until so much time has passed: 90s, 10min, 1h. What is found by then is made smaller in as much time "
            "again, two minutes at least")
        ->transform(CLI::AsNumberWithUnit(std::map<std::string, double>{{"s", 1}, {"min", 60}, {"h", 3600}}))
        ->check(positive())
        ->type_name("TIME");
    command
        .add_option("--sessions", options.sessions,
                    fmt::format("So many sessions; without this and --for {}", usual_sessions))
        ->check(positive())
        ->type_name("N");
    command
        .add_option(
            "--target", options.target,
            "ipoib: datagrams; cm: connections; sa: what managers and administrators say; all. What the link and "
            "the node's host do belongs to each")
        ->check(CLI::IsMember(std::vector<std::string>(targets.begin(), targets.end())))
        ->type_name("TARGET");
    command
        .add_option(
            "--corpus", options.corpus,
            "Begin with the sessions in this folder, and with what testers have sent in evidence (run --evidence)")
        ->check(not_empty())
        ->type_name("DIR");
    command.add_option("--most", options.most_found, "End with so many findings")->check(positive())->type_name("N");
    command.add_option("--shrink-tries", options.tries, "Sessions that are played to make a finding smaller")
        ->check(CLI::Range(1u, 10'000u))
        ->type_name("N");
    command
        .add_option("--out", options.out,
                    "Write what is found into a folder: a session to replay, and the node's words")
        ->check(not_empty())
        ->type_name("DIR");
    command
        .add_option("--coverage", options.coverage, "Write the blocks of code that ran, where the adapter tells them")
        ->check(not_empty())
        ->type_name("FILE");
}

Action set_up_fuzz(CLI::App& command, const std::string&) {
    auto options = std::make_shared<FuzzOptions>();
    command.add_option("--listen", options->listen, "Open a raw port at this path, for the node in another process")
        ->required()
        ->check(not_empty())
        ->type_name("PATH");
    command.add_option("--dut", options->dut, "exec:COMMAND, an adapter of what is plugged in there")
        ->required()
        ->type_name("DUT");
    command.add_option("--interface", options->interface, "The node's interface; else its adapter's first")
        ->check(not_empty())
        ->type_name("NAME");
    command.add_option("--scenario", options->scenario, "How the link is set up: " + scenario_names())
        ->check(not_empty())
        ->type_name("NAME");
    command.add_option("--timeout-scale", options->timeout_scale, "Waits so many times as long (0.1 to 1000)")
        ->check(from_to(0.1, 1000.0))
        ->type_name("X");
    command
        .add_option("--deadline", options->deadline,
                    "Seconds in which the node must answer an echo request and be a member, after each session")
        ->check(from_to(1.0, 3600.0))
        ->type_name("SECONDS");
    add_seed_option(command, options->seed, "Where random numbers begin");
    add_search_options(command, *options);
    auto* replay = command.add_option("--replay", options->replay, "Play the session of this file, and no other")
                       ->check(not_empty())
                       ->type_name("FILE");
    command.add_option("--repeat", options->repeat, "With --replay: until it shows something, at most so many times")
        ->needs(replay)
        ->check(CLI::Range(1u, 10'000u))
        ->type_name("N");
    // A session has its own scenario.
    for (const auto* other : {"--for", "--sessions", "--target", "--corpus", "--most", "--out", "--coverage",
                              "--scenario", "--shrink-tries"})
        replay->excludes(command.get_option(other));
    command.footer(
        "Exit code: 0 the node is well after every session, 1 something was found, 2 wrong usage, 3 a fault.");
    return [options] { return run_fuzz(*options); };
}

}  // namespace

namespace command {

extern const Command fuzz{.name = "fuzz",
                          .about = "Do to a node what nobody has thought of, and see whether it outlives it",
                          .set_up = set_up_fuzz};

}  // namespace command
}  // namespace ipoib::conformance
