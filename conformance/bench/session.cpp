// SPDX-License-Identifier: GPL-2.0-or-later
// Meeting the DUT on the link.
#include "conformance/bench/session.hpp"

#include "conformance/bench/case_ends.hpp"
#include "conformance/bench/expectation.hpp"
#include "conformance/bench/message.hpp"

#include <algorithm>

namespace ipoib::conformance {
using namespace wire;
using namespace std::chrono_literals;

namespace {

/// Joins are retried with backoff up to 16 s; only after this is a DUT taken for one that stays down.
constexpr auto longest_start = 30s;
constexpr auto between_looks = 50ms;
/// What waits longer for each answer would let one that answers ever later keep a run from its end.
constexpr auto longest_lateness = 4s;

/// What a tester and a DUT without addresses of their own get.
constexpr IpNetwork usual_dut{IpAddress::v4(0x0a010009), 24};

/// Nonces are UDP source ports too: none that a protocol owns.
constexpr std::uint16_t first_nonce = 0x4000, nonces = 0x8000;

std::uint32_t neighbour_of(const IpNetwork& network) {
    const auto mask = network.length == 0 ? 0u : ~std::uint32_t{0} << (32 - network.length);
    const auto first = (network.address.v4() & mask) + 1;
    return first == network.address.v4() ? first + 1 : first;
}

}  // namespace

Session::Session(fabric::Fabric& fabric, DutControl& control, SessionOptions options)
    : journaled_(options.keeps_journal ? std::make_unique<Journaled>(fabric, control) : nullptr),
      fabric_(journaled_ ? journaled_->fabric : fabric),
      control_(journaled_ ? journaled_->control : control),
      options_(std::move(options)),
      dut_(control_, options_.interface, options_.timeout_scale),
      nonce_(static_cast<std::uint16_t>(options_.seed % nonces)) {}

Session::~Session() {
    fabric_.observe({});
    fabric_.ports().front()->on_datagram({});
}

fabric::Duration Session::scaled(fabric::Duration duration) const {
    return std::chrono::duration_cast<fabric::Duration>(duration * options_.timeout_scale);
}

std::uint16_t Session::next_nonce() noexcept {
    nonce_ = static_cast<std::uint16_t>((nonce_ + 1) % nonces);
    return static_cast<std::uint16_t>(first_nonce + nonce_);
}

void Session::begin() {
    auto& port = *fabric_.ports().front();
    fabric_.observe([this](const fabric::Sighting& sighting) {
        if (recorder_) recorder_->add(sighting);
        if (connection_ends_) connection_ends_->saw(sighting);
    });
    port.on_datagram([this](Octets frame) {
        if (recorder_) recorder_->arrived(frame);
        Packet packet;
        decode(frame, packet);
        if (packet.arp_addresses && packet.lrh && packet.arp[Arp::operation] == Arp::reply) {
            std::ranges::copy(packet.arp_addresses.octets(), arp_answer_.octets.begin());
            arp_answer_lid_ = packet.lrh[Lrh::slid];
        }
        if (on_packet_) on_packet_(packet);
        if (tester_) tester_->take(frame);
        answer_echo(packet);
    });
    if (!loop().run_until([&] { return port.facts().is_active; }, loop().now() + scaled(longest_start)))
        throw SessionBroken("the tester's port did not become active: no subnet manager brought it up");
    connection_ends_ = std::make_unique<ConnectionEnds>(fabric_, port, situation_);
    tester_ = std::make_unique<Tester>(port, options_.p_key, manners(port.facts()));
    if (const auto count = tester_->end_what_was_left(); count > 0)
        notes_.push_back("a run that was killed had left " + std::to_string(count) +
                         " memberships and subscriptions in the name of the tester's port: they were ended");
    if (const auto why = tester_->enter_link(scaled(sa_patience)); !why.empty()) throw SessionBroken(why);
    situation_.link = tester_->link();
    dut_.greet();
    InterfaceFacts facts;
    try {
        facts = dut_.interface();
    } catch (const Unsupported&) {
        // Its addresses must then be known from elsewhere.
    } catch (const ControlFailed& why) {
        throw SessionBroken("the DUT does not tell of its interface: " + std::string(why.what()));
    }
    choose_addresses(facts);
    situation_.tester = tester_->self();
    tell_scope(dut_);
}

std::uint8_t Session::group_range() const noexcept {
    constexpr std::uint8_t first = 64, ranges = 128;
    return static_cast<std::uint8_t>(first + options_.seed % ranges);
}

Tester::Manners Session::manners(const fabric::PortFacts& port) {
    if (options_.journal_folder.empty()) return {};
    const auto guid = port.gid.interface_id();
    auto journal = journals_.find(guid);
    try {
        if (journal == journals_.end())
            journal = journals_.try_emplace(guid, options_.journal_folder, hex(guid, 16)).first;
    } catch (const std::runtime_error& why) {
        throw SessionBroken(why.what());
    }
    return {.journal = &journal->second,
            .is_of_run =
                [range = group_range()](const Gid& mgid) {
                    return (mgid.interface_id() >> 16 & 0xff) == range &&
                           (mgid.interface_id() & 0xffff) >= first_number;
                },
            .is_trusted = fabric_.abilities().has(fabric::Ability::trusted_sa)};
}

/// RFC 4391, 4.1: an interface may search the scope of its link, or take it from its configuration.
void Session::tell_scope(Dut& interface) const {
    constexpr std::uint8_t usual_scope = 2;
    if (situation_.link.scope == usual_scope || !dut_.can("set_scope")) return;
    try {
        interface.configure_scope(situation_.link.scope);
    } catch (const ControlFailed& why) {
        throw SessionBroken("the DUT cannot be told the scope of its link: " + std::string(why.what()));
    }
}

void Session::choose_addresses(const InterfaceFacts& facts) {
    auto addresses = facts.ipv4;
    if (addresses.empty()) {
        for (const auto& address : options_.dut_addresses)
            if (address.address.is_v4()) addresses.push_back(address);
        const bool is_known = !addresses.empty();
        if (!is_known) addresses.push_back(usual_dut);
        if (dut_.can("add_address"))
            for (const auto& address : addresses) dut_.add_address(address);
        else if (!is_known)
            addresses.clear();
    }
    if (!addresses.empty()) situation_.dut.ipv4 = addresses.front().address.v4();
    if (options_.tester_ip)
        tester_->set_ipv4(options_.tester_ip->address.v4());
    else if (!addresses.empty())
        tester_->set_ipv4(neighbour_of(addresses.front()));
}

void Session::answer_echo(const Packet& packet) {
    if (!tester_ || !packet.lrh || packet.lrh[Lrh::slid] != situation_.dut.lid || packet.is_fragment || packet.stop)
        return;
    auto asked = situation_;
    asked.family = packet.ipv6 ? Family::ipv6 : Family::ipv4;
    const bool is_for_tester = packet.ipv6   ? packet.ipv6[Ipv6::destination] == asked.tester.ipv6
                               : packet.ipv4 ? packet.ipv4[Ipv4::destination] == asked.tester.ipv4
                                             : false;
    const bool is_request = (packet.icmp && packet.icmp[Icmp::type] == Icmp::echo_request) ||
                            (packet.icmpv6 && packet.icmpv6[Icmpv6::type] == Icmpv6Type::echo_request);
    const auto echo = View<Icmp>::at(packet.ip_payload);
    if (!is_for_tester || !is_request || !echo) return;
    const auto payload = packet.ip_payload.subspan(Icmp::size);
    const auto answer = echo_answer(echo[Icmp::identifier], echo[Icmp::sequence], {payload.begin(), payload.end()});
    (void)tester_->port().send(answer.make(asked).build());
}

bool Session::is_told_of_dut(std::uint32_t address) const {
    return std::ranges::find(told_ipv4_, IpAddress::v4(address), &IpNetwork::address) != told_ipv4_.end();
}

bool Session::find_by_interface() {
    InterfaceFacts facts;
    try {
        facts = dut_.interface();
    } catch (const Unsupported&) {
        return false;
    } catch (const ControlFailed&) {
        return false;
    }
    told_ipv4_ = facts.ipv4;
    if (!facts.is_up || !facts.link_address) return false;
    auto& node = situation_.dut;
    const auto& address = *facts.link_address;
    node.gid = address[LinkAddress::gid];
    node.qpn = address[LinkAddress::qpn];
    node.link_flags = address[LinkAddress::flags];
    if (!facts.ipv4.empty()) node.ipv4 = facts.ipv4.front().address.v4();
    constexpr std::uint64_t link_local = 0xfe80;
    if (!facts.ipv6.empty()) node.ipv6 = facts.ipv6.front().address.octets;
    for (const auto& ipv6 : facts.ipv6)
        if (ipv6.address.octets.prefix() >> 48 == link_local) node.ipv6 = ipv6.address.octets;
    node.lid = tester_->lid_of(node.gid);
    return node.lid != 0;
}

bool Session::find_by_arp() {
    auto& node = situation_.dut;
    if (node.ipv4 == 0) return false;
    arp_answer_lid_ = 0;
    const auto is_answered = [&] { return arp_answer_lid_ != 0 && arp_answer_[ArpAddresses::spa] == node.ipv4; };
    (void)tester_->port().send(build::arp_request(tester_->self(), node.ipv4, tester_->link()).build());
    if (!loop().run_until(is_answered, loop().now() + scaled(1s))) return false;
    node.lid = arp_answer_lid_;
    node.qpn = arp_answer_[ArpAddresses::sha_qpn];
    node.gid = arp_answer_[ArpAddresses::sha_gid];
    node.link_flags = arp_answer_[ArpAddresses::sha_flags];
    return true;
}

bool Session::find_dut() {
    if (!find_by_interface() && !find_by_arp()) return false;
    // What the DUT says of its GID is judged by what the SA knows of its port.
    if (const auto gid = tester_->gid_of(situation_.dut.lid); !gid.is_zero()) situation_.dut.gid = gid;
    if (recorder_) recorder_->dut_is(situation_.dut.lid);
    return true;
}

void Session::bring_dut_up() {
    std::string why = "no answer";
    if (dut_.can("up")) {
        try {
            dut_.up();
        } catch (const ControlFailed& failure) {
            why = failure.what();
        }
    }
    // Who has been waited for so long in vain is looked for, in case that it comes up yet.
    const auto patience = times_down_ < 2 ? longest_start : 1s;
    const auto deadline = loop().now() + scaled(patience);
    while (!find_dut()) {
        if (loop().now() >= deadline || fabric::Loop::stop_requested()) {
            ++times_down_;
            const bool is_unknown = situation_.dut.ipv4 == 0 && !dut_.can("interface");
            if (is_unknown) throw DutStaysDown();
            throw DutStaysDown(std::chrono::duration<double>(scaled(patience)).count(), why);
        }
        loop().run_for(between_looks);
    }
    times_down_ = 0;
    find_out_lateness();
    if (situation_.dut.ipv4 == 0 && situation_.dut.ipv6.is_zero() && !dut_.can("add_address"))
        throw CaseEnds::not_applicable("the DUT has no IP address, and its adapter cannot give it one");
}

fabric::Duration Session::lateness() const noexcept {
    constexpr auto not_worth_it = 50ms;
    const auto longest = std::ranges::max(latest_answers_);
    return longest <= not_worth_it ? fabric::Duration{} : longest;
}

void Session::answered_after(fabric::Duration time) noexcept {
    // As coarse as it may be: to the microsecond a run that is played again does not know it.
    constexpr fabric::Duration grain = 10ms;
    latest_answers_[answers_++ % latest_answers_.size()] =
        std::min<fabric::Duration>((time + grain - 1ns) / grain * grain, longest_lateness);
}

/// Three questions, so that what is only late the first time, for want of an address or a path, is known, too.
void Session::find_out_lateness() {
    constexpr unsigned questions = 3;
    if (situation_.dut.ipv4 == 0 || std::exchange(knows_lateness_, true)) return;
    for (unsigned i = 0; i < questions; ++i) {
        situation_.nonce = next_nonce();
        // What is heard later, however this ends, is heard by nobody.
        const auto is_answered = std::make_shared<bool>(false);
        on_packet_ = [this, answer = echo_reply(), heard = std::weak_ptr<bool>(is_answered)](const Packet& packet) {
            if (const auto told = heard.lock(); told && answer.is_it(packet, situation_)) *told = true;
        };
        (void)tester_->port().send(echo_request().make(situation_).build());
        const auto asked_at = loop().now();
        (void)loop().run_until([&] { return *is_answered; }, asked_at + scaled(longest_lateness));
        if (!*is_answered) return;
        answered_after(loop().now() - asked_at);
    }
}

void Session::look_for_ipv6() {
    // Router discovery and duplicate address detection: RFC 4861, 10; RFC 4862, 5.1.
    constexpr auto longest_detection = 3s;
    if (std::exchange(has_looked_for_ipv6_, true)) return;
    const auto is_told = [&] { return !situation_.dut.ipv6.is_zero(); };
    const auto deadline = loop().now() + scaled(longest_detection);
    while (!is_told() && loop().now() < deadline && !fabric::Loop::stop_requested()) {
        loop().run_for(between_looks);
        find_by_interface();
    }
}

void Session::take_dut_down() {
    if (dut_.interface().is_up) dut_.down();
}

void Session::undo() {
    const CleaningUp anyhow;
    tester_->answer_resolution(true);
    connection_ends_->clear();
    const auto presented = tester_->self();
    tester_->present(0, 0);
    situation_.tester = tester_->self();
    tester_->leave_groups();
    dut_.undo();
    const bool was_another =
        presented.link_flags != situation_.tester.link_flags || presented.qpn != situation_.tester.qpn;
    if (was_another && dut_.can("flush_neighbours")) forget_tester();
}

/// What the DUT has learned of the tester's link-layer address is true no more.
void Session::forget_tester() {
    try {
        dut_.flush_neighbours();
    } catch (const ControlFailed&) {
        // Then it finds out by itself, in its own time.
    }
}

void Session::end() noexcept {
    const CleaningUp anyhow;
    try {
        if (tester_) tester_->leave_all();
    } catch (...) {
        // What the SA no longer answers cannot be restored.
    }
    dut_.bye();
}

}  // namespace ipoib::conformance
