// SPDX-License-Identifier: GPL-2.0-or-later
// Atomic replacement as POSIX has it: a new file, fsync, rename, fsync of the folder.
#include "base/atomic_file.hpp"

#include "base/one_line.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <optional>
#include <system_error>
#include <utility>

namespace ipoib {
namespace {

/// Names the path as it was given, and where its links lead.
std::string failure(const std::filesystem::path& given, const OutputPath& place, std::string_view what,
                    std::string_view why) {
    auto words = printable(given.string(), Lines::join);
    if (place.is_behind_link() && !place.is_in_proc())
        words += ", a link to " + printable(place.target().string(), Lines::join);
    return words.append(": ").append(what).append(": ").append(why);
}

std::string failure(const std::filesystem::path& given, const OutputPath& place, std::string_view what, int number) {
    return failure(given, place, what, std::generic_category().message(number));
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

/// Nobody knows it beforehand.
std::string temporary_name() {
    std::uint64_t number = 0;
    if (::getrandom(&number, sizeof number, 0) != sizeof number) number = static_cast<std::uint64_t>(::getpid());
    constexpr std::string_view digits = "0123456789abcdef";
    std::string name = ".ipoib-report-";
    for (int shift = 60; shift >= 0; shift -= 4) name += digits[(number >> shift) & 0xfU];
    return name + ".tmp";
}

/// What would be replaced.
struct Place {
    OutputPath path;
    std::optional<mode_t> mode{};  ///< of the file that is there
    bool is_stream = false;        ///< a device or a pipe, which is written to as it is
    std::string failure{};         ///< why nothing can be written here
};

Place place_of(const std::filesystem::path& path) {
    Place place{.path = OutputPath{path}};
    auto state = place.path ? place.path.state() : std::nullopt;
    // Behind /dev/stdout may be a pipe, which has no path of its own; a file has one.
    if (state && place.path.is_descriptor() && S_ISREG(state->st_mode)) {
        place.path = place.path.behind();
        state = place.path ? place.path.state() : std::nullopt;
    }
    const int error = place.path ? (state ? 0 : errno) : place.path.error();
    const auto fails = [&](std::string_view what, auto why) { place.failure = failure(path, place.path, what, why); };
    if (!place.path)
        fails(error == ENOENT ? "cannot be created" : "cannot be reached", std::string_view(place.path.problem()));
    else if (!state && error == ENOENT && place.path.is_in_proc())
        fails("cannot be written", EBADF);
    else if (!state && error != ENOENT)
        fails("cannot be reached", error);
    else if (state && S_ISDIR(state->st_mode))
        fails("cannot be written", EISDIR);
    else if (state && S_ISREG(state->st_mode))
        place.mode = state->st_mode & 0777U;
    else
        place.is_stream = state.has_value();
    return place;
}

std::string write_in_place(const std::filesystem::path& path, const OutputPath& place, std::string_view content) {
    Descriptor file{place.open(O_WRONLY)};
    if (!file) return failure(path, place, "cannot be opened for writing", errno);
    if (!write_all(file, content) || !file.close()) return failure(path, place, "cannot be written", errno);
    return {};
}

std::string replace(const std::filesystem::path& path, Place place, std::string_view content) {
    AtomicFile file{std::move(place.path)};
    if (!file.descriptor) return failure(path, file.target(), "cannot be created", errno);
    const bool is_done = (!place.mode || ::fchmod(file.descriptor.value(), *place.mode) == 0) && file.write(content) &&
                         file.sync() && file.descriptor.close() && file.take_place();
    return is_done ? "" : failure(path, file.target(), "cannot be written", errno);
}

}  // namespace

AtomicFile::AtomicFile(const std::filesystem::path& target, const std::filesystem::path& temporary, int flags,
                       mode_t mode)
    : target_(target), temporary_(temporary.filename()) {
    descriptor = target_.make_beside(temporary_, flags, mode);
    is_there_ = static_cast<bool>(descriptor);
}

AtomicFile::AtomicFile(OutputPath target) : target_(std::move(target)) {
    constexpr int most_tries = 1000;
    constexpr mode_t everyone = 0666;
    for (int i = 0; i < most_tries; ++i) {
        temporary_ = temporary_name();
        descriptor = target_.make_beside(temporary_, O_WRONLY, everyone);
        if (descriptor || errno != EEXIST) break;
    }
    is_there_ = static_cast<bool>(descriptor);
}

AtomicFile::~AtomicFile() { remove(); }

bool AtomicFile::write(std::string_view content) const noexcept { return write_all(descriptor, content); }

bool AtomicFile::sync() const noexcept { return ::fsync(descriptor.value()) == 0; }

bool AtomicFile::take_place() noexcept {
    if (!target_.replace_by(temporary_)) return false;
    is_there_ = false;
    return true;
}

void AtomicFile::remove() noexcept {
    const int error = errno;
    if (std::exchange(is_there_, false)) target_.remove_beside(temporary_);
    errno = error;
}

std::string write_atomically(const std::filesystem::path& path, std::string_view content) {
    auto place = place_of(path);
    if (!place.failure.empty()) return place.failure;
    return place.is_stream ? write_in_place(path, place.path, content) : replace(path, std::move(place), content);
}

std::string why_not_writable(const std::filesystem::path& path) {
    auto place = place_of(path);
    if (!place.failure.empty()) return place.failure;
    // To open a pipe and close it again would be the end of the file to its reader.
    if (place.is_stream) return place.path.is_writable() ? "" : failure(path, place.path, "cannot be written", errno);
    AtomicFile file{std::move(place.path)};
    if (!file.descriptor) return failure(path, file.target(), "cannot be created", errno);
    file.remove();
    // A full disk still has room for a name.
    constexpr std::size_t block = 4096;
    const bool is_written = file.write(std::string(block, ' ')) && file.sync() && file.descriptor.close();
    return is_written ? "" : failure(path, file.target(), "cannot be written", errno);
}

}  // namespace ipoib
