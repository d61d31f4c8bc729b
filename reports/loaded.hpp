// SPDX-License-Identifier: GPL-2.0-or-later
// What reading a file yields: a value, or the sentence that says why not.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace ipoib::reports {

template <class Value>
struct Loaded {
    std::optional<Value> value;
    std::string error;  ///< with the file's name; empty when there is a value

    [[nodiscard]] explicit operator bool() const noexcept { return value.has_value(); }
    [[nodiscard]] Value& operator*() { return *value; }
    [[nodiscard]] const Value& operator*() const { return *value; }
    [[nodiscard]] Value* operator->() { return &*value; }
    [[nodiscard]] const Value* operator->() const { return &*value; }

    [[nodiscard]] static Loaded of(Value value) { return {std::move(value), {}}; }
    [[nodiscard]] static Loaded failed(std::string error) { return {std::nullopt, std::move(error)}; }
};

}  // namespace ipoib::reports
