// SPDX-License-Identifier: GPL-2.0-or-later
// Atomic replacement as POSIX has it: a new file, fsync, rename, fsync of the folder.
#include "base/atomic_file.hpp"

#include "base/one_line.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <optional>
#include <system_error>
#include <utility>

namespace ipoib {
namespace {

std::string failure(const std::filesystem::path& path, std::string_view what, int number) {
    return printable(path.string(), Lines::join).append(": ").append(what).append(": ") +
           std::generic_category().message(number);
}

bool write_all(const Descriptor& to, std::string_view content) noexcept {
    while (!content.empty()) {
        const auto written = ::write(to.value(), content.data(), content.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        content.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

Descriptor make(const std::filesystem::path& temporary, int flags, mode_t mode) {
    return Descriptor{::open(temporary.c_str(), flags | O_CREAT | O_EXCL | O_CLOEXEC, mode)};
}

void sync_folder(const std::filesystem::path& target) {
    const auto folder = target.has_parent_path() ? target.parent_path() : std::filesystem::path(".");
    const Descriptor file{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (file) ::fsync(file.value());
}

/// What would be replaced.
struct Place {
    std::filesystem::path target;  ///< behind symbolic links
    std::optional<mode_t> mode{};  ///< of the file that is there
    bool is_stream = false;        ///< a device or a pipe, which is written to as it is
    std::string failure{};         ///< why nothing can be written here
};

Place place_of(const std::filesystem::path& path) {
    // Behind /dev/stdout may be a pipe, which has no path of its own: it is opened by the name that was given.
    struct stat state {};
    if (::stat(path.c_str(), &state) == 0 && !S_ISREG(state.st_mode) && !S_ISDIR(state.st_mode))
        return {.target = path, .is_stream = true};
    std::error_code unknown;
    Place place{.target = path};
    if (std::filesystem::is_symlink(path, unknown)) place.target = std::filesystem::weakly_canonical(path, unknown);
    if (unknown && unknown != std::errc::no_such_file_or_directory)
        place.failure = failure(path, "cannot be reached", unknown.value());
    else if (::stat(place.target.c_str(), &state) == 0)
        place.mode = state.st_mode & 0777U;
    else if (errno != ENOENT)
        place.failure = failure(path, "cannot be created", errno);
    if (place.mode && S_ISDIR(state.st_mode)) place.failure = failure(path, "cannot be written", EISDIR);
    return place;
}

std::string write_in_place(const std::filesystem::path& path, std::string_view content) {
    Descriptor file{::open(path.c_str(), O_WRONLY | O_CLOEXEC)};
    if (!file) return failure(path, "cannot be opened for writing", errno);
    if (!write_all(file, content) || !file.close()) return failure(path, "cannot be written", errno);
    return {};
}

std::string replace(const Place& place, std::string_view content) {
    AtomicFile file{place.target};
    if (!file.descriptor) return failure(place.target, "cannot be created", errno);
    const bool is_done = (!place.mode || ::fchmod(file.descriptor.value(), *place.mode) == 0) && file.write(content) &&
                         file.sync() && file.descriptor.close() && file.take_place();
    return is_done ? "" : failure(place.target, "cannot be written", errno);
}

}  // namespace

AtomicFile::AtomicFile(std::filesystem::path target, std::filesystem::path temporary, int flags, mode_t mode)
    : descriptor(make(temporary, flags, mode)),
      target_(std::move(target)),
      temporary_(std::move(temporary)),
      is_there_(static_cast<bool>(descriptor)) {}

AtomicFile::AtomicFile(std::filesystem::path target) : target_(std::move(target)) {
    constexpr int most_tries = 1000;
    constexpr mode_t everyone = 0666;
    const auto name = ".ipoib-report-" + std::to_string(::getpid()) + '-';
    for (int i = 0; i < most_tries; ++i) {
        temporary_ = target_.parent_path() / (name + std::to_string(i) + ".tmp");
        descriptor = make(temporary_, O_WRONLY, everyone);
        if (descriptor || errno != EEXIST) break;
    }
    is_there_ = static_cast<bool>(descriptor);
}

AtomicFile::~AtomicFile() { remove(); }

bool AtomicFile::write(std::string_view content) const noexcept { return write_all(descriptor, content); }

bool AtomicFile::sync() const noexcept { return ::fsync(descriptor.value()) == 0; }

bool AtomicFile::take_place() noexcept {
    if (::rename(temporary_.c_str(), target_.c_str()) != 0) return false;
    is_there_ = false;
    sync_folder(target_);
    return true;
}

void AtomicFile::remove() noexcept {
    const int error = errno;
    if (std::exchange(is_there_, false)) ::unlink(temporary_.c_str());
    errno = error;
}

std::string write_atomically(const std::filesystem::path& path, std::string_view content) {
    const auto place = place_of(path);
    if (!place.failure.empty()) return place.failure;
    return place.is_stream ? write_in_place(path, content) : replace(place, content);
}

std::string why_not_writable(const std::filesystem::path& path) {
    const auto place = place_of(path);
    if (!place.failure.empty()) return place.failure;
    // To open a pipe and close it again would be the end of the file to its reader.
    if (place.is_stream) return ::access(path.c_str(), W_OK) == 0 ? "" : failure(path, "cannot be written", errno);
    AtomicFile file{place.target};
    if (!file.descriptor) return failure(place.target, "cannot be created", errno);
    file.remove();
    // A full disk still has room for a name.
    constexpr std::size_t block = 4096;
    const bool is_written = file.write(std::string(block, ' ')) && file.sync() && file.descriptor.close();
    return is_written ? "" : failure(place.target, "cannot be written", errno);
}

}  // namespace ipoib
