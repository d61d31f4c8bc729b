// SPDX-License-Identifier: GPL-2.0-or-later
// Who is charged with what: ways that the text permits, a DUT that has lived before the case, times that it has stated.
#include "catch2.hpp"
#include "conformance/bench/active.hpp"
#include "conformance/bench/expectation.hpp"
#include "conformance/target/simulated_dut.hpp"
#include "conformance/target/target.hpp"
#include "protocol/build/management.hpp"
#include "protocol/wire/path_record.hpp"

#include <algorithm>

using namespace ipoib;
using namespace ipoib::conformance;
using reports::Result;
using reports::Verdict;

namespace {

Result run_case(const char* id, const Target& target) {
    ActiveRun active;
    active.cases = {find_case(id)};
    REQUIRE(active.cases[0] != nullptr);
    active.profile = SimulatedDut::profile(fabric::Scenario{}.dut_guid);
    const auto rig = make_rig(target);
    return run(active, *rig).results.at(0);
}

/// A fabric that cannot be changed from outside.
class FixedFabric : public fabric::SimulatedFabric {
public:
    using SimulatedFabric::change;
    using SimulatedFabric::SimulatedFabric;
    [[nodiscard]] fabric::ChangeAnswer change(const fabric::FabricChange&, fabric::Duration) override {
        return {fabric::ChangeAnswer::Outcome::unsupported, "not here"};
    }
};

/// A DUT that is the same for all cases.
template <class Fabric>
class LastingRig : public Rig {
public:
    explicit LastingRig(const char* mutant) : dut_{fabric_, fabric::Scenario{}.dut_guid, find_mutant(mutant)} {
        session_.begin();
    }
    Session& prepare(std::uint64_t) override { return session_; }
    std::string clean_up(CaseEnd) override {
        session_.undo();
        return {};
    }
    [[nodiscard]] fabric::Abilities abilities() const override { return fabric_.abilities(); }
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> fabric_facts() const override { return {}; }
    [[nodiscard]] bool is_virtual() const override { return true; }
    [[nodiscard]] fabric::SimulatedFabric& fabric() noexcept { return fabric_; }
    [[nodiscard]] Dut& dut() noexcept { return session_.dut(); }

    Result take(const char* id) {
        ActiveRun active;
        active.cases = {find_case(id)};
        REQUIRE(active.cases[0] != nullptr);
        active.profile = SimulatedDut::profile(fabric::Scenario{}.dut_guid);
        return run(active, *this).results.at(0);
    }

private:
    Fabric fabric_{fabric::SimulatedOptions{}};
    SimulatedDut dut_;
    Session session_{fabric_, dut_.control(), SessionOptions{}};
};

Verdict verdict_on(const Result& result, std::string_view requirement) {
    const auto part = std::ranges::find(result.parts, requirement, &reports::PartVerdict::id);
    return part == result.parts.end() ? Verdict::na : part->verdict;
}

}  // namespace

TEST_CASE("Blame: what the DUT asked for before the case counts") {
    LastingRig<fabric::SimulatedFabric> rig{"permitted-keeps-paths"};
    for (const auto* id : {"IPOIB-4391-9.1.2-VAL-001", "IPOIB-4391-10-VAL-006", "IPOIB-4391-9.1.2-VAL-002",
                           "IPOIB-4391-10-VAL-006", "IPOIB-4391-9.1.2-VAL-002"}) {
        const auto result = rig.take(id);
        INFO(id << ": " << result.message);
        CHECK(result.verdict == Verdict::pass);
    }
}

TEST_CASE("Blame: where no new peer can be made, a path that may be known already is not missed") {
    LastingRig<FixedFabric> rig{"permitted-keeps-paths"};
    REQUIRE(rig.take("IPOIB-4391-9.1.2-VAL-001").verdict == Verdict::pass);
    const auto result = rig.take("IPOIB-4391-9.1.2-VAL-002");
    INFO(result.message);
    CHECK(result.verdict == Verdict::pass);
    CHECK(verdict_on(result, "RFC4391-9.1.2-01") == Verdict::pass);
    CHECK(verdict_on(result, "RFC4391-9.1-06") == Verdict::na);
}

