// SPDX-License-Identifier: GPL-2.0-or-later
// Outside of its strings a document of JSON is ASCII, so what is beyond stands in one, where it can be escaped. RFC
// 8259, 7.
#include "base/json_text.hpp"

#include <algorithm>
#include <utility>

#include "base/one_line.hpp"
#include "base/utf8.hpp"

namespace ipoib {
namespace {

void add_unit(std::string& text, char32_t unit) {
    constexpr std::string_view digits = "0123456789abcdef";
    text += "\\u";
    for (int shift = 12; shift >= 0; shift -= 4) text += digits[unit >> shift & 0xf];
}

void add_escape(std::string& text, char32_t c) {
    constexpr char32_t beyond = 0x10000;
    if (c < beyond) return add_unit(text, c);
    add_unit(text, 0xd800 + ((c - beyond) >> 10));
    add_unit(text, 0xdc00 + ((c - beyond) & 0x3ff));
}

}  // namespace

std::string printable_json(std::string json) {
    constexpr unsigned char del = 0x7f;
    const auto is_plain = [](char c) { return static_cast<unsigned char>(c) < del; };
    // Nearly always; a document may be large.
    if (std::all_of(json.begin(), json.end(), is_plain)) return json;
    std::string out;
    out.reserve(json.size());
    for_each_character(json, [&](const Character& character, std::string_view octets) {
        if (character.value < del || is_printable(character.value))
            out += octets;
        else
            add_escape(out, character.value);
    });
    return out;
}

void JsonWriter::begin(std::string_view name, char open, char close) {
    next(name);
    text_ += open;
    levels_.push_back({close});
}

void JsonWriter::next(std::string_view name) {
    if (!levels_.empty()) {
        if (!std::exchange(levels_.back().is_empty, false)) text_ += ',';
        break_line();
    }
    if (!name.empty()) text_.append("\"").append(name).append("\": ");
}

void JsonWriter::add_text(std::string_view text, std::string_view name) {
    next(name);
    for (auto end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
        text_.append(text.substr(0, end));
        break_line();
        text.remove_prefix(end + 1);
    }
    text_.append(text);
}

void JsonWriter::break_line() {
    constexpr std::size_t usual_piece = std::size_t{64} << 10;
    text_ += '\n';
    if (text_.size() >= usual_piece) sink_(std::exchange(text_, {}));
    text_.append(levels_.size(), ' ');
}

void JsonWriter::end() {
    const auto level = levels_.back();
    levels_.pop_back();
    if (!level.is_empty) break_line();
    text_ += level.end;
    if (levels_.empty()) sink_(std::exchange(text_, {}) + '\n');
}

}  // namespace ipoib
