// SPDX-License-Identifier: GPL-2.0-or-later
// Words and numbers of --fabric.
#include "conformance/target/fabric_words.hpp"

#include "protocol/wire/text.hpp"

#include <stdexcept>
#include <string>

namespace ipoib::conformance {

std::optional<std::string_view> value_of(std::string_view word, std::string_view name) noexcept {
    return word.starts_with(name) ? std::optional{word.substr(name.size())} : std::nullopt;
}

std::uint64_t number_of(std::string_view name, std::string_view text, std::uint64_t most) {
    const auto number = wire::parse_number(text);
    if (!number || *number > most)
        throw std::invalid_argument(std::string(name.substr(0, name.find('='))) + " is a number, not '" +
                                    std::string(text) + "'");
    return *number;
}

}  // namespace ipoib::conformance
