// SPDX-License-Identifier: GPL-2.0-or-later
// Reading an adapter's answer, whatever it holds. interfaces.md, "DUT control".
#include "conformance/dut/answer.hpp"

#include "base/one_line.hpp"
#include "base/utf8.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>

namespace ipoib::conformance {
namespace {

using nlohmann::json;

constexpr std::size_t longest_quote = 200, longest_message = 2000;

/// A string of the answer without what a terminal obeys. Blanks stay as they are: a kernel's log is made of columns.
std::string plain(std::string text) {
    std::ranges::replace_if(
        text, [](char c) { return c == '\n' || c == '\t'; }, ' ');
    return clipped(printable(text), longest_message);
}

/// Null counts as absent.
json without_null(json object) {
    for (auto member = object.begin(); member != object.end();)
        member = member->is_null() ? object.erase(member) : std::next(member);
    return object;
}

}  // namespace

std::string excerpt(std::string_view line) {
    std::string result = "'";
    for (const char c : line.substr(0, longest_quote)) {
        if (c >= 0x20 && c < 0x7f)
            result += c;
        else
            result += escaped(std::string_view(&c, 1));
    }
    return result + (line.size() > longest_quote ? "'..." : "'");
}

AnswerObject::AnswerObject(json object, std::string where)
    : JsonObject(without_null(std::move(object))), where_(std::move(where)) {}

void AnswerObject::refuse(const std::string& name, const std::string& why) const {
    throw ChannelBroken(where_ + ": '" + name + "' " + why);
}

void AnswerObject::demand(const std::string& name) const {
    if (!has(name)) refuse(name, "is missing");
}

std::optional<bool> AnswerObject::flag(const std::string& name) const {
    if (!has(name)) return {};
    return JsonObject::flag(name);
}

std::optional<std::uint64_t> AnswerObject::number(const std::string& name, std::uint64_t most) const {
    if (!has(name)) return {};
    return whole(name, most);
}

std::optional<std::string> AnswerObject::text(const std::string& name) const {
    if (!has(name)) return {};
    return plain(JsonObject::text(name));
}

std::optional<std::vector<std::uint8_t>> AnswerObject::octets(const std::string& name) const {
    if (!has(name)) return {};
    auto octets = wire::parse_octets(JsonObject::text(name));
    if (!octets) refuse(name, "is not octets in hex");
    return octets;
}

std::optional<wire::IpAddress> AnswerObject::address(const std::string& name) const {
    const auto written = text(name);
    if (!written) return {};
    const auto address = wire::parse_ip(*written);
    if (!address) refuse(name, "is not an IP address: " + excerpt(*written));
    return address;
}

std::vector<std::string> AnswerObject::texts(const std::string& name) const {
    std::vector<std::string> result;
    if (!has(name)) return result;
    for (const auto& value : array(name)) {
        if (!value.is_string()) refuse(name, "holds something that is not a string");
        result.push_back(plain(value.get<std::string>()));
    }
    return result;
}

std::vector<AnswerObject> AnswerObject::objects(const std::string& name) const {
    std::vector<AnswerObject> result;
    if (!has(name)) return result;
    for (const auto& value : array(name)) {
        if (!value.is_object()) refuse(name, "holds something that is not an object");
        result.emplace_back(value, where_ + ": " + name);
    }
    return result;
}

std::vector<std::pair<std::string, std::string>> AnswerObject::pairs(const std::string& name) const {
    std::vector<std::pair<std::string, std::string>> result;
    if (!has(name)) return result;
    for (const auto& [key, value] : object(name).items()) {
        if (value.is_null()) continue;
        if (value.is_structured()) refuse(name, "holds more than single values");
        result.emplace_back(plain(key), value.is_string() ? plain(value.get<std::string>()) : value.dump());
    }
    return result;
}

AnswerObject read_answer(const std::string& line, std::uint64_t id, const std::string& what) {
    const auto where = "the adapter's answer to '" + what + "'";
    auto members = object_in(line);
    if (!members) throw ChannelBroken(where + " is not a JSON object: " + excerpt(line));
    AnswerObject answer{std::move(*members), where};

    answer.demand("id");
    const auto answered = answer.number("id", std::numeric_limits<std::uint64_t>::max());
    if (answered != id)
        answer.refuse("id", "is " + std::to_string(answered.value_or(0)) + ", not " + std::to_string(id));

    const auto error = answer.text("error");
    const auto is_ok = answer.flag("ok").value_or(false);
    if (is_ok && error) throw ChannelBroken(where + " says both 'ok' and 'error': " + excerpt(line));
    if (is_ok) return answer;
    if (!error) throw ChannelBroken(where + " says neither 'ok' nor 'error': " + excerpt(line));

    const auto message = answer.text("message").value_or("the adapter does not say why");
    if (*error == "unsupported") throw Unsupported(what + ": " + message);
    if (*error == "failed") throw ControlFailed(what + ": " + message);
    answer.refuse("error", "is neither 'unsupported' nor 'failed': " + excerpt(*error));
}

}  // namespace ipoib::conformance
