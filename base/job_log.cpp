// SPDX-License-Identifier: GPL-2.0-or-later
// What ActionCommand of actions/runner and Command of azure-pipelines-agent take for a command, and somewhat more.
#include "base/job_log.hpp"

#include <string_view>

namespace ipoib {
namespace {

/// Comparing by culture, as the runners do, passes over many of them.
bool is_beyond_ascii(char c) noexcept { return static_cast<unsigned char>(c) >= 0x80; }
bool is_letter(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool ends_line(char c) noexcept { return c == '\n' || c == '\r'; }
bool is_blank(char c) noexcept { return c == ' ' || (c >= '\t' && c <= '\r') || is_beyond_ascii(c); }

std::size_t behind_foreign(std::string_view text, std::size_t at) noexcept {
    while (at < text.size() && is_beyond_ascii(text[at])) ++at;
    return at;
}

/// Whether the same character comes again, next.
bool is_doubled(std::string_view text, std::size_t at, std::size_t& behind) noexcept {
    const auto next = behind_foreign(text, at + 1);
    behind = next + 1;
    return next < text.size() && text[next] == text[at];
}

/// "##", letters, "[".
bool begins_bracket(std::string_view text, std::size_t at) noexcept {
    std::size_t next = 0;
    if (text[at] != '#' || !is_doubled(text, at, next)) return false;
    while (next < text.size() && (is_letter(text[next]) || is_beyond_ascii(text[next]))) ++next;
    return next < text.size() && text[next] == '[';
}

bool begins_colons(std::string_view text, std::size_t at) noexcept {
    std::size_t behind = 0;
    return text[at] == ':' && is_doubled(text, at, behind);
}

std::string_view by_number(bool is_hash, Notation notation) noexcept {
    switch (notation) {
        case Notation::json:
        case Notation::toml:
            return is_hash ? "\\u0023" : "\\u003a";
        case Notation::xml:
            return is_hash ? "&#35;" : "&#58;";
        case Notation::text:
            break;
    }
    return is_hash ? "\\x23" : "\\x3a";
}

/// The first place at or behind `from` where a command begins; the end of the text: there is none. `is_at_begin`: only
/// blanks stand before it on its line, and so it is kept.
std::size_t next_command(std::string_view text, std::size_t from, bool& is_at_begin) noexcept {
    for (auto at = from; at < text.size(); ++at) {
        const char c = text[at];
        if (begins_bracket(text, at) || (is_at_begin && begins_colons(text, at))) return at;
        is_at_begin = ends_line(c) || (is_at_begin && is_blank(c));
    }
    return text.size();
}

}  // namespace

std::string without_commands(std::string text, Notation notation) {
    bool is_at_begin = true;
    auto at = next_command(text, 0, is_at_begin);
    // Nearly always; a text may be a whole report.
    if (at == text.size()) return text;
    std::string out;
    for (std::size_t done = 0;; at = next_command(text, done, is_at_begin)) {
        out.append(text, done, at - done);
        if (at == text.size()) return out;
        out += by_number(text[at] == '#', notation);
        is_at_begin = false;
        done = at + 1;
    }
}

}  // namespace ipoib
