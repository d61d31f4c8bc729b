// SPDX-License-Identifier: GPL-2.0-or-later
// What cases do at a subnet administrator, on a fabric that lasts: all of it is undone after them.
#include "catch2.hpp"
#include "conformance/bench/active.hpp"
#include "conformance/bench/bench.hpp"
#include "conformance/bench/tester_port.hpp"
#include "conformance/target/target.hpp"
#include "fabric/simulated/fabric.hpp"
#include "protocol/requirements/rfc4391.hpp"
#include "temporary_folder.hpp"

#include <list>
#include <nlohmann/json.hpp>

using namespace ipoib;
using namespace ipoib::conformance;
using reports::Result;
using reports::Verdict;

namespace {

/// Nobody to ask.
class Nobody : public DutControl {
public:
    DutControlReply ask(const std::string& request, fabric::Duration) override {
        const auto asked = nlohmann::json::parse(request);
        nlohmann::json answer{{"id", asked["id"]}, {"error", "unsupported"}};
        if (asked["do"] == "hello")
            answer = {{"id", asked["id"]}, {"ok", true}, {"protocol", 1}, {"name", "nobody"}, {"can", {"bye"}}};
        return {.line = answer.dump(), .error = {}};
    }
};

/// One simulated fabric for all cases, as one outside this process is.
template <class Fabric>
class OneFabricRig : public Rig {
public:
    explicit OneFabricRig(std::string journals = {}) { options_.journal_folder = std::move(journals); }
    Session& prepare(std::uint64_t) override {
        if (!session_) {
            session_ = std::make_unique<Session>(fabric, nobody_, options_);
            session_->begin();
        }
        return *session_;
    }
    std::string clean_up(CaseEnd) override {
        session_->undo();
        return {};
    }
    [[nodiscard]] fabric::Abilities abilities() const override { return fabric.abilities(); }
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> fabric_facts() const override { return {}; }
    [[nodiscard]] bool is_virtual() const override { return true; }

    Fabric fabric{fabric::SimulatedOptions{}};

private:
    Nobody nobody_;
    SessionOptions options_;
    std::unique_ptr<Session> session_;
};
using LastingRig = OneFabricRig<fabric::SimulatedFabric>;

using Steps = void (*)(Bench&);

struct OwnCase {
    explicit OwnCase(Steps steps)
        : one{.id = "IPOIB-4391-5-VAL-999",
              .title = "a test's own",
              .checks = {&rfc4391::join_takes_effect},
              .pass_if = "",
              .subject = Subject::sa,
              .steps = steps,
              .registered = Registered<Case>{nullptr}} {}
    Case one;
};

std::vector<Result> results_on(Rig& rig, std::initializer_list<Steps> all) {
    std::list<OwnCase> cases;
    ActiveRun active;
    for (const auto steps : all) active.cases.push_back(&cases.emplace_back(steps).one);
    active.judges_sa = true;
    active.has_control = false;
    return run(active, rig).results;
}

Result run_on(Rig& rig, Steps steps) { return results_on(rig, {steps}).at(0); }

}  // namespace

TEST_CASE("Bench: what a case changes on the fabric is taken back, however the case ends") {
    LastingRig rig;
    const auto p_keys = [&] { return rig.fabric.ports()[0]->facts().p_keys.size(); };
    const auto before = p_keys();
    static std::size_t meanwhile = 0;
    const auto result = run_on(rig, [](Bench& bench) {
        bench.step("a P_Key");
        bench.fabric.change(fabric::SetPKey{{.guid = fabric::tester_guid}, 0x8abc});
        bench.pass_time(100ms);
        meanwhile = bench.tester.port().p_keys.size();
        bench.precondition(false, "the moon");
    });
    rig.fabric.loop().run_for(100ms);
    CHECK(result.verdict == Verdict::inconc);
    CHECK(meanwhile == before + 1);
    CHECK(p_keys() == before);
}

TEST_CASE("Bench: what a case takes back itself is not taken back again") {
    LastingRig rig;
    const auto result = run_on(rig, [](Bench& bench) {
        const fabric::PortName port{.guid = fabric::tester_guid};
        bench.step("a P_Key comes and goes");
        bench.fabric.change(fabric::SetPKey{port, 0x8abc, true});
        bench.pass_time(100ms);
        bench.fabric.change(fabric::SetPKey{port, 0x8abc, false});
        bench.require(true, "either");
    });
    INFO(result.message);
    CHECK(result.verdict == Verdict::pass);
}

