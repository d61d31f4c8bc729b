// SPDX-License-Identifier: GPL-2.0-or-later
// A port's subscriptions to the reports of multicast groups created and deleted.
#include "stack/subscriptions.hpp"

#include "protocol/wire/inform_info.hpp"
#include "stack/backoff.hpp"
#include "stack/node.hpp"
#include "stack/octets.hpp"

#include <algorithm>

namespace ipoib::stack {
using namespace wire;
using namespace std::chrono_literals;

namespace {

Bytes<InformInfo> inform_info(std::uint16_t trap_number, bool is_subscribed) {
    constexpr std::uint32_t gsi = 1;
    constexpr std::uint8_t about_a_second = 18;
    Bytes<InformInfo> info;
    info.set(InformInfo::lid_range_begin, InformInfo::all)
        .set(InformInfo::is_generic, 1)
        .set(InformInfo::subscribe, is_subscribed ? 1 : 0)
        .set(InformInfo::type, InformInfo::all)
        .set(InformInfo::trap_number, trap_number)
        .set(InformInfo::qpn, gsi)
        .set(InformInfo::resp_time_value, about_a_second)
        .set(InformInfo::producer_type, InformInfo::all_producers);
    return info;
}

}  // namespace

void Subscriptions::ensure() {
    const auto& policy = node_.policy();
    for (const auto trap_number : {trap::multicast_group_created, trap::multicast_group_deleted}) {
        if (policy.subscribes(trap_number) && !std::exchange(asked_[trap_number], true))
            ask(trap_number, true, shortest_backoff);
    }
}

void Subscriptions::renew() {
    forget();
    ensure();
}

void Subscriptions::forget() {
    lifetime_.renew();
    asked_.clear();
}

void Subscriptions::withdraw() {
    lifetime_.renew();
    for (const auto& [trap_number, is_asked] : asked_)
        if (is_asked) ask(trap_number, false, shortest_backoff);
    asked_.clear();
}

void Subscriptions::ask(std::uint16_t trap_number, bool is_subscribed, fabric::Duration backoff) {
    const auto info = inform_info(trap_number, is_subscribed);
    auto answered = [this, trap_number, is_subscribed, backoff](const fabric::SaAnswer& answer) {
        if (answer.is_ok()) return;
        if (node_.policy().logs_failures)
            node_.log().write("subscription to trap " + std::to_string(trap_number) + " failed: " + reason_of(answer));
        if (!is_subscribed) return;
        auto again = [this, trap_number, backoff] { ask(trap_number, true, std::min(2 * backoff, longest_backoff)); };
        node_.loop().after(backoff, lifetime_.guard(std::move(again)));
    };
    // One that is repeated would undo what comes behind it.
    node_.sa().forget(open_[trap_number]);
    open_[trap_number] =
        node_.sa().ask({.method = Method::set, .attribute = attribute::inform_info, .record = octets_of(info)},
                       lifetime_.guard(std::move(answered)));
}

}  // namespace ipoib::stack
