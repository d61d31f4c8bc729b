// SPDX-License-Identifier: GPL-2.0-or-later
// Atomic replacement as POSIX has it: a new file, fsync, rename, fsync of the folder.
#include "reports/atomic_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <optional>
#include <system_error>

#include <fmt/format.h>
#include "reports/text.hpp"

namespace ipoib::reports {
namespace {

/// Owns a file descriptor.
class File {
public:
    explicit File(int descriptor) : descriptor_(descriptor) {}
    File(const File&) = delete;
    File& operator=(const File&) = delete;
    ~File() { close(); }
    [[nodiscard]] bool open() const { return descriptor_ >= 0; }
    [[nodiscard]] int descriptor() const { return descriptor_; }
    bool close() {
        if (descriptor_ < 0) return true;
        const int result = ::close(descriptor_);
        descriptor_ = -1;
        return result == 0;
    }

private:
    int descriptor_;
};

std::string failure(const std::filesystem::path& path, std::string_view what, int number) {
    return fmt::format("{}: {}: {}", printable(path.string(), Lines::join), what,
                       std::generic_category().message(number));
}

bool write_all(int descriptor, std::string_view content) {
    while (!content.empty()) {
        const auto written = ::write(descriptor, content.data(), content.size());
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        content.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

/// A name that nothing has yet; created with the permissions that the umask leaves.
int create_beside(const std::filesystem::path& target, std::filesystem::path& temporary) {
    const auto folder = target.parent_path();
    for (int i = 0; i < 1000; ++i) {
        temporary = folder / fmt::format(".ipoib-report-{}-{}.tmp", ::getpid(), i);
        const int descriptor = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (descriptor >= 0 || errno != EEXIST) return descriptor;
    }
    return -1;
}

/// What a report would go to.
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
    File file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!file.open()) return failure(path, "cannot be opened for writing", errno);
    if (!write_all(file.descriptor(), content) || !file.close()) return failure(path, "cannot be written", errno);
    return {};
}

void sync_folder(const std::filesystem::path& target) {
    const auto folder = target.has_parent_path() ? target.parent_path() : std::filesystem::path(".");
    const File file(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (file.open()) ::fsync(file.descriptor());
}

std::string replace(const std::filesystem::path& target, std::optional<mode_t> mode, std::string_view content) {
    std::filesystem::path temporary;
    File file(create_beside(target, temporary));
    if (!file.open()) return failure(target, "cannot be created", errno);
    const bool written = (!mode || ::fchmod(file.descriptor(), *mode) == 0) && write_all(file.descriptor(), content) &&
                         ::fsync(file.descriptor()) == 0 && file.close();
    if (!written || ::rename(temporary.c_str(), target.c_str()) != 0) {
        const int number = errno;
        ::unlink(temporary.c_str());
        return failure(target, "cannot be written", number);
    }
    sync_folder(target);
    return {};
}

}  // namespace

std::string write_atomically(const std::filesystem::path& path, std::string_view content) {
    const auto place = place_of(path);
    if (!place.failure.empty()) return place.failure;
    return place.is_stream ? write_in_place(path, content) : replace(place.target, place.mode, content);
}

std::string why_not_writable(const std::filesystem::path& path) {
    const auto place = place_of(path);
    if (!place.failure.empty()) return place.failure;
    // To open a pipe and close it again would be the end of the file to its reader.
    if (place.is_stream) return ::access(path.c_str(), W_OK) == 0 ? "" : failure(path, "cannot be written", errno);
    std::filesystem::path temporary;
    File file(create_beside(place.target, temporary));
    if (!file.open()) return failure(place.target, "cannot be created", errno);
    ::unlink(temporary.c_str());
    // A full disk still has room for a name.
    constexpr std::size_t block = 4096;
    const bool is_written =
        write_all(file.descriptor(), std::string(block, ' ')) && ::fsync(file.descriptor()) == 0 && file.close();
    return is_written ? "" : failure(place.target, "cannot be written", errno);
}

std::string relative_to(const std::filesystem::path& folder, const std::filesystem::path& path) {
    const auto absolute = [](const std::filesystem::path& one) {
        std::error_code unknown;
        return std::filesystem::absolute(one, unknown).lexically_normal();
    };
    return absolute(path).lexically_relative(absolute(folder / "")).string();
}

Loaded<std::string> read_whole(const std::filesystem::path& path, std::size_t limit) {
    File file(path == "-" ? ::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0) : ::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.open()) return Loaded<std::string>::failed(failure(path, "cannot be opened", errno));
    std::string content;
    std::array<char, 65536> buffer{};
    while (true) {
        const auto size = ::read(file.descriptor(), buffer.data(), buffer.size());
        if (size < 0 && errno == EINTR) continue;
        if (size < 0) return Loaded<std::string>::failed(failure(path, "cannot be read", errno));
        if (size == 0) return Loaded<std::string>::of(std::move(content));
        if (content.size() + static_cast<std::size_t>(size) > limit)
            return Loaded<std::string>::failed(
                fmt::format("{}: larger than {} octets", printable(path.string(), Lines::join), limit));
        content.append(buffer.data(), static_cast<std::size_t>(size));
    }
}

}  // namespace ipoib::reports
