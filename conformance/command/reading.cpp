// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/command/reading.hpp"

#include "conformance/command/usage.hpp"

#include <fstream>

namespace ipoib::conformance {

std::string text_of(const std::string& path) {
    constexpr std::size_t most = std::size_t{4} << 20;
    std::ifstream file{path, std::ios::binary};
    if (!file) throw UsageError(path + " cannot be read");
    std::string text(most + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    if (text.size() > most) throw UsageError(path + " is larger than 4 MiB");
    return text;
}

}  // namespace ipoib::conformance