TEST_CASE("Bench: a broadcast group that a case has deleted is there again for the next one, with the tester in it") {
    LastingRig rig;
    const auto broadcast = wire::broadcast_gid(0xffff, 2);
    const auto result = run_on(rig, [](Bench& bench) {
        bench.step("no broadcast group");
        bench.fabric.change(fabric::SetGroup{bench.link().broadcast_gid(), false});
        bench.precondition(false, "a DUT that asks for it");
    });
    CHECK(result.verdict == Verdict::inconc);
    const auto* group = rig.fabric.subnet().sa().find(broadcast);
    REQUIRE(group != nullptr);
    CHECK(group->members.size() == 1);
}

TEST_CASE("Bench: what a case changes on the fabric is taken back when the DUT's adapter is gone, too") {
    LastingRig rig;
    const auto results =
        results_on(rig, {[](Bench& bench) {
                             bench.step("no broadcast group");
                             bench.fabric.change(fabric::SetGroup{bench.link().broadcast_gid(), false});
                             throw ChannelBroken("the adapter has ended");
                         },
                         [](Bench& bench) {
                             bench.step("nothing");
                             bench.require(true, "it");
                         }});
    REQUIRE(results.size() == 2);
    CHECK(results[0].verdict == Verdict::error);
    CHECK(results[1].verdict == Verdict::pass);
    CHECK(rig.fabric.subnet().sa().find(wire::broadcast_gid(0xffff, 2)) != nullptr);
}

namespace {

/// Says of a change that it failed, as one does that answers too late, though it is made.
struct LateFabric : fabric::SimulatedFabric {
    using SimulatedFabric::SimulatedFabric, SimulatedFabric::change;
    [[nodiscard]] fabric::ChangeAnswer change(const fabric::FabricChange& what, fabric::Duration time) override {
        (void)SimulatedFabric::change(what, time);
        return {fabric::ChangeAnswer::Outcome::failed, "no answer"};
    }
};

}  // namespace

TEST_CASE("Bench: a change that may have been made is taken back, and whether that is known does not end the run") {
    OneFabricRig<LateFabric> rig;
    const auto p_keys = [&] { return rig.fabric.ports()[0]->facts().p_keys.size(); };
    const auto before = p_keys();
    const auto results = results_on(rig, {[](Bench& bench) {
                                        bench.step("a P_Key");
                                        bench.fabric.change(fabric::SetPKey{{.guid = fabric::tester_guid}, 0x8abc});
                                    }});
    rig.fabric.loop().run_for(100ms);
    REQUIRE(results.size() == 1);
    CHECK(results[0].verdict == Verdict::na);
    CHECK(p_keys() == before);
    REQUIRE(results[0].notes.size() == 1);
    CHECK_THAT(results[0].notes[0], ContainsSubstring("may not be as it was"));
}

TEST_CASE("Bench: a start of the subnet manager that ends halfway leaves a fabric with a subnet manager") {
    struct Halfway : fabric::SimulatedFabric {
        using SimulatedFabric::SimulatedFabric, SimulatedFabric::change;
        [[nodiscard]] fabric::ChangeAnswer change(const fabric::FabricChange& what, fabric::Duration time) override {
            if (what != fabric::FabricChange{fabric::SetManager{}}) return SimulatedFabric::change(what, time);
            (void)SimulatedFabric::change(fabric::SetManager{.runs = false}, time);
            return {fabric::ChangeAnswer::Outcome::failed, "it did not end in time"};
        }
    };
    OneFabricRig<Halfway> rig;
    const auto results = results_on(rig, {[](Bench& bench) {
                                              bench.step("a restart");
                                              bench.fabric.change(fabric::SetManager{});
                                          },
                                          [](Bench& bench) {
                                              bench.step("a group");
                                              bench.sa.join(bench.fresh_group4());
                                              bench.require(true, "it");
                                          }});
    REQUIRE(results.size() == 2);
    CHECK(results[0].verdict == Verdict::na);
    CHECK(results[1].verdict == Verdict::pass);
}

TEST_CASE("Active run: a fabric that cannot be put back ends the run, and is told") {
    struct Stubborn : fabric::SimulatedFabric {
        using SimulatedFabric::SimulatedFabric, SimulatedFabric::change;
        [[nodiscard]] fabric::ChangeAnswer change(const fabric::FabricChange& what, fabric::Duration time) override {
            const auto* p_key = std::get_if<fabric::SetPKey>(&what);
            if (p_key && !p_key->is_there) return {fabric::ChangeAnswer::Outcome::failed, "the table is locked"};
            return SimulatedFabric::change(what, time);
        }
    };
    OneFabricRig<Stubborn> rig;
    const auto changes = [](Bench& bench) {
        bench.step("a P_Key");
        bench.fabric.change(fabric::SetPKey{{.guid = fabric::tester_guid}, 0x8abc});
        bench.require(true, "it");
    };
    const auto idles = [](Bench& bench) {
        bench.step("nothing");
        bench.require(true, "it");
    };
    const auto results = results_on(rig, {idles, changes, idles, idles});
    REQUIRE(results.size() == 3);
    CHECK(results[0].verdict == Verdict::pass);
    CHECK(results[1].verdict == Verdict::pass);
    CHECK(results[2].id == "SESSION");
    CHECK(results[2].verdict == Verdict::error);
    CHECK_THAT(results[2].message, ContainsSubstring(R"({"do":"pkey","guid":"0x0002c90300aa0001","remove":"0x8abc"})"));
    CHECK_THAT(results[2].message, ContainsSubstring("the table is locked"));
    CHECK(results[2].notes == std::vector<std::string>{"2 cases were not begun"});
}

