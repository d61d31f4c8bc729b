// SPDX-License-Identifier: GPL-2.0-or-later
// What the readers of the single capture formats have in common; Reader chooses one of them by the file's beginning.
#pragma once

#include "fabric/capture/byte_source.hpp"
#include "fabric/capture/reader.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace ipoib::capture {

/// Reads the records of one format; ERF headers are left on the frames.
class FormatReader {
public:
    explicit FormatReader(ByteSource& source) : source_{source} {}
    FormatReader(const FormatReader&) = delete;
    FormatReader& operator=(const FormatReader&) = delete;
    virtual ~FormatReader() = default;

    /// Reads the next packet record and numbers it. Not to be called again once it answered anything but `frame`.
    virtual Status next(Frame& frame) = 0;
    /// As the file's own header has it; -1 when it names none.
    [[nodiscard]] virtual int link_type() const noexcept = 0;
    [[nodiscard]] virtual std::string_view interface_name(std::uint32_t) const noexcept { return {}; }
    /// The comment of a pcapng of one section; empty where it has none.
    [[nodiscard]] virtual std::string_view comment() const noexcept { return {}; }
    /// Blocks that hold neither a packet nor what is needed to read one.
    [[nodiscard]] virtual std::uint64_t skipped_blocks() const noexcept { return 0; }

    void on_loss(std::function<void(const Loss&)> listener) { on_loss_ = std::move(listener); }

    /// Why the reading ended, or why it could not begin; empty when nothing is wrong.
    [[nodiscard]] const std::string& error() const noexcept { return error_; }

protected:
    /// The status for a stream that has no more octets, at a record's beginning or within one, with its error text.
    Status at_end_of_source(std::uint64_t record_offset, bool is_within_record);
    /// `corrupt`, with its error text.
    Status corrupt(std::uint64_t record_offset, const std::string& why);
    /// The same of what is no damage.
    Status given_up(std::uint64_t record_offset, const std::string& why);

    ByteSource& source_;
    std::uint64_t frames_ = 0;
    std::string error_;
    std::function<void(const Loss&)> on_loss_;
};

/// Whether the four octets at the beginning of a file are those of the format.
[[nodiscard]] bool is_pcap(wire::Octets magic) noexcept;
[[nodiscard]] bool is_pcapng(wire::Octets magic) noexcept;

/// A reader whose error() is not empty when the file's header cannot be read.
[[nodiscard]] std::unique_ptr<FormatReader> make_pcap_reader(ByteSource& source);
[[nodiscard]] std::unique_ptr<FormatReader> make_pcapng_reader(ByteSource& source);

}  // namespace ipoib::capture
