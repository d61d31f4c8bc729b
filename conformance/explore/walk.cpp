// SPDX-License-Identifier: GPL-2.0-or-later
// The systematic part, and chance.
#include "conformance/explore/walk.hpp"

#include <algorithm>

namespace ipoib::conformance::explore {
using namespace std::chrono_literals;

namespace {

constexpr auto between_operations = 40ms;
constexpr std::size_t most_operations = 7, most_kept = 4096, most_steps = 16;

/// All values of all arguments.
std::vector<std::array<std::uint32_t, 2>> combinations(const Action& action) {
    std::vector<std::array<std::uint32_t, 2>> all{{}};
    for (std::size_t i = 0; i < action.arguments.size(); ++i) {
        std::vector<std::array<std::uint32_t, 2>> more;
        for (const auto& one : all)
            for (const auto value : action.arguments[i].values) {
                more.push_back(one);
                more.back().at(i) = value;
            }
        all = std::move(more);
    }
    return all;
}

/// Such an event chooses its moment itself: after so many frames.
bool counts_frames(const Action& action) {
    return !action.arguments.empty() && action.arguments.front().name == "after";
}

}  // namespace

std::vector<Step> short_life() {
    struct Row {
        std::string_view name;
        std::uint32_t argument;
    };
    constexpr std::array<Row, 9> rows{{{"up", 0},
                                       {"join", 0},
                                       {"join", 2},
                                       {"send-group", 4},
                                       {"send-group", 5},
                                       {"send-unicast", 0},
                                       {"peer-sends", 1},
                                       {"leave", 0},
                                       {"leave", 2}}};
    std::vector<Step> steps;
    fabric::Duration at{};
    for (const auto& row : rows) {
        steps.push_back({at, find_action(row.name), {row.argument, 0}});
        at += between_operations;
    }
    return steps;
}

Walk::Walk(Options options) : options_(std::move(options)), random_(options_.seed) {
    for (const auto& action : all_actions()) {
        const auto is_meant = [&](const std::string& kind) { return kind == action.kind; };
        if (action.kind == operation)
            operations_.push_back(&action);
        else if (options_.kinds.empty() || std::ranges::any_of(options_.kinds, is_meant))
            events_.push_back(&action);
    }
    if (options_.is_systematic) lay_out();
}

/// Each event as an operation begins, while its first request is on its way, and when all is done.
void Walk::lay_out() {
    const auto life = short_life();
    for (const auto* event : events_)
        for (const auto& arguments : combinations(*event))
            for (const auto& step : life)
                for (const auto after : {fabric::Duration{0}, fabric::Duration{12us}, fabric::Duration{20ms}}) {
                    if (counts_frames(*event) && after.count() != 0) continue;
                    points_.push_back({event, arguments, step.at + after});
                }
    // In an order of their own, so that a part of them is of all kinds.
    std::mt19937_64 order{1};
    for (auto i = points_.size(); i > 1; --i) std::swap(points_[i - 1], points_[order() % i]);
}

Schedule Walk::systematic(std::size_t index) const {
    const auto& point = points_[index];
    Schedule schedule{.scenario = options_.scenario, .seed = options_.seed, .steps = short_life()};
    const Step event{point.at, point.action, point.arguments};
    // What counts frames is there before the operation whose frames it counts; anything else comes behind it.
    const auto at = counts_frames(*point.action) ? std::ranges::lower_bound(schedule.steps, event.at, {}, &Step::at)
                                                 : std::ranges::upper_bound(schedule.steps, event.at, {}, &Step::at);
    schedule.steps.insert(at, event);
    for (auto& step : schedule.steps) step.at *= options_.stretch;
    return schedule;
}

Schedule Walk::next() {
    is_by_chance_ = !is_by_chance_;
    if (next_ < points_.size() && (!is_by_chance_ || kept_.empty())) return systematic(next_++);
    return kept_.empty() || below(3) == 0 ? fresh() : changed();
}

fabric::Duration Walk::any_gap() {
    constexpr std::array<fabric::Duration, 9> gaps{0ns, 6us, 12us, 25us, 1ms, 30ms, 400ms, 1200ms, 3s};
    return gaps.at(below(gaps.size()));
}

Step Walk::any_step(const std::vector<const Action*>& among) {
    Step step{{}, among[below(among.size())], {}};
    for (std::size_t i = 0; i < step.action->arguments.size(); ++i) {
        const auto& values = step.action->arguments[i].values;
        step.arguments.at(i) = values[below(values.size())];
    }
    return step;
}

Schedule Walk::fresh() {
    Schedule schedule{.scenario = options_.scenario, .seed = random_(), .steps = {}};
    schedule.steps.push_back({{}, find_action("up"), {}});
    const auto operations = 1 + below(most_operations);
    for (std::size_t i = 0; i < operations; ++i) schedule.steps.push_back(any_step(operations_));
    if (!events_.empty()) {
        const auto events = 1 + below(std::max(1u, options_.depth));
        for (std::size_t i = 0; i < events; ++i) {
            const auto at = static_cast<std::ptrdiff_t>(below(schedule.steps.size() + 1));
            schedule.steps.insert(schedule.steps.begin() + at, any_step(events_));
        }
    }
    fabric::Duration at{};
    for (auto& step : schedule.steps) {
        step.at = at;
        at += any_gap();
    }
    return schedule;
}

/// Of three by chance the one whose rarest transition is rarest still.
const Walk::Kept& Walk::pick() {
    Kept* best = nullptr;
    const auto cost = [this](const Kept& one) { return seen_[one.rarest] + one.picked; };
    for (unsigned i = 0; i < 3; ++i) {
        auto& one = kept_[below(kept_.size())];
        if (!best || cost(one) < cost(*best)) best = &one;
    }
    ++best->picked;
    return *best;
}

Schedule Walk::changed() {
    auto schedule = pick().schedule;
    auto& steps = schedule.steps;
    const auto events = [&] {
        return std::ranges::count_if(steps, [](const Step& step) { return step.action->kind != operation; });
    };
    const auto changes = 1 + below(3);
    for (std::size_t i = 0; i < changes; ++i) {
        switch (below(5)) {
            case 0:
                if (!events_.empty() && events() < static_cast<std::ptrdiff_t>(options_.depth)) {
                    auto step = any_step(events_);
                    step.at = steps.empty() ? fabric::Duration{} : steps[below(steps.size())].at + any_gap();
                    steps.push_back(step);
                }
                break;
            case 1: {
                auto step = any_step(operations_);
                step.at = steps.empty() ? fabric::Duration{} : steps[below(steps.size())].at + any_gap();
                if (steps.size() < most_steps) steps.push_back(step);
                break;
            }
            case 2:
                if (steps.size() > 2) steps.erase(steps.begin() + static_cast<std::ptrdiff_t>(below(steps.size())));
                break;
            case 3:
                if (!steps.empty()) {
                    // All that follows moves, too.
                    const auto at = below(steps.size());
                    const auto gap = any_gap();
                    for (auto k = at; k < steps.size(); ++k) steps[k].at += gap;
                }
                break;
            default:
                if (!steps.empty()) {
                    auto& step = steps[below(steps.size())];
                    const auto other = any_step({step.action});
                    step.arguments = other.arguments;
                }
        }
        std::ranges::stable_sort(steps, {}, &Step::at);
    }
    schedule.seed = random_();
    return schedule;
}

std::size_t Walk::learn(const Schedule& schedule, const std::set<std::uint64_t>& transitions) {
    std::size_t fresh = 0;
    std::uint64_t rarest = 0;
    std::uint32_t least = ~0u;
    for (const auto transition : transitions) {
        const auto count = ++seen_[transition];
        fresh += count == 1;
        if (count < least) {
            least = count;
            rarest = transition;
        }
    }
    if (fresh > 0 && kept_.size() < most_kept) kept_.push_back({schedule, rarest});
    return fresh;
}

}  // namespace ipoib::conformance::explore
