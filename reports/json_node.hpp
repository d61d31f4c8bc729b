// SPDX-License-Identifier: GPL-2.0-or-later
// One value of a JSON document that knows its own place, so that every complaint about it names the place.
#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include "base/one_line.hpp"

namespace ipoib::reports {

/// Keeps the members of an object in their order.
using Json = nlohmann::ordered_json;

/// What is wrong, and in which member.
struct Wrong {
    std::string place, what;
};

/// One value of the document that knows its own place, which is written only for a complaint.
/// A view of one value; the document, and the node that it is a child of, must outlive it. Every reader throws `Wrong`
/// when the type does not fit.
class Node {
public:
    Node(const Json& value, std::string place) : value_(&value), root_(std::move(place)) {}

    [[noreturn]] void refuse(const std::string& what) const { throw Wrong{place(), what}; }

    [[nodiscard]] const Json& value() const { return *value_; }
    [[nodiscard]] std::string text() const {
        if (!value_->is_string()) expected("a string");
        return value_->get<std::string>();
    }
    /// A fact: scalars of any type, as text.
    [[nodiscard]] std::string scalar() const {
        if (value_->is_structured()) expected("a string");
        return value_->is_string() ? value_->get<std::string>() : value_->dump();
    }
    [[nodiscard]] double number() const {
        if (!value_->is_number()) expected("a number");
        return value_->get<double>();
    }
    template <class Whole>
    [[nodiscard]] Whole whole() const {
        constexpr auto most = std::numeric_limits<Whole>::max();
        if (!value_->is_number_unsigned()) expected("a whole number from 0");
        const auto number = value_->get<std::uint64_t>();
        if (number > static_cast<std::uint64_t>(most)) refuse(fmt::format("{} is more than {}", number, most));
        return static_cast<Whole>(number);
    }
    [[nodiscard]] bool is_null() const { return value_->is_null(); }
    [[nodiscard]] bool is_object() const { return value_->is_object(); }
    [[nodiscard]] int link_type() const {
        if (value_->is_number_integer() && *value_ == -1) return -1;
        return whole<int>();
    }

    /// Calls `each` with the member when it is there.
    template <class Each>
    void member(const char* name, Each each) const {
        if (!value_->is_object()) expected("an object");
        if (const auto found = value_->find(name); found != value_->end()) each(Node(*found, *this, found.key(), 0));
    }
    template <class Each>
    void required(const char* name, Each each) const {
        bool seen = false;
        member(name, [&](const Node& node) {
            seen = true;
            each(node);
        });
        if (!seen) refuse(fmt::format("\"{}\" is missing", name));
    }
    template <class Each>
    void items(Each each) const {
        if (!value_->is_array()) expected("a list");
        for (std::size_t i = 0; i < value_->size(); ++i) each(Node((*value_)[i], *this, {}, i));
    }
    template <class Each>
    void members(Each each) const {
        if (!value_->is_object()) expected("an object");
        for (const auto& [name, value] : value_->items()) each(name, Node(value, *this, name, 0));
    }

    void read(const char* name, std::string& into) const {
        member(name, [&](const Node& node) { into = node.text(); });
    }
    void read(const char* name, double& into) const {
        member(name, [&](const Node& node) { into = node.number(); });
    }
    template <std::unsigned_integral Whole>
    void read(const char* name, Whole& into) const {
        member(name, [&](const Node& node) { into = node.whole<Whole>(); });
    }
    void read(const char* name, std::vector<std::string>& into) const {
        member(name, [&](const Node& list) { list.items([&](const Node& node) { into.push_back(node.text()); }); });
    }
    void read(const char* name, std::vector<std::pair<std::string, std::string>>& into) const {
        member(name, [&](const Node& object) {
            object.members([&](const std::string& key, const Node& node) { into.emplace_back(key, node.scalar()); });
        });
    }

private:
    /// A member by its name, or an item by its index.
    Node(const Json& value, const Node& parent, std::string_view name, std::size_t index)
        : value_(&value), parent_(&parent), name_(name), index_(index) {}

    [[nodiscard]] std::string place() const {
        if (!parent_) return root_;
        return fmt::format("{}/{}", parent_->place(),
                           parent_->value_->is_array() ? std::to_string(index_) : one_line(name_, 80));
    }
    [[noreturn]] void expected(std::string_view what) const {
        refuse(fmt::format("{} is expected, found {}", what, kind()));
    }
    [[nodiscard]] std::string kind() const {
        if (value_->is_number()) return value_->dump();
        if (value_->is_object()) return "an object";
        if (value_->is_array()) return "a list";
        return value_->is_null() ? "null" : value_->is_string() ? "a string" : "a boolean";
    }

    const Json* value_;
    const Node* parent_ = nullptr;
    std::string root_;  ///< the place of one without parent
    std::string_view name_;
    std::size_t index_ = 0;
};

}  // namespace ipoib::reports
