// SPDX-License-Identifier: GPL-2.0-or-later
// A directory of a test's own, removed with all that is in it.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace ipoib::fabric {

class TestDirectory {
public:
    TestDirectory() {
        auto pattern = (std::filesystem::temp_directory_path() / "ipoib-XXXXXX").string();
        if (!::mkdtemp(pattern.data())) throw std::runtime_error("no directory for the test: " + pattern);
        path_ = pattern;
    }
    ~TestDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TestDirectory(const TestDirectory&) = delete;
    TestDirectory& operator=(const TestDirectory&) = delete;

    [[nodiscard]] std::string operator/(const std::string& name) const { return path_ + '/' + name; }

private:
    std::string path_;
};

}  // namespace ipoib::fabric
