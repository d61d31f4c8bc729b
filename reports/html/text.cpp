// SPDX-License-Identifier: GPL-2.0-or-later
// Text from results made fit for a page.
#include "reports/html/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "reports/atomic_file.hpp"
#include "reports/text.hpp"

namespace ipoib::reports::html {
namespace {

constexpr std::size_t longest_text = 2000;

std::string_view entity_of(char c) {
    switch (c) {
        case '&':
            return "&amp;";
        case '<':
            return "&lt;";
        case '>':
            return "&gt;";
        case '"':
            return "&quot;";
        case '\'':
            return "&#39;";
        default:
            return {};
    }
}

std::string escaped(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char c : text)
        if (const auto entity = entity_of(c); entity.empty())
            out += c;
        else
            out += entity;
    return out;
}

}  // namespace

std::string plain(std::string_view text) { return escaped(clipped(printable(text, Lines::join), longest_text)); }
std::string verbatim(std::string_view text) { return escaped(printable(text)); }
std::string lines(std::string_view text) { return escaped(clipped(printable(text), longest_text)); }

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

std::string badge(Verdict verdict, std::string_view text) {
    return fmt::format("<span class=\"badge {}\">{}</span>", key_of(verdict), plain(text));
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
