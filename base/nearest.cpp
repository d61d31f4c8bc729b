// SPDX-License-Identifier: GPL-2.0-or-later
// Distances between words: optimal string alignment.
#include "base/nearest.hpp"

#include <algorithm>
#include <array>

namespace ipoib {
namespace {

/// What is longer is compared no further: nobody mistypes it.
constexpr std::size_t longest = 64, most_names = 3, least_beginning = 3;

char lower(char c) noexcept { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool begins_with(std::string_view name, std::string_view word) {
    return name.size() >= word.size() &&
           std::equal(word.begin(), word.end(), name.begin(), [](char a, char b) { return lower(a) == lower(b); });
}

/// How far apart a name may be.
std::size_t tolerated(std::string_view word) { return word.size() / 3; }

}  // namespace

std::size_t letters_apart(std::string_view one, std::string_view other) {
    one = one.substr(0, longest);
    other = other.substr(0, longest);
    using Row = std::array<std::size_t, longest + 1>;
    Row before_last{}, last{}, row{};
    for (std::size_t j = 0; j <= other.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= one.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= other.size(); ++j) {
            const char a = lower(one[i - 1]), b = lower(other[j - 1]);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a == b ? 0 : 1)});
            if (i > 1 && j > 1 && a == lower(other[j - 2]) && lower(one[i - 2]) == b)
                row[j] = std::min(row[j], before_last[j - 2] + 1);
        }
        before_last = last;
        last = row;
    }
    return last[other.size()];
}

Nearest::Nearest(std::string_view word) : word_(word), apart_(tolerated(word) + 1) {}

void Nearest::offer(std::string_view name) {
    if (word_.size() > longest) return;
    const auto distance = letters_apart(word_, name);
    const bool is_beginning = word_.size() >= least_beginning && begins_with(name, word_);
    if (distance > tolerated(word_) && !is_beginning) return;
    const auto apart = std::min(distance, tolerated(word_) + 1);
    if (apart > apart_) return;
    if (apart < apart_) names_.clear();
    apart_ = apart;
    if (names_.size() < most_names && std::ranges::find(names_, name) == names_.end()) names_.emplace_back(name);
}

std::string Nearest::question() const {
    std::string text;
    for (std::size_t i = 0; i < names_.size(); ++i)
        text += (i == 0 ? "" : i + 1 == names_.size() ? " or " : ", ") + ('\'' + names_[i]) + '\'';
    return text.empty() ? text : "; did you mean " + text + '?';
}

}  // namespace ipoib
