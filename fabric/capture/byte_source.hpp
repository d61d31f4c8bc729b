// SPDX-License-Identifier: GPL-2.0-or-later
// A file or standard input as one stream of octets, decompressed on the way, in bounded memory.
#pragma once

#include "base/descriptor.hpp"
#include "fabric/capture/compression.hpp"
#include "fabric/capture/pool.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ipoib::capture {

/// How a stream ended.
enum class End : std::uint8_t {
    not_yet,
    clean,    ///< where the file ends, and with it every compressed member
    cut,      ///< the file ends within a compressed member
    corrupt,  ///< compressed data are damaged, or the system could not read
    no_room,  ///< to read on takes more memory than is left beside the other captures that are open
    stopped,  ///< by request_stop()
};

/// Reads what is there without waiting for a full buffer, so that a live capture on a pipe is seen as it comes. A file
/// whose decompressor wants more memory than is left beside other captures is decompressed to a temporary file first.
class ByteSource {
public:
    /// The most that peek() can be asked for.
    static constexpr std::size_t longest_peek = std::size_t{16} << 20;

    /// Opens `path` ("-" is standard input). Check error() before anything else.
    explicit ByteSource(const std::string& path, Pool& memory = Pool::memory(), Pool& disk = Pool::disk());
    /// Of an open descriptor; `name` is used in messages.
    ByteSource(Descriptor descriptor, std::string name, Pool& memory = Pool::memory(), Pool& disk = Pool::disk());
    ByteSource(const ByteSource&) = delete;
    ByteSource& operator=(const ByteSource&) = delete;
    ~ByteSource();

    /// The next octets, without consuming them: `wanted` (at most longest_peek) or more, fewer only at the end of the
    /// stream. Valid until the next peek() or read().
    wire::Octets peek(std::size_t wanted) {
        return wanted <= available() ? wire::Octets{window_.data() + begin_, available()} : peek_further(wanted);
    }
    /// Consumes octets that peek() has shown; they stay in place until the next peek() or read().
    void consume(std::size_t octets) noexcept {
        begin_ += octets;
        offset_ += octets;
    }
    /// Copies and consumes 1 to `to.size()` octets; 0 at the end of the stream.
    std::size_t read(wire::MutableOctets to);

    /// Called where there is nothing to read yet, and now and then while peek() or read() wait; what it throws they
    /// throw.
    void on_wait(std::function<void()> listener) { on_wait_ = std::move(listener); }

    /// Offset of the next octet in the decompressed stream.
    [[nodiscard]] std::uint64_t offset() const noexcept { return offset_; }
    /// `not_yet` until peek() or read() has asked for more than there is.
    [[nodiscard]] End end() const noexcept { return end_; }
    /// Why the stream could not be opened or read on; empty when it ended cleanly.
    [[nodiscard]] const std::string& error() const noexcept { return error_; }
    /// Path, or "standard input".
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] Compression compression() const noexcept { return compression_; }

    /// Octets of the raw file used so far, and its size or 0 when unknown.
    [[nodiscard]] std::uint64_t position() const noexcept;
    [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
    /// That the buffers are taken from.
    [[nodiscard]] Pool& memory() const noexcept { return memory_.pool(); }

private:
    void start();
    [[nodiscard]] std::size_t available() const noexcept { return filled_ - begin_; }
    wire::Octets peek_further(std::size_t wanted);
    bool make_room(std::size_t wanted);
    void give_back_window();
    [[nodiscard]] bool has_room(std::size_t window);
    bool fill();
    bool fill_decompressed(wire::MutableOctets room);
    std::size_t decode(wire::MutableOctets room);
    void give_up_decoding();
    void spool();
    [[nodiscard]] std::string spool_to(const Descriptor& file);
    std::size_t read_plain(wire::MutableOctets to);
    std::size_t read_raw(wire::MutableOctets to);
    void wait_for_input() const;
    bool read_undecoded();
    void finish(End end, std::string error = {});

    Descriptor descriptor_;
    std::string name_, error_;
    std::function<void()> on_wait_;
    bool is_regular_ = false, is_spooled_ = false;
    std::uint64_t size_ = 0, raw_offset_ = 0, offset_ = 0;
    End end_ = End::not_yet;
    bool raw_ended_ = false;

    std::vector<std::uint8_t> window_;
    std::size_t begin_ = 0, filled_ = 0;

    Compression compression_ = Compression::none;
    std::unique_ptr<Decompressor> decompressor_;
    std::vector<std::uint8_t> raw_;
    wire::Octets undecoded_;

    Share memory_, disk_;
    std::size_t on_disk_ = 0;        ///< octets of the file
    End end_of_spool_ = End::clean;  ///< how the stream itself has ended
    std::string error_of_spool_;
};

}  // namespace ipoib::capture
