// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

namespace {

using M = McMemberRecord;

/// A join that is wrong in one component.
struct WrongJoin {
    const char* title;
    const requirements::Requirement* refused_by;
    void (*make_wrong)(Bytes<M>& record);
    std::uint64_t component;
};
constexpr std::array<WrongJoin, 8> wrong_joins{{
    {"no join state", &iba::join_without_state, [](auto& r) { r.set(M::join_state, 0); }, 0},
    {"another P_Key", &iba::join_with_other_p_key, [](auto& r) { r.set(M::p_key, r[M::p_key] ^ 1); },
     M::component::p_key},
    {"another Q_Key", &iba::join_with_other_q_key, [](auto& r) { r.set(M::q_key, r[M::q_key] ^ 1); },
     M::component::q_key},
    {"another SL", &iba::join_with_other_sl, [](auto& r) { r.set(M::sl, r[M::sl] ^ 1); }, M::component::sl},
    {"another TClass", &iba::join_with_other_flow, [](auto& r) { r.set(M::traffic_class, r[M::traffic_class] ^ 1); },
     M::component::traffic_class},
    {"another FlowLabel", &iba::join_with_other_flow, [](auto& r) { r.set(M::flow_label, r[M::flow_label] ^ 1); },
     M::component::flow_label},
    {"another HopLimit", &iba::join_with_other_flow, [](auto& r) { r.set(M::hop_limit, r[M::hop_limit] ^ 1); },
     M::component::hop_limit},
    {"a greater rate", &iba::join_with_other_rate, [](auto& r) { r.set(M::rate_selector, selector::greater); },
     M::component::rate_selector | M::component::rate},
}};

}  // namespace

const Case joins_must_match_the_group{
    .id = "IPOIB-IBA-15.2.5.17-INV-002",
    .title = "A join is refused that does not match the group in a component that it gives",
    .checks = {&iba::join_without_state, &iba::join_with_other_p_key, &iba::join_with_other_q_key,
               &iba::join_with_other_sl, &iba::join_with_other_flow, &iba::join_with_other_rate},
    .pass_if = "the SA refuses each of the joins that is wrong in one component, and grants the right one after each",
    .tags = {"sa", "qkey", "pkey"},
    .impact = Impact::link,
    .subject = Subject::sa,
    .steps =
        [](Bench& bench) {
            const auto group = bench.sa.join(bench.mgid_of(bench.fresh_group4()), JoinState::full_member);
            for (const auto& wrong : wrong_joins) {
                bench.step(std::string("A join with ") + wrong.title, *wrong.refused_by);
                auto right = group.record;
                right.set(M::port_gid, bench.tester.first().self().gid)
                    .set(M::join_state, static_cast<std::uint8_t>(JoinState::send_only_non_member));
                auto record = right;
                wrong.make_wrong(record);
                bench.sa.require_refusal(bench.sa.ask_to_join(record, M::component::join | wrong.component));
                bench.precondition(bench.sa.ask_to_join(right, M::component::create).is_ok(),
                                   "the SA grants the join that is right");
            }
        },
};

}  // namespace ipoib::conformance
