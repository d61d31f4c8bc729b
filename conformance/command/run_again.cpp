// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/command/run_again.hpp"

#include "base/temporary_folder.hpp"
#include "conformance/bench/order.hpp"
#include "conformance/command/report_options.hpp"
#include "conformance/command/target_options.hpp"
#include "conformance/command/usage.hpp"
#include "conformance/judge/passive.hpp"
#include "conformance/shrink/shrink.hpp"
#include "fabric/capture/writer.hpp"
#include "protocol/requirements/catalogue.hpp"
#include "reports/json.hpp"
#include "reports/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>

namespace ipoib::conformance {
using reports::Verdict;

namespace {

/// A run in other processes takes its time for each try.
constexpr std::size_t most_tries = 300;

reports::Results results_in(const std::string& path) {
    auto loaded = reports::read_json(path);
    if (!loaded) throw UsageError(loaded.error);
    return std::move(*loaded);
}

/// What the run was told of its target.
struct Words {
    TargetOptions target;
    std::string order = text(Order{});
};

/// Results come from elsewhere: a command in them is started only where the user names it, too.
Words told_to(const reports::Results& results, const std::string& path, const std::string& allowed) {
    const auto& command = results.command;
    const auto verb = std::ranges::find(command, "run");
    if (verb == command.end())
        throw UsageError(path + ": its command is none of ipoib-conform run, so that it cannot be repeated");
    Words words;
    CLI::App app;
    app.allow_extras();
    add_target_options(app, words.target);
    add_permission_options(app, words.target);
    app.add_option("--order", words.order);
    std::vector<std::string> rest{verb + 1, command.end()};
    std::ranges::reverse(rest);
    try {
        app.parse(rest);
    } catch (const CLI::ParseError& wrong) {
        throw UsageError(path + ": its command cannot be repeated: " + wrong.what());
    }
    // A profile may name it as well.
    const auto dut = aim(words.target, results.seed).target.dut;
    if (dut.starts_with("exec:") && dut != allowed)
        throw UsageError(fmt::format("{} would start a command, {}: if it shall, give the same as --dut", path,
                                     reports::sh_word(dut)));
    return words;
}

bool is_against(Verdict verdict) {
    return verdict == Verdict::fail || verdict == Verdict::xfail || verdict == Verdict::warn ||
           verdict == Verdict::inconc;
}

/// Whether a verdict on `id` is one on the requirement.
bool implies(const std::string& id, const std::string& requirement) {
    const auto* checked = requirements::find(id);
    if (!checked) return false;
    const auto implied = requirements::closure(*checked);
    return std::ranges::find(implied, requirement) != implied.end();
}

/// Of a result that judges several requirements each has a verdict of its own.
bool shows(const reports::Result& result, const std::string& requirement) {
    if (!is_against(result.verdict)) return false;
    if (result.id == requirement) return true;
    if (result.parts.empty())
        return std::ranges::any_of(result.checks, [&](const auto& id) { return implies(id, requirement); });
    return std::ranges::any_of(
        result.parts, [&](const auto& part) { return is_against(part.verdict) && implies(part.id, requirement); });
}

/// The case that shows it, and what of its result must stay.
struct Goal {
    const Case* last = nullptr;
    std::string rule;  ///< the rule that its frames break; empty: the case's own verdict counts
    Verdict verdict = Verdict::fail;
};

const Case* case_of(const std::string& scene) {
    if (const auto* one = find_case(scene)) return one;
    return find_case(scene.substr(0, scene.rfind('-')));  // a repetition
}

std::optional<Goal> goal_in(const reports::Results& results, const std::string& finding) {
    const auto goal_of = [](const reports::Result& result) -> std::optional<Goal> {
        const auto verdict = result.verdict == Verdict::xfail ? Verdict::fail : result.verdict;
        if (const auto* one = find_case(result.id)) return Goal{.last = one, .rule = {}, .verdict = verdict};
        if (result.cases.empty()) return {};
        const auto* first = case_of(result.cases.front().id);
        return first ? std::optional{Goal{.last = first, .rule = result.id, .verdict = verdict}} : std::nullopt;
    };
    for (const auto& result : results.results)
        if (shows(result, finding))
            if (auto goal = goal_of(result)) return goal;
    return {};
}

/// What the last case showed when it ran last.
struct Story {
    std::size_t steps = 0, of_steps = 0, frames = 0;
};

class Repetition {
public:
    Repetition(const reports::Results& results, const Words& words, const Goal& goal)
        : seed_(results.seed), words_(words), goal_(goal) {
        for (const auto& result : results.results) {
            const auto* one = find_case(result.id);
            if (one == goal.last) break;
            if (one && result.verdict != Verdict::na) before_.push_back(one);
        }
    }
    [[nodiscard]] std::size_t before() const noexcept { return before_.size(); }
    [[nodiscard]] std::vector<const Case*> cases(shrink::Items items) const {
        std::vector<const Case*> cases;
        for (const auto item : items) cases.push_back(before_[item]);
        cases.push_back(goal_.last);
        return cases;
    }
    /// Whether the last case shows it again. `evidence`: where its frames are kept; empty: nowhere.
    bool shows(const std::vector<const Case*>& cases, const std::string& evidence = {}) {
        auto aim = conformance::aim(words_.target, seed_);
        aim.run.cases = cases;
        aim.run.rules = rules::every();
        aim.run.evidence = evidence;
        aim.run.witness = [&](const Case& one, const Recorder& recorder, const reports::Result&) {
            if (&one != goal_.last) return;
            story_ = story_of(recorder);
            begins_.clear();
            for (const auto& step : recorder.steps()) begins_.push_back(step.before);
        };
        const auto rig = rig_for(aim.target);
        const auto results = run(aim.run, *rig);
        const auto found = std::ranges::find_if(results.results, [&](const auto& result) { return is_it(result); });
        if (found == results.results.end()) return false;
        if (!goal_.rule.empty()) end_at_frame(*found);
        return true;
    }
    [[nodiscard]] const Story& story() const noexcept { return story_; }
    /// Of `run`, with the cases in this order.
    [[nodiscard]] std::string command(const std::vector<const Case*>& cases) const {
        std::vector<std::string> words{"ipoib-conform", "run"};
        std::ranges::copy(conformance::words_of(words_.target), std::back_inserter(words));
        words.insert(words.end(), {"--seed", std::to_string(seed_)});
        if (const auto order = order_of_cases(cases); !order.is_declared())
            words.insert(words.end(), {"--order", text(order)});
        for (const auto* one : cases) words.emplace_back(one->id);
        if (!goal_.rule.empty()) words.push_back(goal_.rule);
        std::string command;
        for (const auto& word : words) command += (command.empty() ? "" : " ") + reports::sh_word(word);
        return command;
    }

private:
    [[nodiscard]] bool is_it(const reports::Result& result) const {
        if (result.verdict != goal_.verdict) return false;
        if (goal_.rule.empty()) return result.id == goal_.last->id;
        return result.id == goal_.rule && std::ranges::any_of(result.cases, [&](const reports::CaseFrames& frames) {
                   return case_of(frames.id) == goal_.last;
               });
    }
    [[nodiscard]] Story story_of(const Recorder& recorder) const {
        Story story{recorder.steps().size(), recorder.steps().size(), recorder.size()};
        if (recorder.breaches().empty() || !goal_.rule.empty()) return story;
        story.steps = recorder.breaches().front().step + 1;
        story.frames = recorder.breaches().front().before;
        return story;
    }
    /// What a rule is broken by is a frame, and the step in which it was sent.
    void end_at_frame(const reports::Result& result) {
        const auto here =
            std::ranges::find_if(result.cases, [&](const auto& frames) { return case_of(frames.id) == goal_.last; });
        if (here == result.cases.end() || here->frames.empty()) return;
        story_.frames = here->frames.front();
        story_.steps = static_cast<std::size_t>(
            std::ranges::count_if(begins_, [&](std::size_t before) { return before < story_.frames; }));
    }
    /// The cases stand by id, or as a seed shuffles them.
    [[nodiscard]] static Order order_of_cases(const std::vector<const Case*>& wanted) {
        auto declared = wanted;
        std::ranges::sort(declared, [](const Case* a, const Case* b) { return in_order(a->id, b->id); });
        constexpr std::uint64_t seeds = 100'000;
        Order order;
        for (std::uint64_t seed = 0; seed <= seeds; ++seed) {
            auto cases = declared;
            put_in(order, cases);
            if (cases == wanted) return order;
            order.seed = seed;
        }
        return {};
    }