TEST_CASE("Bench: memberships of both ports and subscriptions end after the case") {
    LastingRig rig;
    const auto session_groups = [&] { return rig.fabric.subnet().sa().groups().size(); };
    rig.prepare(1);
    const auto before = session_groups();
    const auto result = run_on(rig, [](Bench& bench) {
        bench.step("two ports");
        bench.sa.join(bench.mgid_of(bench.fresh_group4()), JoinState::full_member);
        bench.tester.second().join(bench.mgid_of(bench.fresh_group4()), JoinState::full_member);
        bench.sa.require_grant(bench.sa.subscribe(wire::trap::multicast_group_created));
    });
    INFO(result.message);
    CHECK(result.verdict == Verdict::pass);
    CHECK(session_groups() == before);
    CHECK(rig.fabric.subnet().sa().subscriptions() == 0);
    const auto* broadcast = rig.fabric.subnet().sa().find(wire::broadcast_gid(0xffff, 2));
    REQUIRE(broadcast != nullptr);
    CHECK(broadcast->members.size() == 1);
}

TEST_CASE("Bench: a port takes the packets of a group that it has joined, and of no other") {
    LastingRig rig;
    const auto result = run_on(rig, [](Bench& bench) {
        bench.step("a packet to a group");
        const auto group = bench.fresh_group4();
        const auto mlid = bench.sa.join(group).mlid();
        const auto packet = udp_to_group(group, mlid, bench.fresh_port());
        bench.require(!bench.tester.crosses(bench.tester.first(), packet, bench.tester.second()), "nothing",
                      "the packet");
        bench.tester.second().join(bench.mgid_of(group), JoinState::full_member);
        bench.require(bench.tester.crosses(bench.tester.first(), packet, bench.tester.second()), "the packet",
                      "nothing");
    });
    INFO(result.message);
    CHECK(result.verdict == Verdict::pass);
}

TEST_CASE("Bench: a report counts in the step in which it comes, and the link can be entered again") {
    LastingRig rig;
    const auto result = run_on(rig, [](Bench& bench) {
        using wire::trap::multicast_group_created;
        bench.step("a group is created");
        bench.sa.require_grant(bench.sa.subscribe(multicast_group_created));
        const auto group = bench.sa.join(bench.fresh_group4()).mgid;
        bench.require(bench.sa.reports(multicast_group_created, group, within(1s)), "a report", "none");
        bench.step("nothing happens");
        bench.require(!bench.sa.reports(multicast_group_created, group, within(1s)), "no report", "one");
        bench.sa.leave(bench.link().broadcast_gid());
        bench.tester.enter_link_again();
        bench.sa.require_refusal(bench.sa.ask_to_leave(bench.link().broadcast_gid(), JoinState::non_member));
        bench.sa.require_grant(bench.sa.ask_to_leave(bench.link().broadcast_gid(), JoinState::full_member));
        bench.tester.enter_link_again();
    });
    INFO(result.message);
    CHECK(result.verdict == Verdict::pass);
    CHECK(result.observed == 5);
    CHECK(rig.fabric.subnet().sa().groups().size() == 2);
}

TEST_CASE("Bench: answers are told with the name of their status") {
    CHECK(status_text({}) == "the SA does not answer");
    CHECK(status_text({.is_answered = true, .status = 0x0200}) == "status 0x0200 (ERR_REQ_INVALID)");
    CHECK(status_text({.is_answered = true, .status = 0xee00}) == "status 0xee00");
}

TEST_CASE("Session: who is asked to stop hears that what it joined has ended") {
    const TemporaryFolder directory;
    {
        LastingRig rig{directory / "journals"};
        (void)run_on(rig, [](Bench& bench) {
            bench.sa.join(bench.mgid_of(bench.fresh_group4()), JoinState::full_member);
            (void)bench.sa.subscribe(66);
            fabric::Loop::request_stop();
        });
        CHECK(fabric::Loop::stop_requested());
        fabric::Loop::clear_stop();
    }
    // Those of the link, which it has not left yet.
    const Journal journal{directory / "journals", wire::hex(fabric::tester_guid, 16)};
    CHECK(journal.entries().size() == 2);
}
