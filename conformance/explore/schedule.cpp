// SPDX-License-Identifier: GPL-2.0-or-later
// Schedules as text, and in words.
#include "conformance/explore/schedule.hpp"

#include "base/json_object.hpp"
#include "conformance/explore/action.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace ipoib::conformance::explore {
namespace {

constexpr std::size_t most_in_a_file = 1000;
constexpr double longest = 3600;
constexpr std::uint64_t format = 1;

double seconds(fabric::Duration duration) { return std::chrono::duration<double>(duration).count(); }

/// Without the digits that say nothing: "0.25", "0.000011".
std::string short_seconds(fabric::Duration duration) {
    auto text = fmt::format("{:.9f}", seconds(duration));
    while (text.ends_with('0')) text.pop_back();
    if (text.ends_with('.')) text.pop_back();
    return text;
}

Step step_of(const nlohmann::json& object, std::size_t number) {
    const auto where = fmt::format("step {}: ", number);
    if (!object.is_object()) throw std::invalid_argument(where + "is no object");
    const JsonPart part{object, where};
    Step step;
    const auto at = part.real("at", longest);
    step.at = fabric::Duration{std::llround(at * 1e9)};
    const auto name = part.text("do");
    step.action = find_action(name);
    if (!step.action) {
        std::string names;
        for (const auto& one : all_actions()) names += (names.empty() ? "" : ", ") + std::string(one.name);
        throw std::invalid_argument(where + "nothing is named '" + name + "': " + names);
    }
    std::size_t index = 0;
    for (const auto& argument : step.action->arguments) {
        const std::string argument_name{argument.name};
        const auto value = part.number(argument_name, argument.values.back());
        if (value < argument.values.front()) part.refuse(argument_name, "is too small");
        step.arguments.at(index++) = static_cast<std::uint32_t>(value);
    }
    part.refuse_others();
    return step;
}

}  // namespace

std::string text(const Schedule& schedule, const std::vector<std::string>& remarks) {
    std::string all = fmt::format("{{\n \"explore\": {},\n \"scenario\": \"{}\",\n \"seed\": {},\n", format,
                                  schedule.scenario, schedule.seed);
    if (!remarks.empty()) {
        all += " \"found\": " + json_line(nlohmann::json(remarks)) + ",\n";
    }
    all += " \"steps\": [";
    for (std::size_t i = 0; i < schedule.steps.size(); ++i) {
        const auto& step = schedule.steps[i];
        all += fmt::format("{}\n  {{\"at\": {}, \"do\": \"{}\"", i == 0 ? "" : ",", short_seconds(step.at),
                           step.action->name);
        for (std::size_t k = 0; k < step.action->arguments.size(); ++k)
            all += fmt::format(", \"{}\": {}", step.action->arguments[k].name, step.arguments.at(k));
        all += '}';
    }
    return all + "\n ]\n}\n";
}

Schedule parse_schedule(std::string_view text) {
    const auto object = object_in(text);
    if (!object) throw std::invalid_argument("it is no schedule: not a JSON object");
    const JsonPart whole{*object, {}};
    if (whole.whole("explore", format) != format) whole.refuse("explore", "is not 1");
    Schedule schedule;
    schedule.scenario = whole.text("scenario");
    schedule.seed = whole.number("seed", ~std::uint64_t{0});
    const auto& steps = whole.array("steps");
    if (steps.size() > most_in_a_file) throw std::invalid_argument(fmt::format("more than {} steps", most_in_a_file));
    for (std::size_t i = 0; i < steps.size(); ++i) schedule.steps.push_back(step_of(steps[i], i + 1));
    static_cast<void>(whole.has("found"));
    whole.refuse_others();
    std::ranges::stable_sort(schedule.steps, {}, &Step::at);
    return schedule;
}

std::string words(const Step& step) {
    std::string said{step.action->words};
    for (std::size_t k = 0; k < step.action->arguments.size(); ++k)
        if (const auto at = said.find("{}"); at != std::string::npos)
            said.replace(at, 2, std::to_string(step.arguments.at(k)));
    return short_seconds(step.at) + " s: " + said;
}

}  // namespace ipoib::conformance::explore
