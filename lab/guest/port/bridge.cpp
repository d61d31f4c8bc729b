// SPDX-License-Identifier: GPL-2.0-or-later
// Frames and captures between a device of the module vib and the host.
#include "lab/guest/port/bridge.hpp"

#include "base/descriptor.hpp"
#include "lab/guest/port/framing.hpp"
#include "lab/guest/port/streams.hpp"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <functional>
#include <stdexcept>
#include <utility>

namespace ipoib::lab {
namespace {

/// What may wait for the host before the device has to.
constexpr std::size_t most_waiting = std::size_t{1} << 18;

Descriptor open_device(const std::string& path, int how) {
    Descriptor device{::open(path.c_str(), how | O_NONBLOCK | O_CLOEXEC)};
    if (!device) throw std::runtime_error(path + ": " + host::error_text(errno));
    return device;
}

class RawBridge {
public:
    RawBridge(int port, int stop, const std::string& path) : port_(port), stop_(stop), path_(path) {}
    void run() {
        device_ = open_device(path_, O_RDWR);
        while (serve()) {
        }
    }

private:
    /// One round; false at the end.
    bool serve() {
        const bool is_blocked = static_cast<bool>(device_) && is_device_full_;
        std::array<pollfd, 3> polled{
            {{stop_, POLLIN, 0},
             {port_, static_cast<short>((is_blocked ? 0 : POLLIN) | (to_host_.size() ? POLLOUT : 0)), 0},
             {device_.value(),
              static_cast<short>((to_host_.size() < most_waiting ? POLLIN : 0) | (is_blocked ? POLLOUT : 0)), 0}}};
        if (::poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR) return false;
        if (polled[0].revents || (polled[1].revents & (POLLHUP | POLLERR))) return false;
        if ((polled[1].revents & POLLIN) && !read_port()) return false;
        if (polled[2].revents & POLLOUT) is_device_full_ = false;
        if (!is_device_full_) write_device();
        if (polled[2].revents & (POLLIN | POLLERR | POLLHUP)) read_device();
        return write_some(port_, to_host_);
    }

    bool read_port() {
        std::array<std::uint8_t, 32768> octets;
        const auto count = ::read(port_, octets.data(), octets.size());
        if (count < 0) return errno == EAGAIN || errno == EINTR;
        if (!frames_.is_broken()) frames_.feed(OctetsView(octets).first(static_cast<std::size_t>(count)));
        return count > 0;
    }

    void write_device() {
        while (const auto frame = frames_.next()) {
            if (frame->empty()) {
                device_.close();
            } else {
                if (!device_) device_ = open_device(path_, O_RDWR);
                const auto count = ::write(device_.value(), frame->data(), frame->size());
                is_device_full_ = count < 0 && errno == EAGAIN;
                if (is_device_full_) return;
                if (count < 0 && errno == EINTR) continue;
                if (count < 0) std::fprintf(stderr, "%s: %s\n", path_.c_str(), host::error_text(errno).c_str());
            }
            frames_.used();
        }
        if (!frames_.is_broken() || !std::exchange(is_trusted_, false)) return;
        // A port of this kind cannot be closed from here; the link goes down, and what comes is not listened to.
        std::fprintf(stderr, "%s: the host sent an impossible length\n", path_.c_str());
        device_.close();
        write_frame(to_host_, {});
    }

    void read_device() {
        std::array<std::uint8_t, longest_frame> frame;
        while (device_ && to_host_.size() < most_waiting) {
            const auto count = ::read(device_.value(), frame.data(), frame.size());
            if (count < 0 && errno == EINTR) continue;
            if (count < 0 && errno == EAGAIN) return;
            if (count < 0) throw std::runtime_error(path_ + ": " + host::error_text(errno));
            const auto length = static_cast<std::size_t>(count);
            if (length != 0 && length < shortest_frame) continue;
            write_frame(to_host_, OctetsView(frame).first(length));
        }
    }

    int port_, stop_;
    const std::string& path_;
    Descriptor device_;
    FrameReader frames_;
    Buffer to_host_;
    bool is_device_full_ = false, is_trusted_ = true;
};

/// From the device to the host, each piece through `add`, which appends to what the host gets.
void send_all(int port, int stop, const std::string& path, const std::function<void(OctetsView, Buffer&)>& add) {
    const auto device = open_device(path, O_RDONLY);
    Buffer to_host;
    std::array<std::uint8_t, 65536> octets;
    for (;;) {
        std::array<pollfd, 3> polled{{{stop, POLLIN, 0},
                                      {port, static_cast<short>(to_host.size() ? POLLOUT : 0), 0},
                                      {to_host.size() < most_waiting ? device.value() : -1, POLLIN, 0}}};
        if (::poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR) return;
        if (polled[0].revents || (polled[1].revents & (POLLHUP | POLLERR))) return;
        if (polled[2].revents) {
            const auto count = ::read(device.value(), octets.data(), octets.size());
            if (count < 0 && errno != EAGAIN && errno != EINTR)
                throw std::runtime_error(path + ": " + host::error_text(errno));
            if (count == 0) throw std::runtime_error(path + " has ended");
            if (count > 0) add(OctetsView(octets).first(static_cast<std::size_t>(count)), to_host);
        }
        if (!write_some(port, to_host)) return;
    }
}

}  // namespace

void bridge_raw(int port, int stop, const std::string& device) { RawBridge(port, stop, device).run(); }

void bridge_tap(int port, int stop, const std::string& device) {
    CaptureReader capture;
    send_all(port, stop, device, [&](OctetsView octets, Buffer& to_host) {
        capture.feed(octets);
        while (const auto frame = capture.next()) write_frame(to_host, *frame);
        if (!capture.error().empty()) throw std::runtime_error(device + ": " + capture.error());
    });
}

void bridge_capture(int port, int stop, const std::string& device) {
    send_all(port, stop, device, [](OctetsView octets, Buffer& to_host) { to_host.add(octets); });
}

}  // namespace ipoib::lab
