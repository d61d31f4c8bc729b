// SPDX-License-Identifier: GPL-2.0-or-later
// A file or standard input as one stream of octets, decompressed on the way, in bounded memory.
#include "fabric/capture/byte_source.hpp"

#include "base/temporary_file.hpp"
#include "fabric/capture/reader.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace ipoib::capture {
namespace {

constexpr std::string_view than_is_left = "more memory than is left beside the other captures";

/// By how much pools grow with a file.
constexpr std::size_t per_octet_in_memory = 2, on_disk_per_octet = 16;

std::string reason(int error) { return std::generic_category().message(error); }

Descriptor open_for_reading(const std::string& path) {
    if (path == "-") return Descriptor{fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)};
    Descriptor descriptor;
    // Opening a named pipe waits for its writer and is interrupted by signals.
    do {
        descriptor = Descriptor{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY)};
    } while (!descriptor && errno == EINTR && !stop_requested());
    return descriptor;
}

}  // namespace

ByteSource::ByteSource(const std::string& path, Pool& memory, Pool& disk)
    : name_{path == "-" ? "standard input" : path}, memory_{memory}, disk_{disk} {
    descriptor_ = open_for_reading(path);
    if (!descriptor_)
        finish(errno == EINTR ? End::stopped : End::corrupt, name_ + ": " + reason(errno));
    else
        start();
}

ByteSource::ByteSource(Descriptor descriptor, std::string name, Pool& memory, Pool& disk)
    : descriptor_{std::move(descriptor)}, name_{std::move(name)}, memory_{memory}, disk_{disk} {
    start();
}

ByteSource::~ByteSource() {
    memory_.pool().shrink(on_disk_ / per_octet_in_memory);
    disk_.pool().shrink(on_disk_ * on_disk_per_octet);
}

void ByteSource::start() {
    struct stat status {};
    if (fstat(descriptor_.value(), &status) != 0) return finish(End::corrupt, name_ + ": " + reason(errno));
    if (S_ISDIR(status.st_mode)) return finish(End::corrupt, name_ + " is a directory, not a capture");
    is_regular_ = S_ISREG(status.st_mode);
    if (is_regular_) {
        size_ = static_cast<std::uint64_t>(status.st_size);
        // Who has many octets to be read may want more of memory, too; a hole in a file counts for nothing.
        constexpr std::uint64_t block = 512;
        on_disk_ = std::min<std::uint64_t>(size_, static_cast<std::uint64_t>(status.st_blocks) * block);
        memory_.pool().grow(on_disk_ / per_octet_in_memory);
        disk_.pool().grow(on_disk_ * on_disk_per_octet);
    }
    const auto buffer = buffer_size(memory_.pool());
    if (!has_room(buffer)) return finish(End::no_room, "it takes " + std::string(than_is_left));
    window_.resize(buffer);

    constexpr std::size_t magic_size = 4;
    const auto beginning = peek(magic_size);
    compression_ = detect_compression(beginning);
    if (compression_ == Compression::none) return;
    decompressor_ = make_decompressor(compression_);
    if (!decompressor_) {
        begin_ = filled_;
        const std::string kind{capture::name(compression_)};
        return finish(End::corrupt, name_ + " is compressed with " + kind + ", and " + kind + " is not built in");
    }
    // What was read so far is not the stream itself but what it is decoded from.
    const auto count = std::exchange(filled_, 0);
    begin_ = 0;
    raw_ = std::exchange(window_, {});
    if (!has_room(buffer)) return finish(End::no_room, "it takes " + std::string(than_is_left));
    window_.resize(buffer);
    undecoded_ = wire::Octets{raw_}.first(count);
    raw_ended_ = end_ != End::not_yet;
    end_ = End::not_yet;
}

std::uint64_t ByteSource::position() const noexcept {
    return raw_offset_ - (compression_ != Compression::none && !is_spooled_ ? undecoded_.size() : available());
}

