// SPDX-License-Identifier: GPL-2.0-or-later
// Two on a link: how they get there, and what was not done that one of them owed.
#include "conformance/interop/meeting.hpp"

#include "conformance/bench/case_ends.hpp"
#include "conformance/interop/asking.hpp"
#include "protocol/requirements/rfc4391.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ipoib::conformance::interop {
using namespace wire;
using namespace std::chrono_literals;

namespace {

/// Joins are retried with backoff up to 16 s.
constexpr auto longest_start = 30s, longest_rejoin = 60s, longest_join = 5s;
/// Router discovery and duplicate address detection: RFC 4861, 10; RFC 4862, 5.1.
constexpr auto longest_detection = 3s;
constexpr auto between_looks = 50ms;

constexpr Each<IpNetwork> usual_addresses{{IpAddress::v4(0x0a010009), 24}, {IpAddress::v4(0x0a01000a), 24}};

/// The one behind it, in the same network.
IpNetwork beside(const IpNetwork& network) { return {IpAddress::v4(network.address.v4() ^ 1u), network.length}; }

bool is_link_local(const IpAddress& address) {
    constexpr std::uint64_t link_local = 0xfe80;
    return !address.is_v4() && address.octets.prefix() >> 48 == link_local;
}

IpAddress address_in(const std::vector<IpNetwork>& networks) {
    for (const auto& one : networks)
        if (is_link_local(one.address)) return one.address;
    return networks.empty() ? IpAddress{} : networks.front().address;
}

}  // namespace

Meeting::Meeting(Place& place, Recorder& recorder, Ledger& ledger, const MeetingOptions& options)
    : place_(place), recorder_(recorder), ledger_(ledger), options_(options), link_(place.link()) {
    for (const auto side : both_sides) peers_[side].side = side;
    // Groups of a run lie in a range of its own.
    number_ = static_cast<std::uint16_t>(0x1000 + options.seed % 0x4000);
}

fabric::Duration Meeting::scaled(fabric::Duration usual) const {
    return std::chrono::duration_cast<fabric::Duration>(usual * options_.timeout_scale);
}

bool Meeting::wait_until(const std::function<bool()>& done, fabric::Duration usual) {
    const auto deadline = loop().now() + scaled(usual);
    while (!done()) {
        if (loop().now() >= deadline || fabric::Loop::stop_requested()) return false;
        loop().run_for(between_looks);
    }
    return true;
}

void Meeting::step(std::string_view title) {
    step_ = title;
    step_began_ = recorder_.size();
    recorder_.step(title, {});
}

void Meeting::not_applicable(Side side, const std::string& lacks) const {
    not_applicable(std::string(name(side)) + ' ' + lacks);
}

void Meeting::not_applicable(const std::string& why) const {
    throw CaseEnds::not_applicable(reports::NotJudged::profile, why);
}

void Meeting::charge(Side side, const requirements::Requirement& by, std::size_t frame, std::string expected,
                     std::string actual) {
    // What was not waited for to the end is nobody's fault.
    if (fabric::Loop::stop_requested()) throw CaseEnds::error("interrupted");
    auto sentence = fmt::format("{}: {} expected, {}", step_, expected, actual);
    recorder_.breach("CHARGED TO " + std::string(name(side)), sentence);
    ledger_[side].charges.push_back({&by, std::move(sentence), frame, std::move(expected), std::move(actual)});
    if (options_.charged) options_.charged(fmt::format("{}: {}", name(side), ledger_[side].charges.back().sentence));
}

std::optional<Side> Meeting::sender(const Packet& packet) const {
    if (!packet.lrh) return std::nullopt;
    const auto slid = packet.lrh[Lrh::slid];
    for (const auto side : both_sides)
        if (peers_[side].lids.contains(slid)) return side;
    return std::nullopt;
}

Gid Meeting::mgid_of(const IpAddress& group) const {
    return group.is_v4() ? mgid_for_ipv4(group.v4(), link_.p_key, link_.scope)
                         : mgid_for_ipv6(group.octets, link_.p_key, link_.scope);
}

bool Meeting::is_member(Side side, const Gid& mgid, std::uint8_t states) {
    return (place_.join_states(mgid, peers_[side].guid) & states) != 0;
}