    std::uint64_t seed_;
    const Words& words_;
    const Goal& goal_;
    std::vector<const Case*> before_;
    Story story_;
    std::vector<std::size_t> begins_;  ///< of the last case: how many frames there were before each step
};

/// The first frames of an evidence file, with their comments.
std::string beginning_of(const std::string& evidence, std::size_t frames) {
    const TemporaryFolder folder;
    const auto path = folder / "steps.pcapng";
    auto reader = capture::Reader::open(evidence);
    auto writer = capture::Writer::pcapng(path);
    std::map<std::uint32_t, std::uint32_t> interfaces;
    capture::Frame frame;
    for (std::size_t i = 0; i < frames && reader.next(frame) == capture::Status::frame; ++i) {
        const auto [place, is_new] = interfaces.try_emplace(frame.interface);
        // As the evidence has it.
        if (is_new)
            place->second = writer.add_interface(capture::LinkType::erf, reader.interface_name(frame.interface));
        writer.write(frame.time_ns, frame.octets, place->second, frame.wire_length, frame.comment);
    }
    writer.close();
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

}  // namespace

bool is_results(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    constexpr std::size_t most = 4096;
    std::string begin(most, '\0');
    file.read(begin.data(), static_cast<std::streamsize>(begin.size()));
    begin.resize(static_cast<std::size_t>(file.gcount()));
    return begin.find("\"ipoib-conform-results/") != std::string::npos;
}

Shortest run_again(const AgainOptions& options) {
    const auto results = results_in(options.results);
    if (!results.hosts.empty())
        throw UsageError(options.results + " is of several, that met or were merged: what is repeated is a run of one");
    const auto goal = goal_in(results, options.finding);
    if (!goal)
        return {.why_not = options.results + " holds no FAIL, WARN or INCONC of " + options.finding +
                           " that a case has shown"};
    const auto words = told_to(results, options.results, options.dut);
    Repetition repetition{results, words, *goal};
    std::size_t tries = 0;
    const auto shrunk = shrink::fewest(
        repetition.before(),
        [&](shrink::Items items) {
            if (fabric::Loop::stop_requested()) return false;
            if (options.progress)
                options.progress(fmt::format("try {}: {} cases before {}", ++tries, items.size(), goal->last->id));
            return repetition.shows(repetition.cases(items));
        },
        most_tries);
    if (!shrunk.holds)
        return {.why_not = fmt::format("{} is not found again by the {} cases of {} up to {}", options.finding,
                                       repetition.before() + 1, options.results, goal->last->id)};
    const auto cases = repetition.cases(shrunk.items);
    const TemporaryFolder folder;
    const bool is_again = repetition.shows(cases, folder.path().string());
    Shortest shortest{
        .of_cases = repetition.before() + 1,
        .steps = repetition.story().steps,
        .of_steps = repetition.story().of_steps,
        .repeat = repetition.command(cases),
        .file = beginning_of(folder / std::string(goal->last->id).append(".pcapng"), repetition.story().frames)};
    if (!is_again) shortest.why_not = options.finding + " was found with fewer cases, and then not again";
    for (const auto* one : cases) shortest.cases.emplace_back(one->id);
    return shortest;
}

}  // namespace ipoib::conformance
