// SPDX-License-Identifier: GPL-2.0-or-later
// A raw port: frames over a stream, each behind a 16-bit big-endian length, LRH to VCRC; length 0 means link down.
#pragma once

#include "base/descriptor.hpp"
#include "fabric/loop.hpp"

#include <functional>
#include <string>
#include <vector>

namespace ipoib::fabric {

/// One end of the stream. Frames that it receives as a sink go out on the stream; frames that come from the stream go
/// to the sink it was given. The link is up from the beginning, down after a length of 0, and up again with the next
/// frame.
class RawPort : public FrameSink {
public:
    /// How long and how much a peer may leave unread.
    struct Patience {
        std::size_t queue = std::size_t{1} << 20;   ///< octets; beyond them sending waits
        Duration stall = std::chrono::seconds{30};  ///< without a single octet read: the stream is closed with an error
    };
    struct Counters {
        std::uint64_t sent = 0, received = 0;  ///< frames
        std::uint64_t octets_read = 0;
        /// Dropped: read, and PktLen is not that of the frame; or to be sent, and of an impossible length.
        std::uint64_t malformed = 0;
    };

    /// A stream socket, or a character device. The loop has the real clock.
    RawPort(Loop& loop, Descriptor descriptor, Patience patience);
    RawPort(Loop& loop, Descriptor descriptor) : RawPort(loop, std::move(descriptor), Patience{}) {}
    /// As `finish` in a second.
    ~RawPort() override;
    RawPort(const RawPort&) = delete;
    RawPort& operator=(const RawPort&) = delete;

    /// Where frames from the stream go, each as an event of the loop; without a sink they wait in the stream.
    void deliver_to(FrameSink* sink);
    /// Told when the link goes down or up again by what the peer sends, in order with its frames.
    void on_link(std::function<void(bool is_up)> listener) { link_listener_ = std::move(listener); }
    /// Told once, from the loop and after the last frame, that the stream is closed: why, or empty when the peer closed
    /// it behind a whole frame. The listener may destroy the port.
    void on_closed(std::function<void(const std::string& error)> listener) { closed_listener_ = std::move(listener); }

    /// Sends a frame. Both CRCs zero are filled in. When the queue is full this waits until the peer reads.
    void receive(const Frame& frame) override;
    void send_link_down();
    /// Lets what is queued out until then, if the peer reads on, and closes the stream. Nobody is told.
    void finish(Time until);
    [[nodiscard]] bool is_open() const noexcept { return static_cast<bool>(descriptor_); }
    [[nodiscard]] const Counters& counters() const noexcept { return counters_; }

private:
    /// Frames between the stream and the sink: events of the loop.
    struct Inbound : FrameSink {
        explicit Inbound(RawPort& p) : port(p) {}
        void receive(const Frame& frame) override;
        RawPort& port;
    };
    void serve(short events);
    void watch();
    void read_some();
    void take_frames();
    void take(wire::MutableOctets octets);
    void enqueue(wire::Octets octets);
    void write_some();
    void stop_writing();
    void wait_for_room();
    void change_link(bool is_up);
    void close(const std::string& error);
    [[nodiscard]] std::size_t queued() const noexcept { return out_.size() - written_; }

    Loop& loop_;
    Descriptor descriptor_;
    const Patience patience_;
    const bool is_socket_;
    FrameSink* sink_ = nullptr;
    std::function<void(bool)> link_listener_;
    std::function<void(const std::string&)> closed_listener_;
    Inbound inbound_{*this};
    std::vector<std::uint8_t> in_, out_;
    std::size_t filled_ = 0;   ///< of in_, from its beginning
    std::size_t written_ = 0;  ///< of out_: what follows is queued
    bool is_link_up_ = true, is_writable_ = true;
    short watched_ = 0;
    Counters counters_;
    std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);  ///< for events that come after its end
};

}  // namespace ipoib::fabric
