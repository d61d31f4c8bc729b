// SPDX-License-Identifier: GPL-2.0-or-later
// What cases ask of the DUT.
#include "conformance/bench/bench_state.hpp"

namespace ipoib::conformance {
using namespace wire;

namespace {

std::vector<std::uint8_t> nonce_payload(std::uint16_t nonce, std::size_t size) {
    std::vector<std::uint8_t> octets(size);
    for (std::size_t i = 0; i < size; ++i) octets[i] = static_cast<std::uint8_t>(i % 2 ? nonce : nonce >> 8);
    return octets;
}

}  // namespace

Dut& Bench::dut() {
    state_.mark = state_.recorder.size();
    state_.asked_group.reset();
    return state_.session.dut();
}

void Bench::dut_comes_up() {
    state_.mark = state_.recorder.size();
    state_.session.bring_dut_up();
    state_.recorder.dut_is(situation().dut.lid);
}

void Bench::dut_begins_to_come_up() {
    try {
        dut().up();
    } catch (const ControlFailed& why) {
        note(std::string("the DUT says that it did not come up: ") + why.what());
    }
}

void Bench::dut_sends(const IpAddress& to, std::uint16_t port, std::size_t payload) {
    auto& s = state_;
    s.situation().nonce = s.session.next_nonce();
    constexpr unsigned ttl = 8;
    dut().send(to, port, nonce_payload(s.situation().nonce, payload), ttl);
}

void Bench::dut_tries_to_send(const IpAddress& to, std::uint16_t port) {
    try {
        dut_sends(to, port);
    } catch (const ControlFailed&) {
        // That it refuses to is one of the ways to be right.
    }
}

void Bench::dut_joins(const IpAddress& group) {
    try {
        dut().join(group);
    } catch (const ControlFailed& why) {
        note(std::string("the DUT says of its join of ") + text(group) + ": " + why.what());
    }
}

void Bench::dut_resolves(const IpAddress& address) {
    try {
        dut().resolve(address);
    } catch (const ControlFailed&) {
        // Only what it sends is of interest.
    }
}

void Bench::control6() {
    if (situation().dut.ipv6.is_zero()) not_applicable("the DUT tells no IPv6 address");
    send_until(echo_request6(), echo_reply6(), within(2s));
    precondition(echo_reply6(), within(0ms));
}

bool Bench::dut_can_join(const IpAddress& group) {
    try {
        dut().join(group);
        return true;
    } catch (const ControlFailed&) {
        return false;
    }
}

void Bench::dut_begins_child(std::uint16_t p_key) {
    std::string name;
    try {
        name = dut().create_child(p_key);
    } catch (const ControlFailed& why) {
        not_applicable("the DUT has no interface with P_Key " + hex(p_key, 4) + ": " + why.what());
    }
    if (name.empty()) not_applicable("the adapter does not tell the name of the new interface");
    try {
        Dut{state_.session.control(), name, state_.session.options().timeout_scale}.up();
    } catch (const ControlFailed& why) {
        note("the DUT says that " + name + " did not come up: " + why.what());
    }
}

std::unique_ptr<Dut> Bench::dut_has_twin() {
    const auto& session = state_.session;
    std::string name;
    try {
        name = dut().create_child(link().p_key);
    } catch (const ControlFailed& why) {
        not_applicable(std::string("the DUT has no second interface with one P_Key: ") + why.what());
    }
    if (name.empty()) not_applicable("the adapter does not tell the name of the new interface");
    auto twin = std::make_unique<Dut>(state_.session.control(), name, session.options().timeout_scale);
    try {
        session.tell_scope(*twin);
        twin->up();
    } catch (const ControlFailed& why) {
        throw Inconclusive("the second interface does not come up: " + std::string(why.what()));
    }
    return twin;
}

}  // namespace ipoib::conformance
