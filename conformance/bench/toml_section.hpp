// SPDX-License-Identifier: GPL-2.0-or-later
// A table of a TOML file that a person wrote: every complaint names file and line, and unknown keys are errors.
#pragma once

#include "base/nearest.hpp"
#include "protocol/wire/ip_address.hpp"
#include "reports/complaints.hpp"
#include "reports/toml_document.hpp"
#include "reports/toml_text.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <string>
#include <vector>

namespace ipoib::conformance {

/// One table of the file; what is read from it is no unknown key.
class TomlSection {
public:
    TomlSection(const toml::table& table, std::string name, reports::Complaints& complaints)
        : table_(table), name_(std::move(name)), complaints_(complaints) {}

    void text(std::string_view key, std::string& into) {
        if (const auto* node = find(key)) {
            if (const auto* value = node->as_string())
                into = reports::from_ascii_toml(value->get());
            else
                wrong(*node, key, "must be a string");
        }
    }
    void one_of(std::string_view key, std::string& into, std::initializer_list<std::string_view> allowed) {
        const auto* node = find(key);
        if (!node) return;
        text(key, into);
        if (std::ranges::find(allowed, std::string_view(into)) != allowed.end()) return;
        std::string list;
        for (const auto value : allowed) list += (list.empty() ? "" : ", ") + std::string(value);
        wrong(*node, key, "must be one of " + list + did_you_mean(into, allowed, itself));
    }
    template <class T>
    void number(std::string_view key, T& into, std::int64_t least, std::int64_t most) {
        const auto* node = find(key);
        if (!node) return;
        const auto* value = node->as_integer();
        if (value && value->get() >= least && value->get() <= most)
            into = static_cast<T>(value->get());
        else
            wrong(*node, key, "must be a number from " + std::to_string(least) + " to " + std::to_string(most));
    }
    /// "20s"
    void seconds(std::string_view key, std::chrono::seconds& into) {
        const auto* node = find(key);
        if (!node) return;
        const auto* value = node->as_string();
        const auto words = value ? reports::from_ascii_toml(value->get()) : std::string{};
        std::uint32_t count = 0;
        const auto [end, error] = std::from_chars(words.data(), words.data() + words.size(), count);
        if (error == std::errc{} && end == words.data() + words.size() - 1 && *end == 's')
            into = std::chrono::seconds{count};
        else
            wrong(*node, key, "must be a time such as \"20s\"");
    }
    void texts(std::string_view key, std::vector<std::string>& into) {
        const auto* node = find(key);
        if (!node) return;
        const auto* list = node->as_array();
        if (!list) return wrong(*node, key, "must be a list of strings");
        into.clear();
        for (const auto& item : *list)
            if (const auto* value = item.as_string())
                into.push_back(reports::from_ascii_toml(value->get()));
            else
                wrong(item, key, "must be a list of strings");
    }
    void networks(std::string_view key, std::vector<wire::IpNetwork>& into) {
        std::vector<std::string> list;
        texts(key, list);
        for (const auto& one : list)
            if (const auto network = wire::parse_network(one))
                into.push_back(*network);
            else
                wrong(*table_.get(key), key, "\"" + one + "\" is no address with prefix length, such as 10.1.0.9/24");
    }
    /// Every text of the table, whatever its key among these.
    void all(std::initializer_list<std::string_view> keys, std::vector<std::pair<std::string, std::string>>& into) {
        for (const auto key : keys) {
            std::string value;
            text(key, value);
            if (!value.empty()) into.emplace_back(key, value);
        }
    }
    [[nodiscard]] bool has(std::string_view key) const { return table_.contains(key); }
    void refuse_unknown() {
        for (const auto& [key, value] : table_)
            if (std::ranges::find(known_, key.str()) == known_.end())
                complaints_.add(line_of(value), "unknown key \"" + reports::from_ascii_toml(key.str()) + "\" in [" +
                                                    name_ + ']' + did_you_mean(key.str(), known_, itself));
    }

    [[nodiscard]] static std::size_t line_of(const toml::node& node) { return node.source().begin.line; }
    [[nodiscard]] static std::string_view itself(std::string_view one) { return one; }

private:
    const toml::node* find(std::string_view key) {
        known_.emplace_back(key);
        return table_.get(key);
    }
    void wrong(const toml::node& node, std::string_view key, const std::string& what) {
        complaints_.add(line_of(node), std::string(key) + ' ' + what);
    }
    const toml::table& table_;
    std::string name_;
    reports::Complaints& complaints_;
    std::vector<std::string> known_;
};

}  // namespace ipoib::conformance
