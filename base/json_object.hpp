// SPDX-License-Identifier: GPL-2.0-or-later
// Objects of JSON from outside, each on a line: requests and answers, read member by member.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace ipoib {

/// So many objects and arrays may lie in one another: handling them recurses.
inline constexpr int deepest_json = 16;

/// The object that a line holds; nothing where it is no JSON, no object, nested too deeply, or has a zero octet, which
/// the parser takes for the end.
template <class Json = nlohmann::json>
[[nodiscard]] std::optional<Json> object_in(std::string_view line) {
    if (line.find('\0') != std::string_view::npos) return {};
    bool is_too_deep = false;
    const auto keep = [&](int depth, typename Json::parse_event_t, Json&) {
        is_too_deep = is_too_deep || depth > deepest_json;
        return !is_too_deep;
    };
    auto json = Json::parse(line, keep, false);
    if (is_too_deep || !json.is_object()) return {};
    return json;
}

/// One line without its end, in ASCII; what is no UTF-8 in it is replaced.
template <class Json>
[[nodiscard]] std::string json_line(const Json& json) {
    return json.dump(-1, ' ', true, Json::error_handler_t::replace);
}

/// A whole number from 0, or a string with one in hexadecimal digits, with or without 0x; nothing of anything else.
[[nodiscard]] std::optional<std::uint64_t> number_in(const nlohmann::json& value);

/// An object whose members are checked as they are read; those that nobody asks for are ignored. What is missing or of
/// another type is refused, each by its name.
class JsonObject {
public:
    explicit JsonObject(nlohmann::json object) : object_(std::move(object)) {}
    virtual ~JsonObject() = default;

    [[nodiscard]] bool has(const std::string& name) const {
        asked(name);
        return object_.contains(name);
    }
    [[nodiscard]] std::string text(const std::string& name) const;
    [[nodiscard]] bool flag(const std::string& name) const;
    /// From 0 to `most`.
    [[nodiscard]] std::uint64_t whole(const std::string& name, std::uint64_t most) const;
    /// As number_in() reads it, up to `most`.
    [[nodiscard]] std::uint64_t number(const std::string& name, std::uint64_t most) const;
    /// From 0 to `most`, with a fraction.
    [[nodiscard]] double real(const std::string& name, double most) const;
    [[nodiscard]] const nlohmann::json& array(const std::string& name) const;
    [[nodiscard]] const nlohmann::json& object(const std::string& name) const;

    /// Throws what its owner throws: `why` goes on behind the name, "is not a string".
    [[noreturn]] virtual void refuse(const std::string& name, const std::string& why) const = 0;

protected:
    [[nodiscard]] const nlohmann::json& members() const noexcept { return object_; }
    /// A member has been asked for.
    virtual void asked(const std::string& name) const { static_cast<void>(name); }
    JsonObject(const JsonObject&) = default;
    JsonObject(JsonObject&&) = default;
    JsonObject& operator=(const JsonObject&) = default;
    JsonObject& operator=(JsonObject&&) = default;

private:
    [[nodiscard]] const nlohmann::json& at(const std::string& name) const;

    nlohmann::json object_;
};

/// A part of a file from outside. What is wrong with it is thrown as std::invalid_argument, with where it is: "step 3:
/// ".
class JsonPart final : public JsonObject {
public:
    JsonPart(nlohmann::json object, std::string where) : JsonObject(std::move(object)), where_(std::move(where)) {}
    [[noreturn]] void refuse(const std::string& name, const std::string& why) const override;
    /// Refuses a member that nobody has asked for: a slip of who wrote the file would be taken for one that is left
    /// out.
    void refuse_others() const;

private:
    void asked(const std::string& name) const override { asked_.insert(name); }

    std::string where_;
    mutable std::set<std::string> asked_;
};

}  // namespace ipoib
