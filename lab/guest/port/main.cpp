// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-lab-port: what the lab's guest has at the ends of its virtio-serial ports.
#include "lab/guest/port/bridge.hpp"
#include "lab/guest/port/host_port.hpp"

#include <cstdio>
#include <exception>
#include <functional>
#include <optional>

namespace {

using namespace ipoib;

constexpr const char* usage =
    "usage: ipoib-lab-port serve PORT -- COMMAND [ARGUMENT...]   a command for each host that connects\n"
    "       ipoib-lab-port raw PORT DEVICE                       frames to and from /dev/vibraw<n>\n"
    "       ipoib-lab-port tap PORT [DEVICE]                     the frames of /dev/vibcap\n"
    "       ipoib-lab-port capture PORT [DEVICE]                 its pcap stream\n"
    "PORT is the name of a virtio-serial port, or its device.\n";

using Bridge = std::function<void(int port, int stop)>;

/// Empty for a command line that is wrong.
std::optional<Bridge> bridge_for(const host::Arguments& words) {
    const auto device = words.size() > 2 ? words[2] : std::string("/dev/vibcap");
    if (words.size() >= 4 && words[0] == "serve" && words[2] == "--") {
        constexpr host::milliseconds grace{2000};
        const host::Arguments command(words.begin() + 3, words.end());
        return [=](int port, int stop) { lab::bridge_command(port, stop, command, grace); };
    }
    if (words.size() == 3 && words[0] == "raw") return [=](int p, int stop) { lab::bridge_raw(p, stop, device); };
    if (words.size() < 2 || words.size() > 3) return {};
    if (words[0] == "tap") return [=](int port, int stop) { lab::bridge_tap(port, stop, device); };
    if (words[0] == "capture") return [=](int port, int stop) { lab::bridge_capture(port, stop, device); };
    return {};
}

}  // namespace

int main(int count, char** words) try {
    const host::Arguments arguments(words + 1, words + count);
    const auto bridge = bridge_for(arguments);
    if (!bridge) {
        std::fputs(usage, stderr);
        return 2;
    }
    const lab::Signals signals;
    const lab::HostPort port(arguments[1]);
    while (!signals.is_end()) {
        // Before the state is looked at, so that no later change is missed.
        signals.take_changes();
        if (port.is_connected()) {
            (*bridge)(port.descriptor(), signals.end());
            if (!port.is_connected()) port.discard();
        } else {
            signals.wait();
        }
    }
    return 0;
} catch (const std::exception& error) {
    std::fprintf(stderr, "ipoib-lab-port: %s\n", error.what());
    return 1;
}
