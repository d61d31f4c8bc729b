// SPDX-License-Identifier: GPL-2.0-or-later
// Changes the fabric, and knows what takes each change back.
#include "conformance/bench/bench_fabric.hpp"

#include "conformance/bench/bench.hpp"
#include "conformance/bench/case_context.hpp"
#include "conformance/bench/case_ends.hpp"

#include <algorithm>

namespace ipoib::conformance {
using namespace wire;

namespace {

/// A subnet manager begins with the whole subnet; everything else is done soon.
fabric::Duration patience_for(const fabric::FabricChange& change) {
    constexpr fabric::Duration for_a_start = std::chrono::seconds{30};
    const auto* manager = std::get_if<fabric::SetManager>(&change);
    const bool starts = (manager && manager->runs) || std::holds_alternative<fabric::SetPrefix>(change);
    return starts ? for_a_start : fabric::usual_patience;
}

}  // namespace

fabric::ChangeAnswer BenchFabric::try_to(const fabric::FabricChange& change) {
    auto answer = context_.session.fabric().change(change, patience_for(change));
    was_changed_ = true;
    if (answer.outcome == fabric::ChangeAnswer::Outcome::unsupported) return answer;
    if (answer.is_done() && std::erase_if(to_undo_, [&](const Undo& one) { return one.change == change; }) > 0)
        return answer;
    auto undo = fabric::opposite(change);
    // What has failed may have been done by half.
    if (!undo && !answer.is_done()) undo = fabric::Restore{};
    const auto is_same = [&](const Undo& one) { return one.change == *undo; };
    if (undo && std::ranges::none_of(to_undo_, is_same)) to_undo_.push_back({*undo, answer.is_done()});
    return answer;
}

void BenchFabric::change(const fabric::FabricChange& change) {
    const auto answer = try_to(change);
    if (!answer.is_done())
        throw CaseEnds::not_applicable("the fabric cannot do " + fabric::text(change) + " here: " + answer.message);
}

bool BenchFabric::can_change(const fabric::FabricChange& change) { return try_to(change).is_done(); }

std::optional<Gid> BenchFabric::peer_never_seen() {
    constexpr auto of_local_scope = std::uint64_t{0x02} << 56;
    auto& session = context_.session;
    const auto range = std::uint64_t{session.group_range()} << 16;
    const auto port = bench_.tester.port();
    const auto gid = Gid::of(port.gid.prefix(), of_local_scope | range | session.next_number());
    if (!try_to(fabric::SetPath{gid, port.lid}).is_done()) return {};
    return gid;
}

std::string BenchFabric::undo() {
    std::string problem;
    bool is_link_new = false, is_subnet_new = false, was_table_changed = false;
    const auto broadcast = fabric::FabricChange{fabric::SetGroup{context_.situation().link.broadcast_gid(), true}};
    while (!to_undo_.empty()) {
        const auto [change, is_certain] = std::move(to_undo_.back());
        to_undo_.pop_back();
        const auto answer = context_.session.fabric().change(change, patience_for(change));
        is_link_new = is_link_new || change == broadcast;
        is_subnet_new = is_subnet_new || std::holds_alternative<fabric::SetPrefix>(change);
        was_table_changed = was_table_changed || std::holds_alternative<fabric::SetPKey>(change) ||
                            std::holds_alternative<fabric::Restore>(change);
        if (answer.is_done()) continue;
        if (!is_certain)
            bench_.note("the fabric may not be as it was, " + fabric::text(change) + ": " + answer.message);
        else if (problem.empty())
            problem = "the fabric could not be put back, " + fabric::text(change) + ": " + answer.message;
    }
    // Before anybody asks whether the DUT is up, it has heard that it must begin anew.
    constexpr auto time_to_hear = std::chrono::milliseconds{200};
    if (was_table_changed) bench_.pass_time(time_to_hear);
    if ((!is_link_new && !is_subnet_new) || !problem.empty()) return problem;
    // Who was a member of what is gone is asked to join what is there now.
    const fabric::FabricChange asks_to_renew = fabric::SetManager{.keeps_state = true};
    if (is_link_new) static_cast<void>(context_.session.fabric().change(asks_to_renew, patience_for(asks_to_renew)));
    try {
        bench_.tester.enter_link_again();
    } catch (const CaseEnds& cannot) {
        problem = cannot.why;
    }
    return problem;
}

}  // namespace ipoib::conformance
