// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/json_object.hpp"

#include <charconv>
#include <stdexcept>

namespace ipoib {

std::optional<std::uint64_t> number_in(const nlohmann::json& value) {
    if (value.is_number_unsigned()) return value.get<std::uint64_t>();
    if (!value.is_string()) return {};
    constexpr int hexadecimal = 16;
    std::string_view digits = value.get_ref<const std::string&>();
    if (digits.starts_with("0x")) digits.remove_prefix(2);
    std::uint64_t number = 0;
    const auto* const end = digits.data() + digits.size();
    const auto [stopped, error] = std::from_chars(digits.data(), end, number, hexadecimal);
    if (error != std::errc{} || stopped != end) return {};
    return number;
}

const nlohmann::json& JsonObject::at(const std::string& name) const {
    asked(name);
    const auto found = object_.find(name);
    if (found == object_.end()) refuse(name, "is missing");
    return *found;
}

std::string JsonObject::text(const std::string& name) const {
    const auto& value = at(name);
    if (!value.is_string()) refuse(name, "is not a string");
    return value.get<std::string>();
}

bool JsonObject::flag(const std::string& name) const {
    const auto& value = at(name);
    if (!value.is_boolean()) refuse(name, "is neither true nor false");
    return value.get<bool>();
}

std::uint64_t JsonObject::whole(const std::string& name, std::uint64_t most) const {
    const auto& value = at(name);
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most)
        refuse(name, "is not a whole number from 0 to " + std::to_string(most));
    return value.get<std::uint64_t>();
}

std::uint64_t JsonObject::number(const std::string& name, std::uint64_t most) const {
    const auto number = number_in(at(name));
    if (!number || *number > most) refuse(name, "is not a number up to " + std::to_string(most));
    return *number;
}

double JsonObject::real(const std::string& name, double most) const {
    const auto& value = at(name);
    const double real = value.is_number() ? value.get<double>() : -1;
    if (!(real >= 0 && real <= most)) refuse(name, "is not between 0 and " + std::to_string(most));
    return real;
}

const nlohmann::json& JsonObject::array(const std::string& name) const {
    const auto& value = at(name);
    if (!value.is_array()) refuse(name, "is not an array");
    return value;
}

const nlohmann::json& JsonObject::object(const std::string& name) const {
    const auto& value = at(name);
    if (!value.is_object()) refuse(name, "is not an object");
    return value;
}

void JsonPart::refuse(const std::string& name, const std::string& why) const {
    throw std::invalid_argument(where_ + name + ' ' + why);
}

void JsonPart::refuse_others() const {
    for (const auto& [name, value] : members().items())
        if (!asked_.contains(name)) refuse(name, "is no member of it");
}

}  // namespace ipoib
