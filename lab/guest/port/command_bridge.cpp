// SPDX-License-Identifier: GPL-2.0-or-later
// A command that speaks with the host.
#include "base/child_process.hpp"
#include "lab/guest/port/bridge.hpp"
#include "lab/guest/port/streams.hpp"

#include <poll.h>

#include <array>
#include <stdexcept>

namespace ipoib::lab {
namespace {

using host::milliseconds;
constexpr std::size_t most_unwritten = 65536;

/// Reads into the buffer; false at the end of the stream.
bool read_some(int from, Buffer& buffer) {
    std::array<std::uint8_t, 32768> octets;
    const auto count = ::read(from, octets.data(), octets.size());
    if (count > 0) buffer.add(OctetsView(octets).first(static_cast<std::size_t>(count)));
    return count > 0 || (count < 0 && (errno == EAGAIN || errno == EINTR));
}

}  // namespace

void bridge_command(int port, int stop, const host::Arguments& arguments, milliseconds grace) {
    ChildProcess command{Command::words(arguments), ChildProcess::Diagnostics::with_ours, {grace, grace}};
    if (!command.error().empty()) throw std::runtime_error(command.error());
    Buffer to_command, to_host;
    for (;;) {
        const bool has_room = to_command.size() < most_unwritten;
        std::array<pollfd, 4> polled{
            {{stop, POLLIN, 0},
             {port, static_cast<short>((has_room ? POLLIN : 0) | (to_host.size() ? POLLOUT : 0)), 0},
             {to_command.size() ? command.input.value() : -1, POLLOUT, 0},
             {to_host.size() < most_unwritten ? command.output.value() : -1, POLLIN, 0}}};
        if (::poll(polled.data(), polled.size(), -1) < 0 && errno != EINTR) break;
        if (polled[0].revents || (polled[1].revents & (POLLHUP | POLLERR))) break;
        if ((polled[1].revents & POLLIN) && !read_some(port, to_command)) break;
        // A command that has ended reads and says no more. The host must see that for itself: the port stays open.
        if (!command.input || !write_some(command.input.value(), to_command)) {
            command.input.close();
            to_command.clear();
        }
        if (polled[3].revents && !read_some(command.output.value(), to_host)) command.output.close();
        if (!write_some(port, to_host)) break;
    }
}

}  // namespace ipoib::lab
