// SPDX-License-Identifier: GPL-2.0-or-later
#include "protocol/wire/registry_text.hpp"

#include "protocol/wire/text.hpp"

#include <algorithm>

namespace ipoib::wire {
namespace {

/// "JoinState" is join_state, "MTUSelector" mtu_selector, "TClass" tclass, "UD QPN" ud_qpn.
std::string filter_name(std::string_view name) {
    std::string filter;
    const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
    const auto is_lower = [](char c) { return c >= 'a' && c <= 'z'; };
    for (std::size_t i = 0; i < name.size(); ++i) {
        const char c = name[i];
        const bool is_after_word = i > 0 && is_lower(name[i - 1]);
        const bool is_after_acronym =
            i > 1 && i + 1 < name.size() && is_upper(name[i - 1]) && is_upper(name[i - 2]) && is_lower(name[i + 1]);
        const bool begins_word = is_upper(c) && (is_after_word || is_after_acronym);
        if (begins_word) filter += '_';
        if (is_upper(c))
            filter += static_cast<char>(c - 'A' + 'a');
        else
            filter += is_lower(c) || (c >= '0' && c <= '9') ? c : '_';
    }
    return filter;
}

std::string padded(std::string text, std::size_t width) {
    text.resize(std::max(text.size(), width), ' ');
    return text;
}

std::string way_text(const Way& way) {
    switch (way.kind) {
        case Way::Kind::path:
            return "on the way through packets";
        case Way::Kind::attribute:
            return "in " + std::string(name_of(mgmt_class_names, static_cast<std::uint64_t>(way.mgmt_class))) +
                   ", attribute " + hex(way.attribute_id, 4);
        case Way::Kind::inside:
            if (!way.field) return "behind " + std::string(way.outer->name);
            return "in " + std::string(way.outer->name) + '.' + std::string(way.field->name) +
                   (way.needs_context ? ", where other packets tell it" : "");
        case Way::Kind::instead:
            return "as a whole " + std::string(way.outer->name);
        case Way::Kind::none:
            break;
    }
    return {};
}

std::string field_line(const FieldSpec& field) {
    constexpr std::size_t name_width = 24, place_width = 14;
    const auto place = "octet " + std::to_string(field.at.bit / 8u) +
                       (field.at.bit % 8u ? "." + std::to_string(field.at.bit % 8u) : std::string());
    auto line = "  " + padded(std::string(field.name), name_width) + padded(place, place_width) +
                padded(std::to_string(field.width) + (field.width == 1 ? " bit" : " bits"), 10);
    line += field.help;
    return line.erase(line.find_last_not_of(' ') + 1) + '\n';
}

/// What it is called elsewhere.
std::string head(const RegistryRow& row) {
    const auto& header = *row.header;
    auto text = std::string(header.name) + ": " + std::string(header.title) + " (" + std::string(row.section) + "), " +
                std::to_string(header.size) + " octets\n";
    for (const auto& way : row.ways)
        if (const auto words = way_text(way); !words.empty()) text += "  found " + words + '\n';
    return text;
}

}  // namespace

std::vector<std::string> filters_of(const HeaderSpec& header) {
    std::vector<std::string> all;
    for (const auto& field : header.fields) {
        auto filter = "rfc4391." + std::string(header.key) + '.' + filter_name(field.name);
        while (std::ranges::find(all, filter) != all.end()) filter += '_';
        all.push_back(std::move(filter));
    }
    return all;
}

std::string explanation(const RegistryRow& row) {
    const auto& header = *row.header;
    auto text = head(row);
    text += "  set by ipoib-gen --set " + std::string(header.key) + ".FIELD=VALUE\n";
    text += row.shown == RegistryRow::Shown::by_plugin
                ? "  filtered in Wireshark by rfc4391." + std::string(header.key) + ".*: explain " +
                      std::string(header.name) + ".FIELD tells the filter\n"
                : "  shown in Wireshark by its own dissectors\n";
    for (const auto& field : header.fields) text += field_line(field);
    return text;
}

std::string explanation(const RegistryRow& row, const FieldSpec& field) {
    const auto& header = *row.header;
    auto text = head(row) + field_line(field);
    text += "  set by ipoib-gen --set " + std::string(header.key) + '.' + std::string(field.name) + "=VALUE\n";
    if (row.shown == RegistryRow::Shown::by_plugin)
        text += "  filtered in Wireshark by " +
                filters_of(header)[static_cast<std::size_t>(&field - header.fields.data())] + '\n';
    for (const auto& [value, name] : field.names)
        text += "    " + std::string(hex(value, (field.width + 3u) / 4u)) + "  " + std::string(name) + '\n';
    return text;
}

}  // namespace ipoib::wire
