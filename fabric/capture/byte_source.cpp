// SPDX-License-Identifier: GPL-2.0-or-later
// A file or standard input as one stream of octets, decompressed on the way, in bounded memory.
#include "fabric/capture/byte_source.hpp"

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

constexpr std::size_t buffer_size = std::size_t{256} << 10;

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

ByteSource::ByteSource(const std::string& path) : name_{path == "-" ? "standard input" : path} {
    descriptor_ = open_for_reading(path);
    if (!descriptor_)
        finish(errno == EINTR ? End::stopped : End::corrupt, name_ + ": " + reason(errno));
    else
        start();
}

ByteSource::ByteSource(Descriptor descriptor, std::string name)
    : descriptor_{std::move(descriptor)}, name_{std::move(name)} {
    start();
}

void ByteSource::start() {
    struct stat status {};
    if (fstat(descriptor_.value(), &status) != 0) return finish(End::corrupt, name_ + ": " + reason(errno));
    if (S_ISDIR(status.st_mode)) return finish(End::corrupt, name_ + " is a directory, not a capture");
    is_regular_ = S_ISREG(status.st_mode);
    if (is_regular_) size_ = static_cast<std::uint64_t>(status.st_size);
    window_.resize(buffer_size);

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
    raw_ = std::exchange(window_, std::vector<std::uint8_t>(buffer_size));
    undecoded_ = wire::Octets{raw_}.first(filled_);
    begin_ = filled_ = 0;
    raw_ended_ = end_ != End::not_yet;
    end_ = End::not_yet;
}

std::uint64_t ByteSource::position() const noexcept {
    return raw_offset_ - (decompressor_ ? undecoded_.size() : available());
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
    while (available() < wanted) {
        make_room(wanted);
        if (!fill()) break;
    }
    return {window_.data() + begin_, available()};
}

void ByteSource::make_room(std::size_t wanted) {
    if (begin_ + wanted > window_.size() && begin_ > 0) {
        std::memmove(window_.data(), window_.data() + begin_, available());
        filled_ -= begin_;
        begin_ = 0;
    }
    // Grows only as data arrive: a length that merely claims to be large costs nothing.
    if (filled_ == window_.size()) window_.resize(std::min(2 * window_.size(), longest_peek + buffer_size));
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
    if (count == 0 && end_ == End::not_yet) finish(End::clean);
    return count;
}

bool ByteSource::fill_decompressed(wire::MutableOctets room) {
    const std::string data = "the " + std::string{capture::name(compression_)} + " data ";
    const std::size_t room_size = room.size();
    while (end_ == End::not_yet) {
        const std::size_t before = undecoded_.size();
        // Asked even when there is nothing left to decode: a decompressor may hold octets back.
        const bool is_sound = decompressor_->decode(undecoded_, room);
        const std::size_t count = room_size - room.size();
        if (!is_sound) finish(End::corrupt, data + decompressor_->error());
        filled_ += count;
        if (count > 0) return true;
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
    return false;
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
    while (!stop_requested()) {
        const int ready = poll(&descriptor, 1, limit_ms);
        // On any other error read() itself tells what is wrong.
        if (ready > 0 || (ready < 0 && errno != EINTR)) return;
    }
}

void ByteSource::finish(End end, std::string error) {
    end_ = end;
    error_ = std::move(error);
}

}  // namespace ipoib::capture
