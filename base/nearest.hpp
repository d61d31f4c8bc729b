// SPDX-License-Identifier: GPL-2.0-or-later
// What somebody may have meant by a word that names nothing.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace ipoib {

/// How many letters must be added, taken away, replaced or swapped with their neighbour to come from one to the other;
/// upper and lower case are the same.
[[nodiscard]] std::size_t letters_apart(std::string_view one, std::string_view other);

/// Compares a word with the names that there are, and keeps those that are nearest: at most a third of its letters
/// apart, or else names that begin with it.
class Nearest {
public:
    explicit Nearest(std::string_view word);
    void offer(std::string_view name);
    /// The nearest, each once, in the order of the offers; three at most.
    [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
    /// "; did you mean 'a' or 'b'?", to be put behind what is wrong; empty where nothing is near.
    [[nodiscard]] std::string question() const;

private:
    std::string word_;
    std::size_t apart_;  ///< the least that was found
    std::vector<std::string> names_;
};

/// The question about a word among names, each as `name` has it.
template <class Names, class Name>
[[nodiscard]] std::string did_you_mean(std::string_view word, const Names& names, Name name) {
    Nearest nearest{word};
    for (const auto& one : names) nearest.offer(name(one));
    return nearest.question();
}

}  // namespace ipoib
