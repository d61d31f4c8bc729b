// SPDX-License-Identifier: GPL-2.0-or-later
// A file that grows by whole records: what the system does not take ends where a record ends.
#pragma once

#include "base/descriptor.hpp"
#include "protocol/wire/field.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace ipoib::capture {

/// Throws std::runtime_error, with the path and the system's reason, when the system refuses to write.
class RecordFile {
public:
    using Buffer = std::vector<std::uint8_t>;

    /// Makes the file, or empties it; "-" is standard output, which is left open.
    explicit RecordFile(const std::string& path);
    RecordFile(const RecordFile&) = delete;
    RecordFile& operator=(const RecordFile&) = delete;

    /// A record is appended here, in pieces, and then ended.
    [[nodiscard]] Buffer& buffer() noexcept { return buffer_; }
    void end_record() {
        ends_.push_back(static_cast<std::uint32_t>(buffer_.size()));
        if (buffer_.size() >= usual_size) flush();
    }
    /// Hands all records to the system.
    void flush();
    /// Flushes and closes; a second call does nothing.
    void close();

    /// The path for messages.
    [[nodiscard]] const std::string& path() const noexcept { return path_; }

private:
    static constexpr std::size_t usual_size = std::size_t{256} << 10;
    /// What was written of the buffer, and why not all of it (errno; 0).
    struct Outcome {
        std::size_t written = 0;
        int error = 0;
    };
    [[nodiscard]] Outcome write() const noexcept;
    void cut_back(std::size_t written) const noexcept;

    std::string path_;
    Descriptor descriptor_;
    Buffer buffer_;
    std::vector<std::uint32_t> ends_;  ///< of the records in the buffer
    std::uint64_t size_ = 0;           ///< of the file, in whole records
};

}  // namespace ipoib::capture
