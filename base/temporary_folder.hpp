// SPDX-License-Identifier: GPL-2.0-or-later
// A folder for files that nobody keeps, removed with all that is in it.
#pragma once

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

namespace ipoib {

class TemporaryFolder {
public:
    /// Throws std::runtime_error when there is no room for it.
    TemporaryFolder() {
        std::error_code error;
        const auto where = std::filesystem::temp_directory_path(error);
        if (error) throw std::runtime_error("TMPDIR names no folder");
        auto name = (where / "ipoib-XXXXXX").string();
        if (::mkdtemp(name.data()) == nullptr)
            throw std::runtime_error("no folder can be made in " + where.string() +
                                     " (TMPDIR): " + std::generic_category().message(errno));
        path_ = name;
    }
    ~TemporaryFolder() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }
    TemporaryFolder(const TemporaryFolder&) = delete;
    TemporaryFolder& operator=(const TemporaryFolder&) = delete;

    [[nodiscard]] const std::filesystem::path& path() const noexcept { return path_; }
    [[nodiscard]] std::string operator/(std::string_view name) const { return (path_ / name).string(); }

private:
    std::filesystem::path path_;
};

}  // namespace ipoib
