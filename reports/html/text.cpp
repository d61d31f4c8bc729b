// SPDX-License-Identifier: GPL-2.0-or-later
// Text from results made fit for a page.
#include "reports/html/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "reports/file.hpp"

namespace ipoib::reports::html {
std::string link(const std::string& path, const std::filesystem::path& folder) {
    auto relative = relative_to(folder, path);
    // A name with a colon before any slash would be a scheme.
    if (relative.find(':') < relative.find('/')) relative.insert(0, "./");
    std::string out;
    for (const char c : relative) {
        const bool is_allowed = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                                std::string_view{"-._~/:@"}.find(c) != std::string_view::npos;
        out += is_allowed ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
    return out;
}

std::string base64(std::span<const std::uint8_t> octets) {
    constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string out;
    out.reserve((octets.size() + 2) / 3 * 4);
    for (std::size_t i = 0; i < octets.size(); i += 3) {
        const auto there = std::min<std::size_t>(3, octets.size() - i);
        unsigned bits = 0;
        for (std::size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < there ? octets[i + k] : 0u);
        for (unsigned k = 0; k < 4; ++k) out += k <= there ? digits[bits >> (18 - 6 * k) & 63] : '=';
    }
    return out;
}

std::string_view key_of(Verdict verdict) {
    constexpr std::array<std::string_view, 8> keys{"fail", "xpass", "error", "inconc", "warn", "xfail", "pass", "na"};
    return keys[static_cast<std::size_t>(verdict)];
}

void badge(Element parent, Verdict verdict, std::string_view text) {
    parent.add("span", {{"class", fmt::format("badge {}", key_of(verdict))}}).text(text);
}

Element table(Element parent, std::string_view kind, const std::vector<std::string_view>& columns) {
    auto whole = parent.add("table", {{"class", kind}});
    auto head = whole.add("thead").add("tr");
    for (const auto column : columns) head.add("th", {{"scope", "col"}}).literal(column);
    return whole.add("tbody");
}

Element section(Element main, std::string_view id, std::string_view title, bool is_counted) {
    auto part = main.add("section", {{"id", id}});
    auto heading = part.add("h2").literal(title);
    if (is_counted) heading.literal(" ").add("small", {{"class", "count"}});
    return part;
}

Element wide(Element parent, std::string_view label) {
    return parent.add("div", {{"class", "scroll"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", label}});
}

SectionKey section_of(const RequirementResult& requirement) {
    const auto document = requirement.id.substr(0, requirement.id.find('-'));
    const auto section = requirement.section.substr(0, requirement.section.find('.'));
    if (section.empty()) return {document, document};
    return {document + '-' + section, document + " section " + section};
}

std::string Context::capture_name(const Result& result) const {
    if (!is_by_capture || result.capture >= results.captures.size()) return {};
    return results.captures[result.capture].file;
}

std::string Context::sections_of(const Result& result) const {
    std::vector<std::string> keys;
    for (const auto& id : result.checks)
        if (const auto* requirement = requirements.find(id)) {
            auto key = section_of(*requirement).key;
            if (std::ranges::find(keys, key) == keys.end()) keys.push_back(std::move(key));
        }
    std::string text;
    for (const auto& key : keys) text += (text.empty() ? "" : " ") + key;
    return text;
}

}  // namespace ipoib::reports::html
