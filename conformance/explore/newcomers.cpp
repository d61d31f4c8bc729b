// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/explore/newcomers.hpp"

#include <algorithm>

namespace ipoib::conformance::explore {
using namespace std::chrono_literals;

namespace {

/// A node repeats what it asks for an address after a second; for how long the DUT asks is its own affair.
constexpr auto before_it_asks_again = 900ms;
constexpr auto longest_resolution = 5s;
constexpr auto longest_arrival = 5s;
constexpr auto between_looks = 10ms;

}  // namespace

std::vector<std::string> Newcomers::meet() {
    std::vector<std::string> lost;
    for (const bool is_v4 : {true, false}) {
        if (world_.address(0, is_v4).octets.is_zero()) continue;
        const std::string family = is_v4 ? "IPv4" : "IPv6";
        // In real time one answer may come late, so another one asks then.
        if (!is_answered(is_v4) && (world_.is_virtual() || !is_answered(is_v4)))
            lost.push_back("a node that the DUT has not met asks for its " + family +
                           " address, and has no answer when it would ask again");
        if (!is_reached(is_v4))
            lost.push_back("what the DUT sends first to a node that it has not met does not arrive, over " + family);
    }
    return lost;
}

bool Newcomers::is_answered(bool is_v4) {
    auto* const newcomer = add();
    if (!newcomer) return true;
    newcomer->send(world_.address(0, is_v4), next_payload());
    return arrives(before_it_asks_again, [this] { return world_.received(0); });
}

bool Newcomers::is_reached(bool is_v4) {
    auto* const newcomer = add();
    if (!newcomer) return true;
    world_.send(0, newcomer->address(is_v4), next_payload());
    return arrives(longest_resolution, [newcomer] { return received_by(newcomer->interface()); });
}

Station* Newcomers::add() {
    auto& newcomer = world_.add_newcomer();
    const auto is_up = [&] { return newcomer.is_running(); };
    if (!world_.loop().run_until(is_up, world_.loop().now() + longest_arrival)) return nullptr;
    // What it tells of itself is told.
    world_.loop().run_for(between_looks);
    return &newcomer;
}

const std::array<std::uint8_t, 8>& Newcomers::next_payload() {
    ++payload_.back();
    return payload_;
}

/// A DUT in another process is asked outside the loop's events.
bool Newcomers::arrives(fabric::Duration limit, const Received& received) {
    const auto deadline = world_.loop().now() + limit;
    while (world_.loop().now() < deadline && !fabric::Loop::stop_requested()) {
        world_.loop().run_for(between_looks);
        for (const auto& datagram : received())
            if (std::ranges::equal(datagram.payload, payload_)) return true;
    }
    return false;
}

}  // namespace ipoib::conformance::explore
