// SPDX-License-Identifier: GPL-2.0-or-later
// Files of one line each, as the kernel writes them. What is not there, or is longer than any such line, is empty.
#pragma once

#include <fstream>
#include <string>

namespace ipoib::fabric {

[[nodiscard]] inline std::string line_of(const std::string& path) {
    constexpr std::size_t longest = 4096;
    std::ifstream file{path};
    std::string line(longest, '\0');
    file.read(line.data(), static_cast<std::streamsize>(line.size()));
    const auto count = static_cast<std::size_t>(file.gcount());
    line.resize(count < longest ? count : 0);
    return line.substr(0, line.find('\n'));
}

}  // namespace ipoib::fabric
