// SPDX-License-Identifier: GPL-2.0-or-later
// Sessions as text.
#include "conformance/fuzz/session.hpp"

#include "base/json_object.hpp"
#include "base/one_line.hpp"
#include "conformance/fuzz/lie.hpp"
#include "conformance/fuzz/material.hpp"
#include "conformance/fuzz/operation.hpp"
#include "fabric/frame.hpp"
#include "protocol/wire/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

namespace ipoib::conformance::fuzz {
namespace {

constexpr std::uint64_t session_format = 1;
constexpr std::uint64_t most_times = 1000, longest_pause = 60'000;
constexpr std::size_t most_lies = 32;

std::vector<std::uint8_t> octets_of(const JsonPart& part) {
    const auto octets = wire::parse_octets(part.text("octets"));
    if (!octets) part.refuse("octets", "is no hex");
    if (octets->size() < fabric::shortest_frame || octets->size() > fabric::longest_frame)
        part.refuse("octets",
                    fmt::format("is no frame of {} to {} octets", fabric::shortest_frame, fabric::longest_frame));
    return *octets;
}

void read_lies(Operation& operation, const JsonPart& part) {
    const auto& lies = part.array("lies");
    if (lies.size() > most_lies) part.refuse("lies", fmt::format("are more than {}", most_lies));
    for (const auto& lie : lies) {
        if (!lie.is_string()) part.refuse("lies", "are no strings");
        operation.lies.push_back(lie.get<std::string>());
        try {
            check_lie(operation.lies.back());
        } catch (const std::invalid_argument& wrong) {
            part.refuse("lies", std::string("has one that is none: ") + wrong.what());
        }
    }
}

void read_send(Operation& operation, const JsonPart& part) {
    if (part.has("octets")) {
        operation.octets = octets_of(part);
        return;
    }
    operation.packet = part.text("packet");
    if (find_material(operation.packet)) return;
    std::string names;
    for (const auto& one : all_materials()) names += (names.empty() ? "" : ", ") + std::string(one.name);
    part.refuse("packet", "is none of " + names);
}

void read_answers(Operation& operation, const JsonPart& part) {
    operation.of = part.text("of");
    if (std::ranges::find(answerers, operation.of) == std::end(answerers))
        part.refuse("of", fmt::format("is none of {}", fmt::join(answerers, ", ")));
}

Operation operation_of(const nlohmann::json& object, std::size_t number) {
    const auto where = fmt::format("operation {}: ", number);
    if (!object.is_object()) throw std::invalid_argument(where + "is no object");
    const JsonPart part{object, where};
    Operation operation;
    const auto name = part.text("do");
    operation.verb = find_verb(name);
    if (!operation.verb) {
        std::string names;
        for (const auto& one : all_verbs()) names += (names.empty() ? "" : ", ") + std::string(one.name);
        part.refuse("do", fmt::format("is '{}', none of {}", one_line(name, 40), names));
    }
    if (name == "send") read_send(operation, part);
    if (name == "answers") read_answers(operation, part);
    if (operation.verb->has_lies && part.has("lies")) read_lies(operation, part);
    const auto number_of = [&](const char* member, std::uint32_t& value, std::uint64_t most) {
        if (part.has(member)) value = static_cast<std::uint32_t>(part.number(member, most));
    };
    if (operation.verb->most > 0) {
        operation.value = static_cast<std::uint32_t>(part.number("value", operation.verb->most));
        if (operation.value < operation.verb->least) part.refuse("value", "is too small");
    }
    if (operation.verb->has_lies) number_of("times", operation.times, most_times);
    if (name == "answers") number_of("after", operation.after, most_times);
    number_of("pause", operation.pause, longest_pause);
    part.refuse_others();
    return operation;
}

std::string hex_of(const std::vector<std::uint8_t>& octets) {
    std::string all;
    for (const auto octet : octets) all += fmt::format("{:02x}", octet);
    return all;
}

std::string line_of(const Operation& operation) {
    auto line = fmt::format(R"({{"do": "{}")", operation.verb->name);
    if (!operation.packet.empty()) line += fmt::format(R"(, "packet": "{}")", operation.packet);
    if (!operation.octets.empty()) line += fmt::format(R"(, "octets": "{}")", hex_of(operation.octets));
    if (!operation.of.empty()) line += fmt::format(R"(, "of": "{}")", operation.of);
    if (!operation.lies.empty()) line += ", \"lies\": " + json_line(nlohmann::json(operation.lies));
    if (operation.verb->most > 0) line += fmt::format(R"(, "value": {})", operation.value);
    if (operation.after > 0) line += fmt::format(R"(, "after": {})", operation.after);
    if (operation.times != 1) line += fmt::format(R"(, "times": {})", operation.times);
    if (operation.pause > 0) line += fmt::format(R"(, "pause": {})", operation.pause);
    return line + '}';
}

}  // namespace

std::string text(const Session& session, const std::vector<std::string>& remarks) {
    auto all = fmt::format("{{\n \"fuzz\": {},\n \"scenario\": \"{}\",\n", session_format, session.scenario);
    if (!remarks.empty()) all += " \"found\": " + json_line(nlohmann::json(remarks)) + ",\n";
    all += " \"operations\": [";
    for (std::size_t i = 0; i < session.operations.size(); ++i)
        all += (i == 0 ? "\n  " : ",\n  ") + line_of(session.operations[i]);
    return all + "\n ]\n}\n";
}

Session parse_session(std::string_view text) {
    const auto object = object_in(text);
    if (!object) throw std::invalid_argument("it is no session: not a JSON object");
    const JsonPart whole{*object, {}};
    if (whole.whole("fuzz", session_format) != session_format) whole.refuse("fuzz", "is not 1");
    Session session;
    session.scenario = whole.text("scenario");
    const auto& operations = whole.array("operations");
    if (operations.size() > most_operations)
        throw std::invalid_argument(fmt::format("more than {} operations", most_operations));
    for (std::size_t i = 0; i < operations.size(); ++i)
        session.operations.push_back(operation_of(operations[i], i + 1));
    static_cast<void>(whole.has("found"));
    whole.refuse_others();
    return session;
}

}  // namespace ipoib::conformance::fuzz
