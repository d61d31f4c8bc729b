// SPDX-License-Identifier: GPL-2.0-or-later
// Files that are whole or not there: a reader never sees half of one, a failed write leaves the old one.
#pragma once

#include "base/descriptor.hpp"
#include "base/output_path.hpp"

#include <sys/types.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace ipoib {

/// A new file under a temporary name in the folder of the one whose place it takes, once it is written. Whatever is not
/// done is told by `errno`.
class AtomicFile {
public:
    /// Makes `temporary`, which must not be there, beside `target` for its place. What open(2) needs beyond that to
    /// make a new file that is not inherited: O_WRONLY or O_RDWR, and the permissions of which the umask leaves some.
    AtomicFile(const std::filesystem::path& target, const std::filesystem::path& temporary, int flags, mode_t mode);
    /// Writable, under a name of its own that nobody can foresee, with the permissions that the umask leaves.
    explicit AtomicFile(OutputPath target);
    explicit AtomicFile(const std::filesystem::path& target) : AtomicFile(OutputPath{target}) {}
    /// Removes the temporary file where it has not taken the place.
    ~AtomicFile();
    AtomicFile(const AtomicFile&) = delete;
    AtomicFile& operator=(const AtomicFile&) = delete;

    [[nodiscard]] bool write(std::string_view content) const noexcept;
    /// Waits until the disk has it.
    [[nodiscard]] bool sync() const noexcept;
    /// It is there under the other's name, and under the temporary one no more. The folder is synced as far as it can
    /// be.
    [[nodiscard]] bool take_place() noexcept;
    /// The temporary name is gone at once; what is written from now on goes with the descriptor.
    void remove() noexcept;

    [[nodiscard]] const OutputPath& target() const noexcept { return target_; }

    /// None where the file could not be made. To be closed or taken over as is fit.
    Descriptor descriptor;

private:
    OutputPath target_;
    std::string temporary_;
    bool is_there_ = false;  ///< under the temporary name
};

/// Replaces the file by way of a temporary one in the same folder: written, synced, renamed. A symbolic link stays one,
/// and is refused where others may have made it (`OutputPath`); a device or a pipe (/dev/stdout) is written to as it
/// is. Returns what went wrong, with the path as it was given and where a link leads; empty if nothing.
[[nodiscard]] std::string write_atomically(const std::filesystem::path&, std::string_view content);

/// What `write_atomically` would stumble over, with the path, found by a temporary file beside it that is gone at once;
/// a file that is there stays as it is. Empty if nothing.
[[nodiscard]] std::string why_not_writable(const std::filesystem::path&);

}  // namespace ipoib
