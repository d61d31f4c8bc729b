// SPDX-License-Identifier: GPL-2.0-or-later
// What must be ruled out before the DUT is blamed for what did not come.
#include "conformance/bench/bench.hpp"
#include "conformance/bench/case_context.hpp"
#include "conformance/bench/case_ends.hpp"
#include "conformance/bench/series.hpp"

#include <array>

namespace ipoib::conformance {

namespace {

/// Whether a case itself takes the interface down and up, or has it done.
bool ends_memberships(const Case& running) {
    constexpr std::array<std::string_view, 4> requests{"up", "down", "restart", "create_child"};
    return running.begin == Begin::down || running.needs.has(fabric::Ability::fabric_control) ||
           std::ranges::any_of(running.dut_can,
                               [&](auto request) { return std::ranges::find(requests, request) != requests.end(); });
}

}  // namespace

void Bench::demand_rest() {
    const auto& observation = context_.observation;
    if (!observation.sees_all() || (ends_memberships(context_.running) && !is_at_rest_)) return;
    if (observation.find_in_step(leave_of(situation().link.broadcast_gid())))
        throw CaseEnds::inconclusive(context_.findings.where() + "the DUT left the link meanwhile, unasked");
}

void Bench::demand_answers() {
    const auto& dut = situation().dut;
    if (loses_nothing_ || context_.running.subject == Subject::sa ||
        (situation().is_ipv6() ? dut.ipv6.is_zero() : dut.ipv4 == 0))
        return;
    // So many that one in five hundred series goes by without a loss where one packet in ten is lost.
    Series series{60};
    const auto before = situation().nonce;
    const auto stimulus = context_.observation.stimulus();
    for (bool is_first = true; series.goes_on() && !fabric::Loop::stop_requested(); is_first = false) {
        series.take(echo_answer().has_value());
        // Behind the first, so that what was missed is told ahead of all of them.
        if (is_first) context_.recorder.comment("ordinary echo requests follow, to see whether packets are lost");
    }
    context_.situation().nonce = before;
    context_.observation.resume(stimulus);
    loses_nothing_ = series.loses_nothing();
    if (series.loses()) throw CaseEnds::inconclusive(context_.findings.where() + series.text());
}

}  // namespace ipoib::conformance