TEST_CASE("Blame: a question for a path is one by whatever method") {
    using R = wire::PathRecord;
    using wire::Method;
    const auto peer = wire::Gid::of(std::uint64_t{0xfe80} << 48, 0x1234), other = wire::Gid::of(0, 5);
    Situation situation;
    situation.tester.lid = 7;
    const auto asks = [&](Method method, std::uint16_t attribute, std::uint64_t mask, const wire::Gid& gid,
                          std::uint16_t lid = 0) {
        auto packet = build::path_record({}, {}, method, 1, {}, {.lid = lid, .gid = gid}, 0, 0);
        packet.set(R::dlid, lid).set(wire::Mad::attribute_id, attribute).set(wire::SaHeader::component_mask, mask);
        const auto frame = packet.build();
        wire::Packet made;
        wire::decode(frame, made);
        REQUIRE(made.sa);
        return path_question_about(peer).is_it(made, situation);
    };
    using C = R::component;
    constexpr auto path = wire::attribute::path_record, many = wire::attribute::multi_path_record;
    CHECK(asks(Method::get, path, C::dgid, peer));
    CHECK(asks(Method::get_table, path, C::dgid, peer));
    CHECK(asks(Method::get_table, path, C::sgid, {}));
    CHECK(asks(Method::get_table, path, C::dlid, {}, 7));
    CHECK(asks(Method::get_multi, many, 0, peer));
    CHECK_FALSE(asks(Method::get, path, C::dgid, other));
    CHECK_FALSE(asks(Method::get, path, C::dlid, {}, 8));
    CHECK_FALSE(asks(Method::get_multi, many, 0, other));
    CHECK_FALSE(asks(Method::get_resp, path, C::dgid, peer));
}

TEST_CASE("Blame: who gives a new group the P_Key of the broadcast group's record is right, membership bit and all") {
    const Target target{.fabric = "simulated:sa-mutant=sa-limited-broadcast-pkey",
                        .dut = "mutant:creates-with-limited-pkey"};
    const auto result = run_case("IPOIB-4391-10-VAL-007", target);
    INFO(result.message);
    CHECK(result.verdict == Verdict::pass);
    CHECK(run_case("IPOIB-4391-10-VAL-007", {.dut = target.dut}).verdict == Verdict::warn);
}

TEST_CASE("Blame: a sender that joins as a member is not bound by what is said of NonMembers") {
    const auto result = run_case("IPOIB-4391-10-VAL-006", {.dut = "mutant:no-trap-67-as-full-member"});
    CHECK(verdict_on(result, "RFC4391-10-12") == Verdict::fail);
    CHECK(verdict_on(result, "RFC4392-4.2.5-03") == Verdict::na);
    const auto bound = run_case("IPOIB-4391-10-VAL-006", {.dut = "mutant:no-trap-67"});
    CHECK(verdict_on(bound, "RFC4392-4.2.5-03") == Verdict::fail);
}

TEST_CASE("Blame: what stands in the code of a typical implementation is advice") {
    CHECK(run_case("IPOIB-4391-10-INV-001", {.dut = "mutant:redirects-link-local"}).verdict == Verdict::warn);
    CHECK(run_case("IPOIB-4391-10-VAL-001", {.dut = "mutant:sends-as-full-member"}).verdict == Verdict::warn);
    const auto result = run_case("IPOIB-4391-10-VAL-001", {.dut = "mutant:sends-without-joining"});
    CHECK(verdict_on(result, "RFC4391-10-08") == Verdict::fail);
    CHECK(verdict_on(result, "RFC4391-10-09") == Verdict::warn);
}