std::size_t ByteSource::read(wire::MutableOctets to) {
    if (begin_ == filled_) {
        begin_ = filled_ = 0;
        if (!decompressor_ && to.size() >= window_.size()) {
            const std::size_t count = read_plain(to);
            offset_ += count;
            return count;
        }
        if (!fill()) return 0;
    }
    const std::size_t count = std::min(to.size(), available());
    std::memcpy(to.data(), window_.data() + begin_, count);
    consume(count);
    return count;
}

wire::Octets ByteSource::peek_further(std::size_t wanted) {
    while (available() < wanted)
        if (!make_room(wanted) || !fill()) break;
    return {window_.data() + begin_, available()};
}

/// Whether the window may have so many octets, beside what else there is. Then they are held.
bool ByteSource::has_room(std::size_t window) {
    const auto buffers = window + raw_.size();
    const auto decompressor = decompressor_ ? decompressor_->memory() : 0;
    // Who holds much leaves some for the buffers of others.
    const auto left_for_others = std::max(window, decompressor) > usual_buffer ? memory_.pool().of_buffers() : 0;
    return memory_.resize(buffers + decompressor, left_for_others);
}

/// After a long block, if others may need it.
void ByteSource::give_back_window() {
    std::vector<std::uint8_t> smaller(usual_buffer);
    std::memcpy(smaller.data(), window_.data() + begin_, available());
    filled_ = available();
    begin_ = 0;
    window_ = std::move(smaller);
    static_cast<void>(has_room(window_.size()));
}

bool ByteSource::make_room(std::size_t wanted) {
    if (window_.size() > usual_buffer && wanted <= usual_buffer && memory_.pool().is_scarce()) give_back_window();
    if (begin_ + wanted > window_.size() && begin_ > 0) {
        std::memmove(window_.data(), window_.data() + begin_, available());
        filled_ -= begin_;
        begin_ = 0;
    }
    // Grows only as data arrive: a length that merely claims to be large costs nothing.
    if (filled_ < window_.size()) return true;
    const auto size = std::min(2 * window_.size(), longest_peek + usual_buffer);
    if (!has_room(size)) {
        if (end_ == End::not_yet) finish(End::no_room, "a block takes " + std::string(than_is_left));
        return false;
    }
    window_.resize(size);
    return true;
}

/// Appends at least one octet to the window, which has room; false at the end of the stream.
bool ByteSource::fill() {
    if (end_ != End::not_yet) return false;
    const auto room = wire::MutableOctets{window_}.subspan(filled_);
    if (decompressor_) return fill_decompressed(room);
    const std::size_t count = read_plain(room);
    filled_ += count;
    return count > 0;
}

std::size_t ByteSource::read_plain(wire::MutableOctets to) {
    const std::size_t count = end_ == End::not_yet ? read_raw(to) : 0;
    if (count == 0 && end_ == End::not_yet) finish(end_of_spool_, error_of_spool_);
    return count;
}

bool ByteSource::fill_decompressed(wire::MutableOctets room) {
    const auto count = decode(room);
    filled_ += count;
    if (end_ != End::not_yet)
        give_up_decoding();
    else if (!has_room(window_.size()))
        spool();
    return count > 0;
}

/// Its memory is for others.
void ByteSource::give_up_decoding() {
    decompressor_.reset();
    static_cast<void>(has_room(window_.size()));
}

/// Decompresses at least one octet; 0 at the end of the stream.
std::size_t ByteSource::decode(wire::MutableOctets room) {
    const std::string data = "the " + std::string{capture::name(compression_)} + " data ";
    const std::size_t room_size = room.size();
    while (end_ == End::not_yet) {
        const std::size_t before = undecoded_.size();
        // Asked even when there is nothing left to decode: a decompressor may hold octets back.
        const bool is_sound = decompressor_->decode(undecoded_, room);
        const std::size_t count = room_size - room.size();
        if (!is_sound) finish(End::corrupt, data + decompressor_->error());
        if (count > 0) return count;
        if (end_ != End::not_yet) break;
        if (stop_requested()) {
            finish(End::stopped);
        } else if (undecoded_.empty()) {
            if (read_undecoded() || end_ != End::not_yet) continue;
            if (decompressor_->is_between_members())
                finish(End::clean);
            else
                finish(End::cut, data + "end too early");
        } else if (undecoded_.size() == before) {
            finish(End::corrupt, data + "cannot be decoded further");
        }
    }
    return 0;
}

