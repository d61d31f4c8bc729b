// SPDX-License-Identifier: GPL-2.0-or-later
// A path is gone component by component, as the kernel does (path_resolution(7)), so that nothing changes on the way.
#include "base/output_path.hpp"

#include "base/one_line.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdint>
#include <deque>
#include <fstream>
#include <iterator>
#include <string_view>
#include <system_error>
#include <utility>

namespace ipoib {
namespace {

constexpr mode_t everyone_in_folders = 0777;
constexpr int to_folder = O_PATH | O_DIRECTORY | O_CLOEXEC;

/// Owners who are outside of this user namespace are all shown as one; the host's root is among them.
bool is_outside(uid_t owner) {
    constexpr uid_t shown_for_all = 65534;
    if (owner != shown_for_all) return false;
    std::ifstream rows{"/proc/self/uid_map"};
    for (std::uint64_t first = 0, outside = 0, count = 0; rows >> first >> outside >> count;)
        if (owner >= first && owner - first < count) return false;
    return true;
}

/// Somebody besides us and root, who may do anything. A user's own group has his number.
bool others_can_write(const Descriptor& folder) {
    struct stat state {};
    if (::fstat(folder.value(), &state) != 0) return true;
    const bool is_ours = state.st_uid == 0 || state.st_uid == ::geteuid() || is_outside(state.st_uid);
    const bool is_own_group = state.st_gid == 0 || (state.st_gid == ::getegid() && state.st_gid == ::geteuid());
    return !is_ours || (state.st_mode & S_IWOTH) != 0 || ((state.st_mode & S_IWGRP) != 0 && !is_own_group);
}

bool is_in_proc(const Descriptor& folder) {
    struct statfs about {};
    return ::fstatfs(folder.value(), &about) == 0 && about.f_type == PROC_SUPER_MAGIC;
}

std::optional<std::string> link_text(const Descriptor& folder, const std::string& name) {
    std::array<char, PATH_MAX> text{};
    const auto size = ::readlinkat(folder.value(), name.c_str(), text.data(), text.size());
    if (size < 0) return std::nullopt;
    return std::string(text.data(), static_cast<std::size_t>(size));
}

}  // namespace

/// One way from the beginning of a path to its end.
class OutputWalk {
public:
    OutputWalk(OutputPath& to, OutputPath::Folders folders, OutputPath::End end)
        : to_(to), folders_(folders), end_(end) {}

    void go(const std::filesystem::path& path) {
        if (path.empty()) return fail(ENOENT);
        begin(path);
        while (to_.folder_ && !rest_.empty()) {
            at_ = std::move(rest_.front());
            rest_.pop_front();
            step(std::string(at_));
        }
    }

private:
    /// The components before those that are left. A path that ends in a slash means the folder.
    void begin(const std::filesystem::path& path) {
        if (path.is_absolute() || !to_.folder_) {
            to_.where_ = path.is_absolute() ? "/" : "";
            to_.folder_ = Descriptor{::open(path.is_absolute() ? "/" : ".", to_folder)};
            if (!to_.folder_) return fail(errno);
        }
        const auto relative = path.relative_path();
        auto at = rest_.begin();
        for (const auto& component : relative)
            at = std::next(rest_.insert(at, component.empty() ? std::string(".") : component.string()));
        if (rest_.empty()) rest_.emplace_back(".");
    }

    void step(const std::string& name) {
        const bool is_last = rest_.empty();
        struct stat state {};
        const bool is_there = ::fstatat(to_.folder_.value(), name.c_str(), &state, AT_SYMLINK_NOFOLLOW) == 0;
        if (!is_there && errno != ENOENT) return fail(errno);
        if (is_there && S_ISLNK(state.st_mode)) return follow(name, is_last);
        if (is_last) {
            to_.name_ = name;
            return;
        }
        if (name == ".") return;
        if (!is_there && folders_ == OutputPath::Folders::made_where_missing &&
            ::mkdirat(to_.folder_.value(), name.c_str(), everyone_in_folders) != 0 && errno != EEXIST)
            return fail(errno);
        enter(name, O_NOFOLLOW);
    }

    void enter(const std::string& name, int flags) {
        Descriptor next{::openat(to_.folder_.value(), name.c_str(), to_folder | flags)};
        if (!next) return fail(errno);
        to_.folder_ = std::move(next);
        to_.where_ /= name;
    }

