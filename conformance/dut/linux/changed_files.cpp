// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/dut/linux/changed_files.hpp"

#include "conformance/dut/linux/process.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

namespace ipoib::host {

std::optional<std::string> read_text(const std::string& path) {
    constexpr std::size_t most = std::size_t{1} << 20;
    const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    if (!file) return {};
    std::string text;
    std::array<char, 4096> buffer;
    for (;;) {
        const auto count = ::read(file.value(), buffer.data(), buffer.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return {};
        if (count == 0 || text.size() > most) break;
        text.append(buffer.data(), static_cast<std::size_t>(count));
    }
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text;
}

std::string write_text(const std::string& path, const std::string& text) {
    const Descriptor file{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
    if (!file) return path + ": " + error_text(errno);
    // The kernel takes a setting in one piece only.
    const auto line = text + '\n';
    const auto count = ::write(file.value(), line.data(), line.size());
    if (count < 0) return path + ": " + error_text(errno);
    return static_cast<std::size_t>(count) == line.size() ? std::string{} : path + ": written in part";
}

std::string ChangedFiles::change(const std::string& path, const std::string& text) {
    const auto before = read_text(path);
    if (!before) return path + ": " + error_text(errno);
    if (*before == text) return {};
    auto reason = write_text(path, text);
    const bool is_first = std::none_of(former_.begin(), former_.end(), [&](const Former& f) { return f.path == path; });
    if (reason.empty() && is_first) former_.push_back({path, *before});
    return reason;
}

void ChangedFiles::restore() noexcept {
    for (auto former = former_.rbegin(); former != former_.rend(); ++former)
        static_cast<void>(write_text(former->path, former->text));
    former_.clear();
}

}  // namespace ipoib::host
