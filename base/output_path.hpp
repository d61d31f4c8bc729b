// SPDX-License-Identifier: GPL-2.0-or-later
// Where a file that is to be written will be: behind symbolic links, but for those that others may have put there.
#pragma once

#include "base/descriptor.hpp"

#include <sys/stat.h>
#include <sys/types.h>

#include <filesystem>
#include <optional>
#include <string>

namespace ipoib {

/// The end of a path's way: a folder that is held open, and a name in it. A symbolic link is followed where nobody else
/// can have made it: in a folder of ours or of root's that nobody else may write to, and in /proc, whose links are
/// descriptors. What is done here is done in that folder, whatever becomes of the path meanwhile.
class OutputPath {
public:
    enum class Folders : bool { as_they_are, made_where_missing };
    /// What a link at the path's very end is.
    enum class End : bool { followed, refused };

    explicit OutputPath(const std::filesystem::path&, Folders = Folders::as_they_are, End = End::followed);

    /// Whether the folder is there. Else `error` and `problem` say why it is not.
    explicit operator bool() const noexcept { return static_cast<bool>(folder_); }
    [[nodiscard]] int error() const noexcept { return error_; }
    /// Of the error, in words, without the path. It names a link that is not followed.
    [[nodiscard]] const std::string& problem() const noexcept { return problem_; }
    /// The path behind all links, for messages; also where it leads nowhere.
    [[nodiscard]] std::filesystem::path target() const { return where_ / name_; }
    /// A link was followed that is none of a descriptor.
    [[nodiscard]] bool is_behind_link() const noexcept { return is_behind_link_; }
    /// What is meant is in /proc, where nothing can be made.
    [[nodiscard]] bool is_in_proc() const { return target().native().starts_with("/proc/"); }

    /// What is there under the name, or behind the link in /proc.
    [[nodiscard]] std::optional<struct stat> state() const noexcept;
    /// The name is a link in /proc. `behind` goes to the path that it tells, if what it stands for has one.
    [[nodiscard]] bool is_descriptor() const noexcept { return is_descriptor_; }
    [[nodiscard]] OutputPath behind() const;
    [[nodiscard]] bool is_writable() const noexcept;
    /// As openat(2), not to be inherited. None with `errno`; a link that has taken the place since is ELOOP.
    [[nodiscard]] Descriptor open(int flags, mode_t mode = 0) const noexcept;
    /// Another name in the same folder, as openat(2) makes a new file, or removed.
    [[nodiscard]] Descriptor make_beside(const std::string& name, int flags, mode_t mode) const noexcept;
    void remove_beside(const std::string& name) const noexcept;
    /// That name takes the place. Then the folder is synced as far as it can be.
    [[nodiscard]] bool replace_by(const std::string& name) const noexcept;

private:
    friend class OutputWalk;
    Descriptor folder_;
    std::filesystem::path where_;  ///< the folder's path
    std::string name_;
    bool is_descriptor_ = false, is_behind_link_ = false;
    int error_ = 0;
    std::string problem_;
};

/// A file to be written as it grows, made where it is missing.
struct OutputFile {
    Descriptor descriptor{};
    int error = 0;          ///< why there is none
    std::string problem{};  ///< in words, without the path
};
/// `flags` as of open(2), without what makes it. With O_NOFOLLOW the path's end is no link, wherever it is.
[[nodiscard]] OutputFile open_output(const std::filesystem::path&, int flags, mode_t mode);

/// Whether the path stands for standard output; not where that keeps nothing, as /dev/null.
[[nodiscard]] bool is_standard_output(const std::filesystem::path&) noexcept;

/// Makes the folder and those that it is in, as far as they are missing. What went wrong, without the path; empty if
/// nothing.
[[nodiscard]] std::string make_output_folder(const std::filesystem::path&);

}  // namespace ipoib
