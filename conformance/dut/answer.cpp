// SPDX-License-Identifier: GPL-2.0-or-later
// Reading an adapter's answer, whatever it holds. interfaces.md, "DUT control".
#include "conformance/dut/answer.hpp"

#include "protocol/wire/text.hpp"

namespace ipoib::conformance {
namespace {

using nlohmann::json;

/// Objects and arrays in one another; results have three.
constexpr int deepest = 16;
constexpr std::size_t longest_quote = 200, longest_message = 2000;

std::string escaped(char c) { return "\\x" + wire::hex_octets(std::array{static_cast<std::uint8_t>(c)}); }

/// A string of the answer, which is UTF-8, without control characters.
std::string plain(std::string text) {
    if (text.size() > longest_message) {
        auto end = longest_message;
        while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
        text.resize(end);
        text += "...";
    }
    std::string result;
    for (const char c : text) {
        const bool is_control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
        if (c == '\n' || c == '\t')
            result += ' ';
        else if (is_control)
            result += escaped(c);
        else
            result += c;
    }
    return result;
}

/// Null where the line is no JSON, or nested too deeply to be handled without fear for the stack.
json parse(const std::string& line) {
    if (line.find('\0') != std::string::npos) return {};  // which the parser takes for the end
    bool is_too_deep = false;
    const auto bounded = [&](int depth, json::parse_event_t, json&) {
        is_too_deep |= depth > deepest;
        return !is_too_deep;
    };
    auto parsed = json::parse(line, bounded, false);
    return is_too_deep || !parsed.is_object() ? json() : parsed;
}

}  // namespace

std::string excerpt(std::string_view line) {
    std::string result = "'";
    for (const char c : line.substr(0, longest_quote)) {
        if (c >= 0x20 && c < 0x7f)
            result += c;
        else
            result += escaped(c);
    }
    return result + (line.size() > longest_quote ? "'..." : "'");
}

void AnswerObject::refuse(const std::string& name, const std::string& why) const {
    throw ChannelBroken(where_ + ": '" + name + "' " + why);
}

void AnswerObject::demand(const std::string& name) const {
    if (!find(name)) refuse(name, "is missing");
}

const json* AnswerObject::find(const std::string& name) const {
    const auto found = object_.find(name);
    return found == object_.end() || found->is_null() ? nullptr : &*found;
}

const json* AnswerObject::array(const std::string& name) const {
    const auto* value = find(name);
    if (value && !value->is_array()) refuse(name, "is not an array");
    return value;
}

std::optional<bool> AnswerObject::flag(const std::string& name) const {
    const auto* value = find(name);
    if (!value) return {};
    if (!value->is_boolean()) refuse(name, "is neither true nor false");
    return value->get<bool>();
}

std::optional<std::uint64_t> AnswerObject::number(const std::string& name, std::uint64_t most) const {
    const auto* value = find(name);
    if (!value) return {};
    if (!value->is_number_unsigned() || value->get<std::uint64_t>() > most)
        refuse(name, "is not a whole number from 0 to " + std::to_string(most));
    return value->get<std::uint64_t>();
}

std::optional<std::string> AnswerObject::text(const std::string& name) const {
    const auto* value = find(name);
    if (!value) return {};
    if (!value->is_string()) refuse(name, "is not a string");
    return plain(value->get<std::string>());
}

std::optional<std::vector<std::uint8_t>> AnswerObject::octets(const std::string& name) const {
    const auto* value = find(name);
    if (!value) return {};
    if (!value->is_string()) refuse(name, "is not a string");
    auto octets = wire::parse_octets(value->get_ref<const std::string&>());
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
    const auto* values = array(name);
    if (!values) return result;
    for (const auto& value : *values) {
        if (!value.is_string()) refuse(name, "holds something that is not a string");
        result.push_back(plain(value.get<std::string>()));
    }
    return result;
}

std::vector<AnswerObject> AnswerObject::objects(const std::string& name) const {
    std::vector<AnswerObject> result;
    const auto* values = array(name);
    if (!values) return result;
    for (const auto& value : *values) {
        if (!value.is_object()) refuse(name, "holds something that is not an object");
        result.emplace_back(value, where_ + ": " + name);
    }
    return result;
}

std::vector<std::pair<std::string, std::string>> AnswerObject::pairs(const std::string& name) const {
    std::vector<std::pair<std::string, std::string>> result;
    const auto* values = find(name);
    if (!values) return result;
    if (!values->is_object()) refuse(name, "is not an object");
    for (const auto& [key, value] : values->items()) {
        if (value.is_null()) continue;
        if (value.is_structured()) refuse(name, "holds more than single values");
        result.emplace_back(plain(key), value.is_string() ? plain(value.get<std::string>()) : value.dump());
    }
    return result;
}

AnswerObject read_answer(const std::string& line, std::uint64_t id, const std::string& what) {
    const auto where = "the adapter's answer to '" + what + "'";
    auto members = parse(line);
    if (members.is_null()) throw ChannelBroken(where + " is not a JSON object: " + excerpt(line));
    AnswerObject answer{std::move(members), where};

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
