// SPDX-License-Identifier: GPL-2.0-or-later
// Reading captures: classic pcap (through libpcap) and pcapng, plain or compressed, from a file or standard input.
#pragma once

#include "base/descriptor.hpp"
#include "protocol/wire/field.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace ipoib::capture {

/// Link types by their number in a capture file (tcpdump.org/linktypes.html): ERF, and those that the code names of the
/// rows in protocol/wire/medium.cpp.
enum class LinkType : std::uint16_t {
    ethernet = 1,
    linux_sll = 113,
    erf = 197,
    ipoib = 242,
    infiniband = 247,
    linux_sll2 = 276,
};
/// "ERF", "LINUX_SLL" ...; empty for a link type without a row.
[[nodiscard]] std::string_view name(LinkType);

/// One frame as captured. The octets are valid until the next call of Reader::next.
struct Frame {
    std::uint64_t number = 0;  ///< from 1, counting every packet record of the file, also those of other ERF types
    std::int64_t time_ns = 0;  ///< since 1970, UTC; for ERF in a pcap the time of the ERF header
    LinkType link_type{};  ///< of this frame's interface; ERF frames appear as `infiniband`, the ERF header taken off
    std::uint32_t interface = 0;
    wire::Octets octets;  ///< as captured: from the LRH on for `infiniband`, else the link type's own header on
    std::uint32_t wire_length = 0;  ///< what the frame had on the wire, as far as the capture tells; >= octets.size()
    std::uint64_t file_offset = 0;  ///< of the record in the (decompressed) file
    std::string_view comment{};     ///< the first that a pcapng has of it, valid as the octets are; else empty
    /// Packets that the record says were dropped since the one before it of its interface (ERF's loss counter, drop
    /// counts of pcapng); 0 also where it says nothing.
    std::uint64_t lost = 0;
    std::string_view lost_on{};  ///< the interface's name where `lost` is not 0, as Reader::interface_name has it
};

/// Packets that were dropped at an interface, as statistics of a pcapng count them: some time between two frames.
struct Loss {
    struct Place {
        std::uint64_t frame = 0;  ///< its number
        std::int64_t time_ns = 0;
    };
    std::uint64_t count = 0;
    std::uint32_t interface = 0;
    Place after;   ///< frame 0: since the beginning
    Place before;  ///< the frame that comes next, or would
};

enum class Status : std::uint8_t {
    frame,    ///< a frame was read
    end,      ///< the file ended where a record ends
    cut,      ///< the file ends within the last record; everything before it was read
    corrupt,  ///< the file cannot be read any further; error() says why and where
};

/// What was passed over.
struct Skipped {
    std::uint64_t erf_other = 0;      ///< ERF records of another type than InfiniBand
    std::uint64_t erf_malformed = 0;  ///< ERF records shorter than their own headers
    std::uint64_t blocks = 0;         ///< pcapng blocks that hold no packet and no interface
};

/// Reads one capture, frame by frame, in bounded memory. Not copyable.
class Reader {
public:
    /// Opens `path` ("-" is standard input). On failure `error()` is not empty and `next` answers `corrupt`.
    static Reader open(const std::string& path);
    /// Of an open descriptor (a pipe, a memory file); `name` is used in messages.
    static Reader from_descriptor(Descriptor descriptor, const std::string& name);
    Reader(Reader&&) noexcept;
    Reader& operator=(Reader&&) noexcept;
    ~Reader();

    /// Called by `next` for each loss that the file tells in statistics, which mostly stand at its end.
    void on_loss(std::function<void(const Loss&)> listener);
    /// Called by `next` where a pipe has nothing to read now, before it waits and now and then while it does.
    void on_wait(std::function<void()> listener);
    /// Whether the format has such statistics.
    [[nodiscard]] bool tells_loss_late() const noexcept;

    /// Reads the next frame. After request_stop() it answers `end`.
    Status next(Frame& frame);

    /// Why the file could not be opened or read on, with the offset; empty when nothing is wrong.
    [[nodiscard]] const std::string& error() const noexcept;
    /// "pcap", "pcapng", with the compression: "pcap, gzip".
    [[nodiscard]] const std::string& format() const noexcept;
    /// Link type in the file's own header (ERF stays ERF here); that of the first interface in a pcapng.
    [[nodiscard]] int file_link_type() const noexcept;
    /// The interface's name in a pcapng ("dut", "tester" ...), else empty. Valid for any `Frame::interface` seen.
    [[nodiscard]] std::string_view interface_name(std::uint32_t interface) const noexcept;
    /// The comment that a pcapng has of itself, if it has only one section so far; else empty.
    [[nodiscard]] std::string_view comment() const noexcept;
    [[nodiscard]] const Skipped& skipped() const noexcept;
    /// Octets of the file consumed so far, and its size or 0 when unknown (a pipe): for a progress bar.
    [[nodiscard]] std::uint64_t position() const noexcept;
    [[nodiscard]] std::uint64_t size() const noexcept;

private:
    struct State;
    explicit Reader(std::unique_ptr<State>);
    std::unique_ptr<State> state_;
};

/// Set from a signal handler: every Reader ends its reading as at the end of the file.
void request_stop() noexcept;
[[nodiscard]] bool stop_requested() noexcept;
/// For what is read afterwards.
void clear_stop() noexcept;

}  // namespace ipoib::capture
