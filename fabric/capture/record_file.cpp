// SPDX-License-Identifier: GPL-2.0-or-later
// Records to a descriptor.
#include "fabric/capture/record_file.hpp"

#include "base/output_path.hpp"
#include "fabric/capture/reader.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <stdexcept>
#include <system_error>
#include <utility>

namespace ipoib::capture {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& why) {
    throw std::runtime_error("cannot write " + path + ": " + why);
}

[[noreturn]] void fail(const std::string& path, int error) {
    refuse(path, std::generic_category().message(error ? error : EIO));
}

}  // namespace

/// Standard output is duplicated, so that closing the file leaves it open.
RecordFile::RecordFile(const std::string& path) : path_(path == "-" ? "standard output" : path) {
    constexpr mode_t everyone = 0666;
    if (path == "-") {
        descriptor_ = Descriptor{fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0)};
        if (!descriptor_) fail(path_, errno);
    } else {
        auto file = open_output(path, O_WRONLY | O_TRUNC, everyone);
        if (!file.descriptor) refuse(path_, file.problem);
        descriptor_ = std::move(file.descriptor);
    }
    buffer_.reserve(usual_size);
    // Standard output may be a file that somebody has written to already.
    const auto at =
        lseek(descriptor_.value(), 0, (fcntl(descriptor_.value(), F_GETFL) & O_APPEND) ? SEEK_END : SEEK_CUR);
    if (at > 0) size_ = static_cast<std::uint64_t>(at);
}

RecordFile::Outcome RecordFile::write() const noexcept {
    std::size_t done = 0;
    while (done < buffer_.size()) {
        const auto count = ::write(descriptor_.value(), buffer_.data() + done, buffer_.size() - done);
        // Who reads a pipe may have stopped reading.
        if (count < 0 && errno == EINTR && !stop_requested()) continue;
        if (count < 0) return {done, errno ? errno : EIO};
        done += static_cast<std::size_t>(count);
    }
    return {done, 0};
}

void RecordFile::cut_back(std::size_t written) const noexcept {
    struct stat about {};
    if (fstat(descriptor_.value(), &about) != 0 || !S_ISREG(about.st_mode)) return;
    const auto beyond = std::upper_bound(ends_.begin(), ends_.end(), written);
    const auto whole = size_ + (beyond == ends_.begin() ? 0 : *(beyond - 1));
    // Where even that is refused, readers see a record that is cut.
    if (ftruncate(descriptor_.value(), static_cast<off_t>(whole)) != 0) return;
    (void)lseek(descriptor_.value(), static_cast<off_t>(whole), SEEK_SET);
}

void RecordFile::flush() {
    if (!descriptor_) return;
    const auto [written, error] = write();
    if (error != 0) cut_back(written);
    size_ += written;
    buffer_.clear();
    ends_.clear();
    if (error != 0) fail(path_, error);
}

void RecordFile::close() {
    if (!descriptor_) return;
    flush();
    if (!descriptor_.close()) fail(path_, errno);
}

}  // namespace ipoib::capture
