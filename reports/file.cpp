// SPDX-License-Identifier: GPL-2.0-or-later
#include "reports/file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

#include <fmt/format.h>
#include "base/descriptor.hpp"
#include "base/one_line.hpp"

namespace ipoib::reports {

std::string relative_to(const std::filesystem::path& folder, const std::filesystem::path& path) {
    const auto absolute = [](const std::filesystem::path& one) {
        std::error_code unknown;
        return std::filesystem::absolute(one, unknown).lexically_normal();
    };
    return absolute(path).lexically_relative(absolute(folder / "")).string();
}

Loaded<std::string> read_whole(const std::filesystem::path& path, std::size_t limit) {
    const auto failed = [&](const std::string& why) {
        return Loaded<std::string>::failed(printable(path.string(), Lines::join) + ": " + why);
    };
    const auto with_reason = [](const char* what) {
        return fmt::format("{}: {}", what, std::generic_category().message(errno));
    };
    const Descriptor file{path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                      : ::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (!file) return failed(with_reason("cannot be opened"));
    std::string content;
    std::array<char, 65536> buffer{};
    while (true) {
        const auto size = ::read(file.value(), buffer.data(), buffer.size());
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) return failed(with_reason("cannot be read"));
        if (size == 0) return Loaded<std::string>::of(std::move(content));
        if (content.size() + static_cast<std::size_t>(size) > limit)
            return failed(fmt::format("larger than {} octets", limit));
        content.append(buffer.data(), static_cast<std::size_t>(size));
    }
}

}  // namespace ipoib::reports
