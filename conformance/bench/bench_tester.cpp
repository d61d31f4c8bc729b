// SPDX-License-Identifier: GPL-2.0-or-later
// Brings the tester's second port onto the link when it is needed, and takes it off again.
#include "conformance/bench/bench_tester.hpp"

#include "conformance/bench/case_context.hpp"
#include "conformance/bench/case_ends.hpp"

namespace ipoib::conformance {
using namespace wire;

fabric::PortFacts BenchTester::port() const { return context_.session.tester().port().facts(); }

void BenchTester::answer_resolution(bool does_answer) { context_.session.tester().answer_resolution(does_answer); }

void BenchTester::present(std::uint8_t flags, std::uint32_t qpn) {
    auto& tester = context_.session.tester();
    tester.present(flags, qpn);
    context_.situation().tester = tester.self();
}

void BenchTester::enter_link_again() {
    auto& tester = context_.session.tester();
    if (const auto why = tester.enter_link(context_.session.scaled(sa_patience)); !why.empty())
        throw CaseEnds::inconclusive("the tester cannot enter the link again: " + why);
    auto& situation = context_.situation();
    situation.link = tester.link();
    situation.tester = tester.self();
    // All ports of a subnet have one prefix.
    situation.dut.gid = wire::Gid::of(tester.self().gid.prefix(), situation.dut.gid.interface_id());
}

TesterPort& BenchTester::first() {
    if (!first_) first_.emplace(context_, context_.session.tester(), 0);
    return *first_;
}

fabric::Port& BenchTester::second_of_fabric() {
    const auto ports = context_.session.fabric().ports();
    if (ports.size() < 2) throw CaseEnds::not_applicable("this fabric gives the tester one port only");
    return *ports[1];
}

TesterPort& BenchTester::second() {
    if (second_) return *second_;
    auto& port = second_of_fabric();
    auto& session = context_.session;
    auto& loop = session.loop();
    constexpr auto longest_start = std::chrono::seconds{30};
    if (!loop.run_until([&] { return port.facts().is_active; }, loop.now() + session.scaled(longest_start)))
        throw CaseEnds::inconclusive("the tester's second port did not become active");
    second_tester_ = std::make_unique<Tester>(port, context_.situation().link.p_key, session.manners(port.facts()));
    (void)second_tester_->end_what_was_left();
    if (const auto why = second_tester_->enter_link(session.scaled(sa_patience)); !why.empty())
        throw CaseEnds::inconclusive("the tester's second port: " + why);
    port.on_datagram([this](Octets frame) {
        context_.recorder.arrived(frame, 1);
        second_tester_->take(frame);
    });
    return second_.emplace(context_, *second_tester_, 1);
}

build::Node BenchTester::second_node() {
    const auto facts = second_of_fabric().facts();
    auto node = context_.situation().tester;
    node.lid = facts.lid;
    node.gid = facts.gid;
    node.qpn = facts.qpn;
    return node;
}

bool BenchTester::crosses(TesterPort& from, const Message& message, TesterPort& to) {
    constexpr int attempts = 3;
    for (int i = 0; i < attempts; ++i) {
        from.send(message);
        if (to.takes_it(within(1s))) return true;
    }
    return false;
}

void BenchTester::undo() {
    if (first_) first_->end_listening();
    if (second_) second_->end_listening();
    if (second_tester_) second_tester_->leave_all();
    stop_listening();
}

void BenchTester::stop_listening() noexcept {
    if (second_tester_) second_tester_->port().on_datagram({});
}

BenchTester::~BenchTester() { stop_listening(); }

}  // namespace ipoib::conformance
