// SPDX-License-Identifier: GPL-2.0-or-later
// Framing, queueing and closing of a raw port.
#include "fabric/socket/raw_port.hpp"

#include "fabric/socket/reason.hpp"
#include "protocol/wire/crc.hpp"
#include "protocol/wire/lrh.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace ipoib::fabric {
using namespace wire;

namespace {

constexpr std::size_t length_size = 2;
constexpr std::size_t read_size = std::size_t{64} << 10;
constexpr std::size_t crcs_size = icrc_size + vcrc_size;
constexpr Duration farewell = std::chrono::seconds{1};

bool is_socket(const Descriptor& descriptor) {
    struct stat status {};
    return ::fstat(descriptor.value(), &status) == 0 && S_ISSOCK(status.st_mode);
}

void fill_in_crcs(MutableOctets frame) {
    const auto crcs = frame.last(crcs_size);
    if (std::all_of(crcs.begin(), crcs.end(), [](auto octet) { return octet == 0; })) write_crcs(frame);
}

int milliseconds(Duration duration) {
    const auto rounded = std::chrono::ceil<std::chrono::milliseconds>(duration).count();
    return static_cast<int>(std::clamp<std::int64_t>(rounded, 0, 60'000));
}

}  // namespace

RawPort::RawPort(Loop& loop, Descriptor descriptor, Patience patience)
    : loop_(loop),
      descriptor_(std::move(descriptor)),
      patience_(patience),
      is_socket_(is_socket(descriptor_)),
      in_(read_size) {
    ::fcntl(descriptor_.value(), F_SETFL, ::fcntl(descriptor_.value(), F_GETFL) | O_NONBLOCK);
    ::fcntl(descriptor_.value(), F_SETFD, FD_CLOEXEC);
}

RawPort::~RawPort() {
    finish(loop_.now() + farewell);
    loop_.forget(inbound_);
}

void RawPort::deliver_to(FrameSink* sink) {
    sink_ = sink;
    watch();
}

void RawPort::watch() {
    if (!is_open()) return;
    const auto events = static_cast<short>((sink_ ? POLLIN : 0) | (queued() != 0 ? POLLOUT : 0));
    if (events == watched_) return;
    watched_ = events;
    if (events == 0)
        loop_.unwatch(descriptor_.value());
    else
        loop_.watch(descriptor_.value(), events, [this](short found) { serve(found); });
}

void RawPort::serve(short events) {
    if (events & POLLOUT) write_some();
    const bool is_over = (events & (POLLHUP | POLLERR)) != 0;
    if (is_over && !sink_) return stop_writing();
    if (is_open() && sink_ && (is_over || (events & POLLIN) != 0)) read_some();
}

void RawPort::read_some() {
    const auto count = ::read(descriptor_.value(), in_.data() + filled_, in_.size() - filled_);
    if (count > 0) {
        filled_ += static_cast<std::size_t>(count);
        counters_.octets_read += static_cast<std::size_t>(count);
        return take_frames();
    }
    // A peer that closes without having read all resets the stream.
    if (count == 0 || errno == ECONNRESET) return close(filled_ == 0 ? "" : "the stream ended within a frame");
    if (errno != EAGAIN && errno != EINTR) close("cannot read from the stream: " + reason(errno));
}

void RawPort::take_frames() {
    auto rest = MutableOctets{in_}.first(filled_);
    while (rest.size() >= length_size) {
        const auto length = static_cast<std::size_t>(read_bits(rest.data(), At{0}, 8 * length_size));
        const bool is_possible = length == 0 || (length >= shortest_frame && length <= longest_frame);
        if (!is_possible)
            return close("a frame of " + std::to_string(length) + " octets, not " + std::to_string(shortest_frame) +
                         " to " + std::to_string(longest_frame));
        if (rest.size() - length_size < length) break;
        if (length == 0)
            change_link(false);
        else
            take(rest.subspan(length_size, length));
        rest = rest.subspan(length_size + length);
    }
    std::copy(rest.begin(), rest.end(), in_.begin());
    filled_ = rest.size();
}

void RawPort::take(MutableOctets octets) {
    change_link(true);
    const auto to_icrc_end = View<Lrh>::at(octets)[Lrh::packet_length] * std::size_t{4};
    if (to_icrc_end + vcrc_size != octets.size()) {
        ++counters_.malformed;
        return;
    }
    ++counters_.received;
    fill_in_crcs(octets);
    loop_.deliver(loop_.now(), inbound_, Frame{octets});
}

void RawPort::Inbound::receive(const Frame& frame) {
    if (port.sink_) port.sink_->receive(frame);
}

void RawPort::change_link(bool is_up) {
    if (is_link_up_ == is_up) return;
    is_link_up_ = is_up;
    loop_.after(Duration{0}, [this, is_up, alive = std::weak_ptr(alive_)] {
        const auto told = alive.lock() ? link_listener_ : nullptr;
        if (told) told(is_up);
    });
}

void RawPort::close(const std::string& error) {
    if (!is_open()) return;
    loop_.unwatch(descriptor_.value());
    descriptor_.close();
    out_.clear();
    written_ = 0;
    loop_.after(Duration{0}, [this, error, alive = std::weak_ptr(alive_)] {
        const auto told = alive.lock() ? closed_listener_ : nullptr;
        if (told) told(error);
    });
}

void RawPort::receive(const Frame& frame) {
    if (!is_open() || !is_writable_) return;
    const auto size = frame.octets().size();
    if (size < shortest_frame || size > longest_frame) {
        ++counters_.malformed;
        return;
    }
    ++counters_.sent;
    enqueue(frame.octets());
}

void RawPort::send_link_down() {
    if (is_open() && is_writable_) enqueue({});
}

void RawPort::enqueue(Octets octets) {
    const bool was_empty = queued() == 0;
    const auto begin = out_.size();
    out_.resize(begin + length_size + octets.size());
    write_bits(out_.data() + begin, At{0}, 8 * length_size, octets.size());
    const auto frame = MutableOctets{out_}.subspan(begin + length_size);
    std::copy(octets.begin(), octets.end(), frame.begin());
    if (!octets.empty()) fill_in_crcs(frame);
    // Behind what waits already it waits too: the loop tells when the peer has read.
    if (was_empty) write_some();
    if (queued() > patience_.queue) wait_for_room();
}

void RawPort::write_some() {
    while (is_open() && queued() != 0) {
        const auto* from = out_.data() + written_;
        const auto count = is_socket_ ? ::send(descriptor_.value(), from, queued(), MSG_NOSIGNAL)
                                      : ::write(descriptor_.value(), from, queued());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0 && errno == EAGAIN) break;
        // What the peer sent before it closed is still read.
        if (count < 0 && (errno == EPIPE || errno == ECONNRESET)) return stop_writing();
        if (count < 0) return close("cannot write to the stream: " + reason(errno));
        written_ += static_cast<std::size_t>(count);
    }
    // What is written is given up in large pieces, so that no octet is moved often.
    if (written_ == out_.size() || written_ > patience_.queue) {
        out_.erase(out_.begin(), out_.begin() + static_cast<std::ptrdiff_t>(written_));
        written_ = 0;
    }
    watch();
}

void RawPort::stop_writing() {
    is_writable_ = false;
    out_.clear();
    written_ = 0;
    watch();
}

/// Waits until half of the queue is free. What the peer sends meanwhile is read, so that two that wait for each other
/// come on; but no more than twice the queue.
void RawPort::wait_for_room() {
    auto progress = loop_.now();
    const auto enough = counters_.octets_read + 2 * patience_.queue;
    while (is_open() && queued() > patience_.queue / 2 && !Loop::stop_requested()) {
        const auto left = progress + patience_.stall - loop_.now();
        if (left <= Duration{0}) {
            const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(patience_.stall).count();
            return close("the peer has not read for " + std::to_string(seconds) + " s");
        }
        const bool may_read = sink_ && counters_.octets_read < enough;
        pollfd entry{descriptor_.value(), static_cast<short>(POLLOUT | (may_read ? POLLIN : 0)), 0};
        if (::poll(&entry, 1, milliseconds(left)) <= 0) continue;
        const auto before = queued();
        write_some();
        if (queued() < before) progress = loop_.now();
        const bool is_readable = (entry.revents & POLLIN) != 0;
        if (is_readable && may_read && is_open()) read_some();
    }
}

/// Tries once, whatever the time is: of many that share it, one that does not read must not use up that of all.
void RawPort::finish(Time until) {
    for (bool is_over = false; is_open() && queued() != 0 && !is_over; is_over = loop_.now() >= until) {
        pollfd entry{descriptor_.value(), POLLOUT, 0};
        if (::poll(&entry, 1, milliseconds(until - loop_.now())) > 0) write_some();
    }
    if (!is_open()) return;
    loop_.unwatch(descriptor_.value());
    descriptor_.close();
}

}  // namespace ipoib::fabric