    void follow(const std::string& name, bool is_last) {
        constexpr int most_links = 40;
        if (++links_ > most_links || (is_last && end_ == OutputPath::End::refused)) return fail(ELOOP);
        // What these stand for may have no path, or another one by now: the kernel knows.
        if (is_in_proc(to_.folder_)) {
            if (!is_last) return enter(name, 0);
            to_.name_ = name;
            to_.is_descriptor_ = true;
            return;
        }
        if (others_can_write(to_.folder_)) {
            const auto link = (to_.where_ / name).string();
            fail(ELOOP);
            to_.problem_ = printable(link, Lines::join) + " is a symbolic link in a folder that others can write";
            return;
        }
        const auto text = link_text(to_.folder_, name);
        if (!text) return fail(errno);
        to_.is_behind_link_ = true;
        at_.clear();
        begin(*text);
    }

    void fail(int error) {
        to_.folder_ = {};
        auto target = to_.where_ / at_;
        for (const auto& name : rest_) target /= name;
        to_.where_ = target.parent_path();
        to_.name_ = target.filename();
        to_.error_ = error;
        to_.problem_ = std::generic_category().message(error);
    }

    OutputPath& to_;
    OutputPath::Folders folders_;
    OutputPath::End end_;
    std::string at_;  ///< the component at hand
    std::deque<std::string> rest_;
    int links_ = 0;
};

OutputPath::OutputPath(const std::filesystem::path& path, Folders folders, End end) {
    OutputWalk(*this, folders, end).go(path);
}

std::optional<struct stat> OutputPath::state() const noexcept {
    struct stat state {};
    const int how = is_descriptor_ ? 0 : AT_SYMLINK_NOFOLLOW;
    if (::fstatat(folder_.value(), name_.c_str(), &state, how) != 0) return std::nullopt;
    return state;
}

OutputPath OutputPath::behind() const { return OutputPath{link_text(folder_, name_).value_or("")}; }

bool OutputPath::is_writable() const noexcept { return ::faccessat(folder_.value(), name_.c_str(), W_OK, 0) == 0; }

Descriptor OutputPath::open(int flags, mode_t mode) const noexcept {
    if (!folder_) {
        errno = error_;
        return {};
    }
    const int how = flags | O_CLOEXEC | (is_descriptor_ ? 0 : O_NOFOLLOW);
    return Descriptor{::openat(folder_.value(), name_.c_str(), how, mode)};
}

Descriptor OutputPath::make_beside(const std::string& name, int flags, mode_t mode) const noexcept {
    if (!folder_) {
        errno = error_;
        return {};
    }
    const int how = flags | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    return Descriptor{::openat(folder_.value(), name.c_str(), how, mode)};
}

void OutputPath::remove_beside(const std::string& name) const noexcept { ::unlinkat(folder_.value(), name.c_str(), 0); }

bool OutputPath::replace_by(const std::string& name) const noexcept {
    if (::renameat(folder_.value(), name.c_str(), folder_.value(), name_.c_str()) != 0) return false;
    const Descriptor folder{::openat(folder_.value(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (folder) ::fsync(folder.value());
    return true;
}

OutputFile open_output(const std::filesystem::path& path, int flags, mode_t mode) {
    const OutputPath place{path, OutputPath::Folders::as_they_are,
                           (flags & O_NOFOLLOW) != 0 ? OutputPath::End::refused : OutputPath::End::followed};
    if (!place) return {.error = place.error(), .problem = place.problem()};
    auto descriptor = place.open(flags | O_CREAT, mode);
    if (!descriptor) return {.error = errno, .problem = std::generic_category().message(errno)};
    return {.descriptor = std::move(descriptor)};
}

bool is_standard_output(const std::filesystem::path& path) noexcept {
    struct stat meant {};
    struct stat output {};
    if (::stat(path.c_str(), &meant) != 0 || ::fstat(STDOUT_FILENO, &output) != 0) return false;
    struct stat nothing {};
    const bool keeps_nothing =
        S_ISCHR(output.st_mode) && ::stat("/dev/null", &nothing) == 0 && output.st_rdev == nothing.st_rdev;
    return !keeps_nothing && meant.st_dev == output.st_dev && meant.st_ino == output.st_ino;
}

std::string make_output_folder(const std::filesystem::path& path) {
    return OutputPath{path / "", OutputPath::Folders::made_where_missing}.problem();
}

}  // namespace ipoib