TEST_CASE("Blame: a question to a group that the DUT does not receive is no proof of its silence") {
    const auto result = run_case("IPOIB-4391-9.2-VAL-002", {.dut = "mutant:broadcast-join-send-only"});
    CHECK(result.verdict == Verdict::inconc);
    CHECK_THAT(result.message, ContainsSubstring("cannot have reached the DUT: its JoinState in"));
    CHECK(run_case("IPOIB-4391-9.2-VAL-002", {.dut = "mutant:arp-unanswered"}).verdict == Verdict::fail);
}

TEST_CASE("Blame: a field of a header that is not there is charged to nobody") {
    const Target target{.dut = "mutant:multicast-without-grh-controlled", .scenario = "controlled"};
    const auto result = run_case("IPOIB-4391-5-VAL-002", target);
    CHECK(result.verdict == Verdict::inconc);
    CHECK_THAT(result.message, ContainsSubstring("has no GRH, so GRH."));
    CHECK_THAT(result.message, ContainsSubstring("a matter of RFC4391-6-07"));
    CHECK(run_case("IPOIB-4391-6-VAL-002", target).verdict == Verdict::fail);
}

TEST_CASE("Blame: a DUT of many addresses answers for each of them, and not for others") {
    LastingRig<fabric::SimulatedFabric> rig{"permitted-keeps-paths"};
    // Where the tester would look for its neighbours first.
    for (unsigned host = 164; host < 178; ++host)
        rig.dut().add_address(wire::parse_network("10.1.0." + std::to_string(host) + "/24").value());
    for (const auto* id :
         {"IPOIB-4391-9.2-VAL-002", "IPOIB-4391-9.2-VAL-002", "IPOIB-4391-9.1.2-VAL-007", "IPOIB-4391-9.2-VAL-002"}) {
        const auto result = rig.take(id);
        INFO(id << ": " << result.message);
        CHECK(result.verdict == Verdict::pass);
    }
}

TEST_CASE("Blame: of questions that are sent together each that was answered is named, and no other") {
    // The sixteen bits of a Q_Key that it does not look at, asked alone and in a group, in both families.
    const auto result = run_case("IPOIB-4391-9.1-INV-001", {.dut = "mutant:hca-qkey-outer-octets"});
    CHECK(result.verdict == Verdict::fail);
    constexpr std::uint64_t bits = 16, families = 2, ways = 2;
    CHECK(result.violations == bits * families * ways);
    CHECK(run_case("IPOIB-4391-9.1-INV-001", {}).verdict == Verdict::pass);
}

TEST_CASE("Blame: an identifier is opaque, or right in every bit") {
    const auto verdict = [](const char* dut) { return run_case("IPOIB-4391-8-VAL-001", {.dut = dut}).verdict; };
    CHECK(verdict("mutant:permitted-opaque-id") == Verdict::pass);
    CHECK(verdict("mutant:another-bit-toggled") == Verdict::fail);
    CHECK(verdict("mutant:id-of-another-guid") == Verdict::warn);
}

TEST_CASE("Blame: a time that the DUT has stated, or was told, is not cut by --timeout-scale") {
    for (const auto* id : {"IPOIB-4392-4.2.5-VAL-001", "IPOIB-4391-9.4-VAL-001", "IPOIB-4390-2.2-VAL-001"}) {
        Target target;
        target.session.timeout_scale = 0.25;
        const auto result = run_case(id, target);
        INFO(id << ": " << result.message);
        CHECK(result.verdict == Verdict::pass);
    }
}

TEST_CASE("Blame: a DUT that never asks for the broadcast group does not leave the next case without one") {
    LastingRig<fabric::SimulatedFabric> rig{"broadcast-gid-601b"};
    const auto result = rig.take("IPOIB-4391-5-INV-004");
    INFO(result.message);
    CHECK(result.verdict != Verdict::pass);
    const auto* group = rig.fabric().subnet().sa().find(wire::broadcast_gid(0xffff, 2));
    REQUIRE(group != nullptr);
    CHECK_FALSE(group->members.empty());
}