/// The rest of the stream goes to a temporary file, so that no window is held while others are read. That takes the
/// window's memory once more, but before anything else is kept of this capture.
void ByteSource::spool() {
    const auto mebibytes = std::to_string((decompressor_->memory() >> 20) + 1);
    const auto refuse = [&](const std::string& why) {
        finish(End::no_room, "to decompress it takes " + mebibytes + " MiB, " + std::string(than_is_left) + why);
        give_up_decoding();
    };
    if (!is_regular_ || offset_ != 0) return refuse({});
    auto file = make_temporary_file();
    const auto why_not = file ? spool_to(file) : reason(errno);
    if (end_ == End::stopped) return;
    if (!why_not.empty())
        return refuse(", and it cannot be decompressed to " + temporary_place().string() + " (TMPDIR): " + why_not);
    end_of_spool_ = end_;
    error_of_spool_ = std::exchange(error_, {});
    end_ = End::not_yet;
    give_up_decoding();
    descriptor_ = std::move(file);
    is_spooled_ = true;
    raw_offset_ = filled_;
    size_ = filled_ + disk_.octets();
}

/// What went wrong; empty if nothing.
std::string ByteSource::spool_to(const Descriptor& file) {
    std::vector<std::uint8_t> piece(window_.size());
    off_t at = 0;
    while (const auto count = decode(piece)) {
        if (!disk_.resize(disk_.octets() + count)) return "it is too large";
        for (std::size_t done = 0; done < count;) {
            const auto written = ::pwrite(file.value(), piece.data() + done, count - done, at);
            if (written < 0 && errno == EINTR) continue;
            if (written <= 0) return reason(errno);
            done += static_cast<std::size_t>(written);
            at += written;
        }
        if (stop_requested()) finish(End::stopped);
    }
    return {};
}

bool ByteSource::read_undecoded() {
    const std::size_t count = raw_ended_ ? 0 : read_raw(raw_);
    undecoded_ = wire::Octets{raw_}.first(count);
    return count > 0;
}

/// Reads what is there, at least one octet; 0 at the end of the file, or when reading failed or was stopped.
std::size_t ByteSource::read_raw(wire::MutableOctets to) {
    for (;;) {
        if (!is_regular_) wait_for_input();
        if (stop_requested()) {
            finish(End::stopped);
            return 0;
        }
        const ssize_t count = ::read(descriptor_.value(), to.data(), to.size());
        if (count >= 0) {
            raw_offset_ += static_cast<std::size_t>(count);
            return static_cast<std::size_t>(count);
        }
        if (errno == EINTR || errno == EAGAIN) continue;
        finish(End::corrupt, "reading failed: " + reason(errno));
        return 0;
    }
}

/// Waits on a pipe or terminal until there is something to read or a stop is requested. Each wait is limited, since a
/// signal may arrive just before it begins, or on another thread.
void ByteSource::wait_for_input() const {
    constexpr int limit_ms = 200;
    pollfd descriptor{descriptor_.value(), POLLIN, 0};
    int limit = on_wait_ ? 0 : limit_ms;
    while (!stop_requested()) {
        const int ready = poll(&descriptor, 1, limit);
        // On any other error read() itself tells what is wrong.
        if (ready > 0 || (ready < 0 && errno != EINTR)) return;
        if (on_wait_) on_wait_();
        limit = limit_ms;
    }
}

/// What is in the window stays; nothing more comes.
void ByteSource::finish(End end, std::string error) {
    end_ = end;
    error_ = std::move(error);
}

}  // namespace ipoib::capture
