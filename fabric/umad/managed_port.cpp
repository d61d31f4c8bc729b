// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of a managed port, put together.
#include "fabric/umad/managed_port.hpp"

#include "protocol/wire/lrh.hpp"

#include <stdexcept>

namespace ipoib::fabric {
using namespace wire;

ManagedPort::ManagedPort(Loop& loop, const UmadOptions& options, std::uint64_t sm_key)
    : loop_(loop), device_(options), gsi_(loop, device_), port_(gsi_) {
    port_.set_sm_key(sm_key);
    gsi_.tap = [this](const Frame& frame, bool is_sent) {
        if (!tap) return;
        const bool is_sm = View<Lrh>::at(frame.octets())[Lrh::slid] == gsi_.facts().sm_lid;
        const auto received_from = is_sm ? Sender::sa : Sender::other;
        tap({.time = loop_.now(),
             .octets = frame.octets(),
             .sender = is_sent ? Sender::tester : received_from,
             .is_rebuilt = true});
    };
}

void ManagedPort::bring_up(Time deadline) {
    constexpr Duration between_tries = std::chrono::milliseconds{300};
    const auto is_settled = [&] { return facts().is_active || !problem().empty(); };
    std::string why = "no subnet manager made it active";
    if (loop_.run_until(is_settled, deadline)) why = port_.learn_mtu(device_.port_number(), between_tries);
    while (!why.empty() && facts().is_active && loop_.now() < deadline && !Loop::stop_requested())
        why = port_.learn_mtu(device_.port_number(), between_tries);
    if (!why.empty()) throw std::runtime_error(device_.name() + ": " + why);
}

}  // namespace ipoib::fabric
