// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-conform matrix: every two of several implementations, each the other's peer.
#include "conformance/interop/matrix.hpp"

#include "base/atomic_file.hpp"
#include "base/complain.hpp"
#include "conformance/command/against.hpp"
#include "conformance/command/commands.hpp"
#include "conformance/command/output.hpp"
#include "conformance/command/writing.hpp"
#include "conformance/target/meeting_place.hpp"
#include "conformance/target/simulated_target.hpp"
#include "conformance/terminal/numbers.hpp"
#include "conformance/terminal/terminal.hpp"
#include "generated/version.hpp"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <filesystem>

namespace ipoib::conformance {
namespace {

using interop::Implementation, interop::Matrix;

struct MatrixOptions {
    std::vector<std::string> lists, only, badges;
    std::string json, html, markdown, evidence, scenario = "default";
    std::uint64_t seed = 1;
    double timeout_scale = 1;
    bool dry_run = false, quiet = false;
};

/// "FILE", or "NAME=FILE" where there is an implementation of this name.
struct Badge {
    std::string path;
    std::optional<std::size_t> of;
};

std::vector<Implementation> implementations(const MatrixOptions& options) {
    std::vector<Implementation> all;
    for (const auto& path : options.lists) {
        auto loaded = interop::load_implementations(path);
        if (!loaded) throw UsageError(loaded.error);
        for (auto& one : *loaded) {
            // Some file systems do not tell "A" from "a".
            const auto is_same = [&](const Implementation& other) {
                return ::strcasecmp(one.name.c_str(), other.name.c_str()) == 0;
            };
            if (std::ranges::any_of(all, is_same))
                throw UsageError(path + ": there is an implementation \"" + one.name + "\" already");
            all.push_back(std::move(one));
        }
    }
    if (options.only.empty()) return all;
    std::vector<Implementation> chosen;
    for (const auto& name : options.only) {
        const auto found = std::ranges::find(all, name, &Implementation::name);
        if (found == all.end()) throw UsageError("--only: no implementation is called '" + name + "'");
        chosen.push_back(*found);
    }
    return chosen;
}

std::vector<Badge> badges(const MatrixOptions& options, const std::vector<Implementation>& all) {
    std::vector<Badge> wanted;
    for (const auto& text : options.badges) {
        const auto sign = text.find('=');
        const auto found =
            sign == std::string::npos ? all.end() : std::ranges::find(all, text.substr(0, sign), &Implementation::name);
        const auto name = text.substr(0, sign);
        if (found == all.end() && sign != std::string::npos && name.find('/') == std::string::npos)
            throw UsageError("--badge: no implementation is called '" + name + "'");
        if (found == all.end())
            wanted.push_back({text, std::nullopt});
        else
            wanted.push_back({text.substr(sign + 1), static_cast<std::size_t>(found - all.begin())});
        if (wanted.back().path.empty()) throw UsageError("--badge: '" + text + "' names no file");
    }
    return wanted;
}

MeetingPlaceOptions place_of(const Implementation& dut, const Implementation& against, const MatrixOptions& options) {
    MeetingPlaceOptions place{.scenario = options.scenario, .timeout_scale = options.timeout_scale};
    const auto contender = [](const Implementation& one) -> Contender {
        return {.dut = one.dut,
                .start = one.start,
                .interface = one.interface,
                .starts_within = std::chrono::seconds{one.starts_within}};
    };
    place.contenders = {contender(dut), contender(against)};
    return place;
}

/// Refuses what cannot be before anything begins.
std::unique_ptr<interop::Place> make_place(const Implementation& dut, const Implementation& against,
                                           const MatrixOptions& options) {
    try {
        return make_meeting_place(place_of(dut, against, options));
    } catch (const std::invalid_argument& wrong) {
        throw UsageError(dut.name + " and " + against.name + ": " + wrong.what());
    }
}

template <class Visit>
void each_pair(const std::vector<Implementation>& all, const Visit& visit) {
    for (std::size_t i = 0; i < all.size(); ++i)
        for (std::size_t j = i; j < all.size(); ++j) visit(i, j);
}

int rehearse(const std::vector<Implementation>& all, const MatrixOptions& options) {
    std::string text;
    std::size_t pairs = 0, real = 0;
    const auto is_real = [](const Implementation& one) { return one.dut.starts_with(exec_prefix); };
    each_pair(all, [&](std::size_t i, std::size_t j) {
        const bool takes_time = is_real(all[i]) || is_real(all[j]);
        text += fmt::format("{} and {}{}\n", all[i].name, all[j].name, takes_time ? "" : " (virtual time)");
        ++pairs;
        real += takes_time ? 1 : 0;
    });
    std::chrono::seconds longest{};
    for (const auto* one : interop::all_exchanges()) longest += one->lasts_at_most;
    print(text + fmt::format("{} pairs, {} of them in real time, each at most {:g} s and what the two take.\n"
                             "Nothing was started or sent.\n",
                             pairs, real, static_cast<double>(longest.count()) * options.timeout_scale));
    return exit_ok;
}

std::string folder_of(const MatrixOptions& options, const Implementation& dut, const Implementation& against) {
    if (options.evidence.empty()) return {};
    auto folder = (std::filesystem::path(options.evidence) / (dut.name + "--" + against.name)).string();
    make_evidence_folder(folder);
    return folder;
}

interop::Cell meet(const std::vector<Implementation>& all, std::size_t i, std::size_t j, const MatrixOptions& options) {
    auto run = chosen_exchanges({});
    run.options = {.seed = options.seed,
                   .timeout_scale = options.timeout_scale,
                   .settings = {{all[i].mode, all[i].mtu}, {all[j].mode, all[j].mtu}}};
    run.evidence = folder_of(options, all[i], all[j]);
    const auto place = make_place(all[i], all[j], options);
    return interop::cell_of(i, j, interop::run(run, *place));
}

bool write_all(const Matrix& matrix, const MatrixOptions& options, const std::vector<Badge>& wanted) {
    std::vector<std::function<std::string()>> writers;
    const auto add = [&](const std::string& option, const std::string& path, std::string text) {
        if (path.empty()) return;
        writers.emplace_back([=, text = std::move(text)] {
            const auto problem = write_atomically(path, text);
            return problem.empty() ? problem : option + ' ' + problem;
        });
    };
    add("--json", options.json, interop::matrix_json(matrix));
    add("--html", options.html, interop::matrix_html(matrix));
    add("--markdown", options.markdown, interop::matrix_markdown(matrix));
    for (const auto& one : wanted)
        add("--badge", one.path, one.of ? interop::badge(matrix, *one.of) : interop::badge(matrix));
    return write_each(writers);
}

int run_matrix(const MatrixOptions& options, const std::vector<std::string>& command) {
    const auto all = implementations(options);
    const auto wanted = badges(options, all);
    each_pair(all, [&](std::size_t i, std::size_t j) { static_cast<void>(make_place(all[i], all[j], options)); });
    std::vector<std::string> outputs{options.json, options.html, options.markdown};
    for (const auto& one : wanted) outputs.push_back(one.path);
    refuse_same_files(outputs, options.lists);
    if (options.dry_run) return rehearse(all, options);
    require_path(outputs);
    make_evidence_folder(options.evidence);

    Matrix matrix{.suite = std::string(suite_version),
                  .command = command,
                  .scenario = options.scenario,
                  .seed = options.seed,
                  .implementations = all};
    stop_on_interrupt();
    const RunClock clock;
    StatusLine line;
    std::size_t number = 0;
    const auto count = all.size() * (all.size() + 1) / 2;
    auto& was_stopped = matrix.is_interrupted;
    each_pair(all, [&](std::size_t i, std::size_t j) {
        was_stopped = was_stopped || fabric::Loop::stop_requested();
        if (was_stopped) return;
        if (progress_is_seen() && !options.quiet)
            line.show(fmt::format("[{}/{}] {} and {}", ++number, count, all[i].name, all[j].name));
        auto cell = meet(all, i, j, options);
        was_stopped = fabric::Loop::stop_requested();
        // Of a pair that is not whole nothing is said.
        if (!was_stopped) matrix.cells.push_back(std::move(cell));
    });
    fabric::Loop::clear_stop();
    line.clear();
    reports::Results head;
    clock.complete(head, {.seed = options.seed}, command);
    matrix.started = head.started;
    matrix.seconds = head.seconds;
    const bool is_written = write_all(matrix, options, wanted);
    if (!options.quiet) print(interop::matrix_text(matrix));
    return is_written ? matrix.exit_code() : exit_fault;
}

Action set_up_matrix(CLI::App& command, const std::string&) {
    auto options = std::make_shared<MatrixOptions>();
    command
        .add_option("LIST.toml", options->lists,
                    "Implementations, [[implementation]] each: name, adapter or dut, start, ... (docs/registering.md)")
        ->required()
        ->type_name("...");
    const auto add = [&](const char* name, std::string& into, const char* what, const char* type) {
        command.add_option(name, into, what)->check(not_empty())->type_name(type);
    };
    command.add_option("--only", options->only, "These implementations of the lists only, in this order")
        ->delimiter(',')
        ->type_name("NAME,...");
    add("--json", options->json, "Write what came out as JSON", "FILE");
    add("--html", options->html, "Write it as a page", "FILE");
    add("--markdown", options->markdown, "Write it as Markdown, without times", "FILE");
    command
        .add_option("--badge", options->badges,
                    "Write an SVG image: how many pairs do together all that both can; as NAME=FILE those of one "
                    "implementation")
        ->type_name("FILE");
    add("--evidence", options->evidence, "Keep the frames of each exchange, a folder for each pair", "DIR");
    add("--scenario", options->scenario, "How the link is set up, as for run", "NAME");
    command.add_option("--timeout-scale", options->timeout_scale, "Waits so many times as long (0.1 to 1000)")
        ->check(from_to(0.1, 1000.0))
        ->type_name("X");
    add_seed_option(command, options->seed, "Where random numbers begin; the same seed gives the same run");
    command.add_flag("--dry-run", options->dry_run, "Start nothing; list the pairs, and how long they may take");
    command.add_flag("--quiet", options->quiet, "Print nothing but what is wrong with the call");
    command.footer(
        "Exit code: 0 nobody broke anything, 1 somebody did, 3 an adapter or the fabric at fault or interrupted,\n"
        "5 inconclusive, 4 nothing was judged, 2 wrong usage.");
    return [options, &command] { return run_matrix(*options, words_of(command, options->lists)); };
}

}  // namespace

namespace command {

extern const Command matrix{.name = "matrix",
                            .about = "Let every two of several implementations talk, and say who broke what",
                            .set_up = set_up_matrix};

}  // namespace command
}  // namespace ipoib::conformance
