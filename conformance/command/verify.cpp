// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-conform verify: recorded evidence judged again, without DUT and fabric.
#include "base/complain.hpp"
#include "base/one_line.hpp"
#include "conformance/command/commands.hpp"
#include "conformance/command/output.hpp"
#include "conformance/command/report_options.hpp"
#include "conformance/command/run_record.hpp"
#include "conformance/command/usage.hpp"
#include "conformance/replay/bundle.hpp"
#include "conformance/terminal/terminal.hpp"
#include "fabric/loop.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

namespace ipoib::conformance {
namespace {

struct VerifyOptions {
    std::string source;
};

std::string counts_of(const reports::Results& results) {
    std::map<reports::Verdict, std::size_t> counts;
    for (const auto& result : results.results) ++counts[result.verdict];
    std::string text;
    for (const auto& [verdict, count] : counts)
        text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, reports::name(verdict));
    return text;
}

/// Tells what came out; the exit code.
int tell(const VerifyOptions& options, const replay::Verified& verified) {
    constexpr std::size_t most_told = 50;
    for (std::size_t i = 0; i < std::min(verified.wrong.size(), most_told); ++i)
        say("does not fit: {}\n", one_line(verified.wrong[i]));
    if (verified.wrong.size() > most_told) say("and {} more\n", verified.wrong.size() - most_told);
    const auto* const called = verified.record.is_meeting() ? "exchanges" : "cases";
    if (verified.left_out.empty())
        say("{} {} were played again on {} frames: {}\n", verified.scenes, called, verified.frames,
            counts_of(verified.results));
    else
        say("{} of {} {} were played again; nothing is said of the others, nor of the rules\n", verified.scenes,
            verified.scenes + verified.left_out.size(), called);
    if (!verified.of_other_suite.empty())
        say("recorded by another state of the suite ({}): {} of its texts are others here, such as {}\n",
            one_line(verified.record.suite), verified.of_other_suite.size(), one_line(verified.of_other_suite.front()));
    if (!verified.wrong.empty()) {
        say("{} does not hold what its verdicts say\n", options.source);
        return exit_worse;
    }
    say("{}: each {} does what it did, and each verdict comes out as it is recorded\n", options.source,
        verified.record.is_meeting() ? "exchange" : "case");
    return exit_ok;
}

int run_verify(const VerifyOptions& options) {
    StatusLine line;
    std::function<void(std::size_t, std::size_t)> progress;
    if (progress_is_seen())
        progress = [&](std::size_t number, std::size_t count) { line.show(fmt::format("[{}/{}]", number, count)); };
    stop_on_interrupt();
    const auto verified = told_apart([&] {
        return std::filesystem::is_directory(options.source)
                   ? replay::verify(options.source, options.source, progress)
                   : replay::verify_bundle(options.source, suite_texts(), progress);
    });
    line.clear();
    if (fabric::Loop::stop_requested()) throw Fault("interrupted: nothing is said of " + options.source);
    return tell(options, verified);
}

Action set_up_verify(CLI::App& command, const std::string&) {
    auto options = std::make_shared<VerifyOptions>();
    command.add_option("BUNDLE|EVIDENCE", options->source, "The file of run --bundle, or the folder of run --evidence")
        ->required()
        ->check(not_empty())
        ->type_name(" ");
    command.footer(
        "Exit code: 0 everything comes out as it is recorded, 1 something does not fit, 2 it is no evidence or cannot "
        "be\n"
        "played again, 3 a fault.");
    return [options] { return run_verify(*options); };
}

}  // namespace

namespace command {

extern const Command verify{.name = "verify",
                            .about = "Judge recorded evidence again, without DUT and fabric, and compare the verdicts",
                            .set_up = set_up_verify};

}  // namespace command
}  // namespace ipoib::conformance
