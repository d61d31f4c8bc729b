// SPDX-License-Identifier: GPL-2.0-or-later
// Tells the DUT what to do, and takes its refusals as each verb promises.
#include "conformance/bench/bench_dut.hpp"

#include "conformance/bench/bench.hpp"
#include "conformance/bench/case_context.hpp"
#include "conformance/bench/case_ends.hpp"

#include <algorithm>

namespace ipoib::conformance {
using namespace wire;

namespace {

std::vector<std::uint8_t> nonce_payload(std::uint16_t nonce, std::size_t size) {
    std::vector<std::uint8_t> octets(size);
    for (std::size_t i = 0; i < size; ++i) octets[i] = static_cast<std::uint8_t>(i % 2 ? nonce : nonce >> 8);
    return octets;
}

}  // namespace

Dut* BenchDut::operator->() {
    context_.observation.stimulate();
    return &context_.session.dut();
}

void BenchDut::comes_up() {
    context_.observation.stimulate();
    context_.session.bring_dut_up();
    context_.recorder.dut_is(context_.situation().dut.lid);
}

void BenchDut::begins_to_come_up() {
    try {
        (*this)->up();
    } catch (const ControlFailed& why) {
        bench_.note(std::string("the DUT says that it did not come up: ") + why.what());
    }
}

void BenchDut::sends(const IpAddress& to, std::uint16_t port, std::size_t payload) {
    auto& nonce = context_.situation().nonce;
    nonce = context_.session.next_nonce();
    constexpr unsigned ttl = 8;
    (*this)->send(to, port, nonce_payload(nonce, payload), ttl);
}

void BenchDut::is_seen_to_send(const IpAddress& to, std::uint16_t port) {
    constexpr auto patience = std::chrono::seconds{5};
    const auto datagram = udp_from_dut(to, port);
    sends(to, port);
    if (bench_.happens(datagram, within(patience))) return;
    sends(to, port);
    bench_.precondition(datagram, within(patience));
}

bool BenchDut::tries_to_send(const IpAddress& to, std::uint16_t port, std::size_t payload) {
    try {
        sends(to, port, payload);
        return true;
    } catch (const ControlFailed&) {
        // That it refuses to is one of the ways to be right.
        return false;
    }
}

void BenchDut::joins(const IpAddress& group) {
    try {
        (*this)->join(group);
    } catch (const ControlFailed& why) {
        bench_.note(std::string("the DUT says of its join of ") + text(group) + ": " + why.what());
    }
}

bool BenchDut::can_join(const IpAddress& group) {
    try {
        (*this)->join(group);
        return true;
    } catch (const ControlFailed&) {
        return false;
    }
}

bool BenchDut::receives(const Message& message, std::uint16_t port, Within each) {
    constexpr int attempts = 3;
    bool is_here = false;
    for (int i = 0; i < attempts && !is_here; ++i) {
        bench_.send(message);
        const auto nonce = bench_.situation().nonce;
        const auto from = bench_.situation().tester_address();
        is_here = context_.observation.comes_true(
            [&] {
                return std::ranges::any_of(context_.session.dut().received(), [&](const DatagramReceived& one) {
                    const auto octets = one.payload.size() / 2;
                    return one.port == port && one.from == from && octets > 1 &&
                           one.payload == hex_octets(payload_of(nonce, octets), octets);
                });
            },
            each);
    }
    return is_here;
}

std::optional<IpAddress> BenchDut::directed_broadcast() {
    constexpr unsigned longest = 30;  // RFC 3021
    for (const auto& network : context_.session.dut().interface().ipv4)
        if (network.address.v4() == bench_.situation().dut.ipv4 && network.length > 0 && network.length <= longest)
            return IpAddress::v4(network.address.v4() | 0xffffffffu >> network.length);
    return {};
}

bool BenchDut::takes_address(const IpNetwork& address) {
    try {
        (*this)->lend_address(address);
        return true;
    } catch (const ControlFailed&) {
        return false;
    }
}

bool BenchDut::takes_mtu(std::size_t mtu) {
    try {
        (*this)->set_mtu(mtu);
        return true;
    } catch (const ControlFailed&) {
        return false;
    }
}

void BenchDut::resolves(const IpAddress& address) {
    try {
        context_.session.dut().resolve(address);
    } catch (const ControlFailed&) {
        // Only what it sends is of interest.
    }
}

std::unique_ptr<Dut> BenchDut::begins_child(std::uint16_t p_key) {
    std::string name;
    try {
        name = (*this)->create_child(p_key);
    } catch (const ControlFailed& why) {
        bench_.not_applicable("the DUT has no interface with P_Key " + hex(p_key, 4) + ": " + why.what());
    }
    if (name.empty()) bench_.not_applicable("the adapter does not tell the name of the new interface");
    context_.recorder.port_is_shared();
    auto& session = context_.session;
    auto child = std::make_unique<Dut>(session.control(), name, session.options().timeout_scale);
    session.tell_scope(*child);
    try {
        child->up();
    } catch (const ControlFailed& why) {
        bench_.note("the DUT says that " + name + " did not come up: " + why.what());
    }
    return child;
}

bool BenchDut::is_found_again() {
    constexpr auto patience = std::chrono::seconds{20};
    if (!context_.observation.comes_true([&] { return context_.session.find_dut(); }, within(patience))) return false;
    context_.recorder.dut_is(context_.situation().dut.lid);
    return true;
}

std::size_t BenchDut::deliveries(std::uint16_t port) {
    const auto nonce = bench_.situation().nonce;
    const auto all = (*this)->received();
    return static_cast<std::size_t>(std::ranges::count_if(all, [&](const DatagramReceived& one) {
        return one.port == port &&
               one.payload == hex_octets(nonce_payload(nonce, one.payload.size() / 2), one.payload.size() / 2);
    }));
}

std::vector<std::string> BenchDut::quiet_log() {
    constexpr int most_waits = 6;
    (void)(*this)->log();
    auto before = (*this)->log();
    for (int i = 0; i < most_waits; ++i) {
        bench_.pass_time(within(5s));
        auto now = (*this)->log();
        const bool is_quiet = now.empty() || now == before;
        before = std::move(now);
        if (is_quiet) break;
    }
    return before;
}

std::unique_ptr<Dut> BenchDut::has_twin() {
    auto& session = context_.session;
    std::string name;
    try {
        name = (*this)->create_child(bench_.link().p_key);
    } catch (const ControlFailed& why) {
        bench_.not_applicable(std::string("the DUT has no second interface with one P_Key: ") + why.what());
    }
    if (name.empty()) bench_.not_applicable("the adapter does not tell the name of the new interface");
    context_.recorder.port_is_shared();
    auto twin = std::make_unique<Dut>(session.control(), name, session.options().timeout_scale);
    try {
        session.tell_scope(*twin);
        twin->up();
    } catch (const ControlFailed& why) {
        throw CaseEnds::inconclusive("the second interface does not come up: " + std::string(why.what()));
    }
    return twin;
}

void BenchDut::maps_rightly(const IpAddress& group) {
    if (!context_.observation.sees_all()) return;
    const auto asked = context_.observation.await(request_like(group), within(1s));
    if (!asked) return;
    Packet packet;
    context_.recorder.decode(*asked, packet);
    const auto mgid = packet.mc_member[McMemberRecord::mgid];
    const auto right = bench_.mgid_of(group);
    if (mgid != right)
        throw CaseEnds::inconclusive("the DUT maps " + text(group) + " to " + text(mgid) + ", not to " + text(right));
}

bool BenchDut::is_reached() {
    const auto mgid = context_.observation.stimulus().group;
    if (!mgid) return true;
    std::uint8_t state = 0;
    if (context_.has(fabric::Ability::trusted_sa)) {
        state = bench_.sa.join_state_of_dut(*mgid);
    } else {
        if (context_.observation.sees_all()) state = bench_.sa.join_state_asked(*mgid);
        if (state == 0) return false;
    }
    if ((state & (join_state::full_member | join_state::non_member)) == 0)
        throw CaseEnds::inconclusive(context_.findings.where() +
                                     "the message cannot have reached the DUT: its JoinState in " + text(*mgid) +
                                     " is " + std::to_string(state));
    return true;
}

}  // namespace ipoib::conformance