bool Meeting::look_at(Side side) {
    auto& peer = peers_[side];
    peer.facts = ask(side, [](Dut& dut) { return dut.interface(); });
    if (!peer.facts.link_address) return false;
    const auto& address = *peer.facts.link_address;
    // While it is down an interface may tell zeros.
    if (address[LinkAddress::gid].is_zero()) return false;
    peer.guid = address[LinkAddress::gid].interface_id();
    peer.qpn = address[LinkAddress::qpn];
    peer.gid = place_.gid_of(peer.guid);
    if (const auto lid = place_.lid_of(peer.guid); lid != 0) {
        peer.lids.insert(lid);
        side == Side::dut ? recorder_.dut_is(lid) : recorder_.against_is(lid);
    }
    peer.ipv4 = peer.facts.ipv4.empty() ? IpAddress{} : peer.facts.ipv4.front().address;
    peer.ipv6 = address_in(peer.facts.ipv6);
    if (peer.guid == peers_[other(side)].guid)
        throw CaseEnds::error(fmt::format(
            "both have the port GUID {:016x}: nobody can tell them apart on one fabric; give one of them another",
            peer.guid));
    return peer.facts.is_up && !peer.lids.empty() && is_member(side, link_.broadcast_gid(), join_state::full_member);
}

/// Where one has addresses of its own, the other gets one beside it.
void Meeting::give_addresses(Side side) {
    auto& dut = place_.dut(side);
    if (!peers_[side].facts.ipv4.empty() || !dut.can("add_address")) return;
    const auto& others = peers_[other(side)].facts.ipv4;
    const auto address = others.empty() ? usual_addresses[side] : beside(others.front());
    ask(side, [&](Dut& of) { of.add_address(address); });
}

void Meeting::bring_up() {
    constexpr std::uint8_t usual_scope = 2;
    for (const auto side : both_sides) {
        if (!can(side, "interface"))
            throw CaseEnds::not_applicable(std::string(name(side)) +
                                           ": its adapter does not tell where it is (interface)");
        static_cast<void>(look_at(side));
    }
    Each<std::string> said;
    for (const auto side : both_sides) {
        give_addresses(side);
        try {
            if (link_.scope != usual_scope && can(side, "set_scope"))
                ask(side, [&](Dut& dut) { dut.configure_scope(link_.scope); });
            if (can(side, "up")) ask(side, [](Dut& dut) { dut.up(); });
        } catch (const SideRefused& why) {
            said[side] = fmt::format(" (it says: {})", why.what());
        }
    }
    Each<bool> is_up;
    static_cast<void>(wait_until(
        [&] {
            for (const auto side : both_sides) is_up[side] = is_up[side] || look_at(side);
            return is_up.dut && is_up.against;
        },
        longest_start));
    for (const auto side : both_sides) {
        const auto& by = rfc4391::broadcast_full_member_join;
        if (is_up[side])
            kept(side, by);
        else if (peers_[side].guid != 0 && peers_[side].lids.empty())
            throw SideUnknown(side, fmt::format("its adapter tells port GUID {:016x}, which no port of the fabric has",
                                                peers_[side].guid));
        else if (!peers_[side].facts.link_address && peers_[side].facts.is_up)
            throw SideUnknown(side, "its adapter tells no link_address, so nobody knows which port it is");
        else
            charge(side, by, 0, "an interface that is up and a FullMember of the broadcast group",
                   "none in 30 s" + said[side]);
    }
    if (!is_up.dut || !is_up.against) throw CaseEnds::as_judged();
    for (const auto side : both_sides) apply_settings(side);
}

void Meeting::apply_settings(Side side) {
    const auto& [mode, mtu] = options_.settings[side];
    if (!mode.empty()) ask(side, [mode = mode](Dut& dut) { dut.set_mode(mode); });
    if (mtu != 0) ask(side, [mtu = mtu](Dut& dut) { dut.set_mtu(mtu); });
    if (!mode.empty() || mtu != 0) static_cast<void>(wait_until([&] { return look_at(side); }, longest_start));
}

void Meeting::take_down() {
    for (const auto side : both_sides)
        if (can(side, "down")) ask(side, [](Dut& dut) { dut.down(); });
}

void Meeting::restart(Side side) {
    const auto before = peers_[side].qpn;
    anew_[side] = recorder_.size();
    ask(side, [](Dut& dut) { dut.restart(); });
    if (!wait_until([&] { return look_at(side); }, longest_start)) {
        charge(side, rfc4391::broadcast_full_member_join, 0,
               "an interface that is up again and a FullMember of the broadcast group", "none in 30 s");
        throw CaseEnds::as_judged();
    }
    kept(side, rfc4391::broadcast_full_member_join);
    if (peers_[side].qpn == before) note(side, "its queue pair has the same number after a restart");
}

void Meeting::need(Family family) {
    for (const auto side : both_sides) {
        if (family == Family::ipv6) wait_for_ipv6(side);
        if (peers_[side].address(family).octets.is_zero())
            not_applicable(side, family == Family::ipv4 ? "has no IPv4 address" : "has no IPv6 address");
    }
    if (family == Family::ipv6) {
        for (const auto side : both_sides) {
            const auto& by = rfc4391::link_local_format;
            if (is_link_local(peers_[side].ipv6))
                kept(side, by);
            else
                charge(side, by, 0, "an address with the prefix fe80::/64", "it has " + text(peers_[side].ipv6));
        }
        if (!ledger_.dut.charges.empty() || !ledger_.against.charges.empty()) throw CaseEnds::as_judged();
        return;
    }
    const auto& network = peers_.dut.facts.ipv4.front();
    if (!network.contains(peers_.against.ipv4))
        not_applicable(Side::against,
                       "is in no network with dut: " + text(peers_.against.ipv4) + " and " + text(network));
}

void Meeting::wait_for_ipv6(Side side) {
    static_cast<void>(wait_until(
        [&] {
            if (peers_[side].ipv6.octets.is_zero()) static_cast<void>(look_at(side));
            return !peers_[side].ipv6.octets.is_zero();
        },
        longest_detection));
}

void Meeting::join(Side side, const IpAddress& group) {
    ask(side, [&](Dut& dut) { dut.join(group); });
    const auto mgid = mgid_of(group);
    const auto& by = rfc4391::receiver_full_member_join;
    if (wait_until([&] { return is_member(side, mgid, join_state::full_member); }, longest_join)) return kept(side, by);
    charge(side, by, 0, fmt::format("a FullMember join of {} by {}", text(group), name(side)), "none in 5 s");
    throw CaseEnds::as_judged();
}

void Meeting::leave(Side side, const IpAddress& group) {
    ask(side, [&](Dut& dut) { dut.leave(group); });
    loop().run_for(scaled(between_looks));
}

IpAddress Meeting::fresh_group(Family family) {
    constexpr std::uint32_t v4 = 0xef490000;
    constexpr std::uint64_t v6 = std::uint64_t{0xff12} << 48, of_ours = 0x49490000;
    ++number_;
    return family == Family::ipv4 ? IpAddress::v4(v4 | number_) : IpAddress::v6(Gid::of(v6, of_ours | number_));
}

bool Meeting::set_mode(Side side, std::string_view mode) {
    if (!can(side, "set_mode")) return false;
    try {
        ask(side, [&](Dut& dut) { dut.set_mode(mode); });
    } catch (const Unsupported&) {
        return false;
    } catch (const SideRefused&) {
        return false;
    }
    for (const auto one : both_sides) static_cast<void>(wait_until([&] { return look_at(one); }, longest_start));
    forget_each_other();
    return true;
}

void Meeting::forget_each_other() {
    for (const auto side : both_sides)
        if (can(side, "flush_neighbours")) ask(side, [](Dut& dut) { dut.flush_neighbours(); });
}

void Meeting::restart_manager() {
    auto& fabric = place_.fabric();
    for (const bool runs : {false, true}) {
        if (const auto answer = fabric.change(fabric::SetManager{.runs = runs}); !answer.is_done())
            throw CaseEnds::not_applicable("the subnet manager here cannot be restarted: " + answer.message);
        loop().run_for(scaled(1s));
    }
    for (const auto side : both_sides) {
        const auto& by = rfc4391::broadcast_full_member_join;
        if (wait_until([&] { return look_at(side); }, longest_rejoin)) {
            kept(side, by);
            continue;
        }
        charge(side, by, 0, "a join of the broadcast group when the subnet manager asks to reregister",
               "it is no FullMember after 60 s");
    }
    if (!ledger_.dut.charges.empty() || !ledger_.against.charges.empty()) throw CaseEnds::as_judged();
}

}  // namespace ipoib::conformance::interop
