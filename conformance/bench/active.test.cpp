// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/bench/active.hpp"
#include "conformance/bench/bench.hpp"
#include "conformance/target/simulated_target.hpp"

#include "catch2.hpp"
#include "conformance/judge/passive.hpp"
#include "conformance/selftest/selftest.hpp"
#include "fabric/simulated/fabric.hpp"
#include "protocol/requirements/rfc4391.hpp"
#include "reports/json.hpp"
#include "temporary_folder.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>

using namespace ipoib;
using namespace ipoib::conformance;
using reports::NotJudged;
using reports::Result;
using reports::Verdict;

namespace {

ActiveRun everything(const Target& target) {
    ActiveRun active;
    active.cases = all_cases();
    for (const auto& rule : rules::all()) active.rules.push_back(&rule);
    active.judges_sa = target.judges_sa();
    active.has_control = target.has_control();
    active.profile = reference_profile(target);
    return active;
}

reports::Results run_all(const Target& target, ActiveRun active) {
    const auto rig = make_rig(target);
    return run(active, *rig);
}
reports::Results run_all(const Target& target) { return run_all(target, everything(target)); }

const Result& result_of(const reports::Results& results, std::string_view id) {
    const auto found = std::ranges::find(results.results, id, &Result::id);
    REQUIRE(found != results.results.end());
    return *found;
}

/// A case of a test's own, unknown to all_cases().
Case local(void (*steps)(Bench&)) {
    return {.id = "IPOIB-4391-6-VAL-999",
            .title = "a test's own",
            .checks = {&rfc4391::encap_reserved_rx, &rfc4391::leaves_group},
            .pass_if = "",
            .steps = steps,
            .registered = Registered<Case>{nullptr}};
}

Result run_local(void (*steps)(Bench&)) {
    const auto one = local(steps);
    auto active = everything({});
    active.cases = {&one};
    active.rules.clear();
    return run_all({}, active).results.at(0);
}

}  // namespace

TEST_CASE("Active run: the reference passes every case and every rule, in each scenario") {
    for (const auto& one : fabric::scenarios())
        for (const auto* const dut : {"reference", "sa"}) {
            const auto& scenario = one.name;
            const Target target{.dut = dut, .scenario = std::string(scenario)};
            const auto results = run_all(target);
            for (const auto& result : results.results) {
                INFO(scenario << ' ' << dut << ' ' << result.id << ": " << result.message);
                CHECK((result.verdict == Verdict::pass || result.verdict == Verdict::na ||
                       (target.judges_sa() && is_set_aside(result, scenario))));
                CHECK((result.verdict != Verdict::na || result.na != NotJudged::none));
            }
            CHECK(std::ranges::count(results.results, Verdict::pass, &Result::verdict) > (target.judges_sa() ? 1 : 60));
        }
}

// Under every case: tests/documentation_test.py.
TEST_CASE("Selftest: each mutant breaks what it declares and nothing else, also with one DUT for all cases on it",
          "[breadth]") {
    const std::vector<Order> orders{{}, {1}};
    const auto outcome = selftest({.cases = all_cases(), .lasting = orders});
    INFO(kill_matrix(outcome));
    CHECK(outcome.is_complete);
    CHECK(outcome.mutants.size() >= 60);
}

TEST_CASE("Active run: the same seed gives the same results, another seed the same verdicts", "[breadth]") {
    const auto report = [](std::uint64_t seed) {
        auto active = everything({});
        active.seed = seed;
        return run_all({}, active);
    };
    const auto first = report(7), again = report(7), other = report(8);
    CHECK(reports::to_json(first, ".") == reports::to_json(again, "."));
    REQUIRE(first.results.size() == other.results.size());
    for (std::size_t i = 0; i < first.results.size(); ++i) CHECK(first.results[i].verdict == other.results[i].verdict);
}

TEST_CASE("Active run: evidence is a capture that check reads without blaming the DUT for the tester's frames") {
    const TemporaryFolder folder;
    auto active = everything({});
    active.evidence = folder.path().string();
    const auto results = run_all({}, active);
    PassiveRun passive;
    for (const auto& rule : rules::all()) passive.rules.push_back(&rule);
    for (const auto& captured : results.captures) passive.captures.push_back(captured.file);
    REQUIRE(passive.captures.size() > 25);
    const auto judged = check(passive);
    for (const auto& captured : judged.captures) CHECK(captured.error.empty());
    for (const auto& result : judged.results) {
        INFO(result.evidence << ' ' << result.id << ": " << result.message);
        // An SA with the usual Q_Key is the SA's affair (4.1-02, a SHOULD).
        CHECK((result.verdict == Verdict::pass || result.verdict == Verdict::na || result.verdict == Verdict::warn));
    }
}

TEST_CASE("Active run: Wireshark shows every frame of the evidence as InfiniBand") {
    if (std::system("command -v tshark >/dev/null") != 0) {
        WARN("LEFT OUT: tshark is missing");
        return;
    }
    const TemporaryFolder folder;
    auto active = everything({});
    active.cases = {find_case("IPOIB-4391-6-INV-001")};
    active.evidence = folder.path().string();
    const auto results = run_all({}, active);
    REQUIRE(results.captures.size() == 1);
    const auto command = "tshark -r '" + results.captures[0].file + "' -Y 'infiniband.lrh' 2>/dev/null | wc -l";
    auto* pipe = popen(command.c_str(), "r");
    REQUIRE(pipe != nullptr);
    unsigned long shown = 0;
    CHECK(std::fscanf(pipe, "%lu", &shown) == 1);
    pclose(pipe);
    CHECK(shown == results.captures[0].packets);
}

TEST_CASE("Active run: a violation names step, requirement, frame and field, and check finds it in the evidence") {
    const TemporaryFolder folder;
    const Target target{.dut = "mutant:reserved-not-zero"};
    auto active = everything(target);
    active.cases = {find_case("IPOIB-4391-6-INV-001")};
    active.evidence = folder.path().string();
    active.repeat_command = "ipoib-conform run";
    const auto results = run_all(target, active);
    const auto& failed = results.results.at(0);
    CHECK(failed.verdict == Verdict::fail);
    CHECK(failed.message.find("step \"An ordinary echo request is answered\": echo reply (frame ") == 0);
    CHECK(failed.message.find("Encap.Reserved is 0x0100, expected 0x0000") != std::string::npos);
    CHECK(failed.repeat == "ipoib-conform run IPOIB-4391-6-INV-001");
    REQUIRE(failed.parts.size() == 2);
    CHECK(failed.parts[0].verdict == Verdict::pass);
    CHECK(failed.parts[1].id == "RFC4391-6-02");
    CHECK(failed.parts[1].verdict == Verdict::fail);
    // In IPv4 and IPv6 an echo reply, an answer with the address, echo replies and datagrams to a group of six lengths.
    REQUIRE(failed.details.size() == std::size_t{2} * (2 + 6 + 6));
    PassiveRun passive{.captures = {failed.evidence}, .rules = {rules::find("RULE-RFC4391-6-02")}};
    const auto judged = check(passive).results.at(0);
    CHECK(judged.verdict == Verdict::fail);
    CHECK(std::ranges::find(judged.frames, failed.details[0].frame) != judged.frames.end());
}

TEST_CASE("Active run: a case that checks nothing is an ERROR, never a PASS") {
    const auto result = run_local([](Bench& bench) { bench.step("nothing"); });
    CHECK(result.verdict == Verdict::error);
    CHECK(result.message == "the case checked nothing");
}

TEST_CASE("Active run: something forbidden without a positive control before is an ERROR") {
    const auto result = run_local([](Bench& bench) {
        bench.step("silence");
        bench.forbid(echo_reply(), within(1s));
    });
    CHECK(result.verdict == Verdict::error);
    CHECK(result.message.find("without a positive control") != std::string::npos);
}

TEST_CASE("Active run: what is stated of IP is judged in both families, and told by which") {
    const auto run_both = [](void (*steps)(Bench&)) {
        auto one = local(steps);
        one.in_both_families = true;
        auto active = everything({});
        active.cases = {&one};
        active.rules.clear();
        return run_all({}, active).results.at(0);
    };
    const auto good = run_both([](Bench& bench) {
        bench.step("a question and its answer");
        bench.send(echo_request());
        bench.require(echo_reply(), within(1s));
        bench.require(bench.fresh_group().is_v4() != bench.situation().is_ipv6(), "a group of the family");
    });
    CHECK(good.verdict == Verdict::pass);
    CHECK(good.observed == 4);
    const auto wrong_in_one = run_both([](Bench& bench) {
        bench.step("a claim");
        bench.require(!bench.situation().is_ipv6(), "IPv4", "IPv6");
    });
    CHECK(wrong_in_one.verdict == Verdict::fail);
    CHECK(wrong_in_one.violations == 1);
    CHECK(wrong_in_one.message == "step \"IPv6: a claim\": expected IPv4, found IPv6");
    const auto unclear_in_one = run_both([](Bench& bench) {
        bench.step("a claim");
        bench.precondition(bench.situation().is_ipv6(), "it is IPv6");
        bench.require(true, "anything");
    });
    CHECK(unclear_in_one.verdict == Verdict::inconc);
    const auto absent_in_one = run_both([](Bench& bench) {
        bench.step("a claim");
        if (bench.situation().is_ipv6()) bench.not_applicable("there is none");
        bench.require(true, "anything");
    });
    CHECK(absent_in_one.verdict == Verdict::pass);
    CHECK(absent_in_one.notes.front() == "not judged in IPv6: there is none");
}

TEST_CASE("Active run: a step that judges what the case does not list is an ERROR") {
    const auto result = run_local([](Bench& bench) { bench.step("x", rfc4391::mgid_format); });
    CHECK(result.verdict == Verdict::error);
}

TEST_CASE("Active run: a precondition that does not hold is INCONC") {
    const auto result = run_local([](Bench& bench) {
        bench.step("no answer to nothing");
        bench.precondition(echo_reply6(), within(100ms));
    });
    CHECK(result.verdict == Verdict::inconc);
    CHECK(result.message.find("no ICMPv6 echo reply within 0.1 s; the DUT sent nothing") != std::string::npos);
}

namespace {

/// A rig whose clock is said to be a machine's, with what becomes of a case whose precondition holds from an attempt
/// on.
class RealTimeRig : public Rig {
public:
    Session& prepare(std::uint64_t seed) override { return rig_->prepare(seed); }
    std::string clean_up(CaseEnd end) override { return rig_->clean_up(end); }
    [[nodiscard]] fabric::Abilities abilities() const override { return rig_->abilities(); }
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> fabric_facts() const override { return {}; }
    [[nodiscard]] bool is_virtual() const override { return false; }

private:
    std::unique_ptr<Rig> rig_ = make_rig({});
};

Result run_in_real_time(const Case& one, unsigned repeat = 1) {
    auto active = everything({});
    active.cases = {&one};
    active.rules.clear();
    active.repeat = repeat;
    RealTimeRig rig;
    return run(active, rig).results.at(0);
}

int attempts = 0;

}  // namespace

TEST_CASE("Active run: in real time what is undecided is tried a second time, and says so") {
    const auto late = local([](Bench& bench) {
        bench.step("it works the second time", rfc4391::encap_reserved_rx);
        bench.precondition(++attempts > 1, "a machine that is not busy");
        bench.require(true, "");
    });
    attempts = 0;
    const auto second = run_in_real_time(late);
    CHECK(second.verdict == Verdict::pass);
    CHECK(attempts == 2);
    CHECK(second.notes.front().starts_with("the first attempt was undecided: step \"it works the second time\""));

    const auto never = local([](Bench& bench) {
        ++attempts;
        bench.precondition(false, "the moon");
    });
    attempts = 0;
    CHECK(run_in_real_time(never).verdict == Verdict::inconc);
    CHECK(attempts == 2);
    attempts = 0;
    CHECK(run_in_real_time(never, 3).verdict == Verdict::inconc);
    CHECK(attempts == 3);
    attempts = 0;
    CHECK(run_local(never.steps).verdict == Verdict::inconc);
    CHECK(attempts == 1);
}

TEST_CASE("Active run: a violation that was proven is not hidden by what fails later") {
    const auto result = run_local([](Bench& bench) {
        bench.step("wrong", rfc4391::encap_reserved_rx);
        bench.require(false, "the moon");
        bench.step("no answer");
        bench.precondition(echo_reply6(), within(100ms));
    });
    CHECK(result.verdict == Verdict::fail);
    CHECK(result.message == "step \"wrong\": expected the moon; the DUT sent nothing");
    CHECK(std::ranges::any_of(result.notes, [](auto& note) { return note.starts_with("INCONC afterwards"); }));
}

TEST_CASE("Active run: a SHOULD that is not met is WARN, the other requirements of the case keep their verdicts") {
    const auto result = run_local([](Bench& bench) {
        bench.step("must", rfc4391::encap_reserved_rx);
        bench.require(true, "");
        bench.step("should", rfc4391::leaves_group);
        bench.require(false, "a leave");
    });
    CHECK(result.verdict == Verdict::warn);
    REQUIRE(result.parts.size() == 2);
    CHECK(result.parts[0].verdict == Verdict::pass);
    CHECK(result.parts[1].verdict == Verdict::warn);
}

TEST_CASE("Active run: what the DUT's adapter cannot do makes the case NA") {
    const auto result = run_local([](Bench& bench) {
        bench.step("x");
        bench.dut->set_mode("token ring");
        bench.require(true, "");
    });
    CHECK((result.verdict == Verdict::na || result.verdict == Verdict::inconc));
    const auto faulty = run_local([](Bench& bench) { bench.fabric.change(fabric::SetScenario{"earthquake"}); });
    CHECK(faulty.verdict == Verdict::na);
    CHECK(faulty.na == NotJudged::tester);
}

TEST_CASE("Active run: what was judged before the rest could not be done keeps its verdict") {
    const auto result = run_local([](Bench& bench) {
        bench.step("must", rfc4391::encap_reserved_rx);
        bench.require(true, "");
        bench.step("should", rfc4391::leaves_group);
        bench.not_applicable("no more of this here");
    });
    CHECK(result.verdict == Verdict::na);
    CHECK(result.message == "no more of this here");
    REQUIRE(result.parts.size() == 2);
    CHECK(result.parts[0].verdict == Verdict::pass);
    CHECK(result.parts[1].verdict == Verdict::na);
}

TEST_CASE("Active run: repetitions are one result, the worst of them") {
    auto active = everything({});
    active.cases = {find_case("IPOIB-4391-6-INV-001")};
    active.repeat = 3;
    const auto results = run_all({}, active);
    CHECK(result_of(results, "IPOIB-4391-6-INV-001").verdict == Verdict::pass);
    CHECK(std::ranges::count_if(results.results, [](auto& r) { return r.id.starts_with("IPOIB"); }) == 1);
}

TEST_CASE("Active run: a case that fails now and then is flaky, and how often it failed is told") {
    static int times = 0;
    const auto one = local([](Bench& bench) {
        bench.step("now and then", rfc4391::encap_reserved_rx);
        bench.require(++times % 3 != 0, "the sun");
    });
    auto active = everything({});
    active.cases = {&one};
    active.rules.clear();
    active.repeat = 7;
    auto results = run_all({}, active);
    const auto& result = results.results.at(0);
    CHECK(result.verdict == Verdict::fail);
    CHECK(result.repetitions == std::map<Verdict, unsigned>{{Verdict::fail, 2}, {Verdict::pass, 5}});
    CHECK(reports::is_flaky(result));
    CHECK(result.message.starts_with("flaky, FAIL in 2 of 7 repetitions: step \"now and then\": "));
    CHECK(std::ranges::find(result.notes, "FAIL in 2 of 7 repetitions: 3, 6") != result.notes.end());
    CHECK(nlohmann::json::parse(reports::to_json(results))["results"][0]["repetitions"] ==
          nlohmann::json{{"FAIL", 2}, {"PASS", 5}});
}

namespace {

/// Fails; the DUT is innocent.
void fails(Bench& bench) {
    bench.step("wrong", rfc4391::encap_reserved_rx);
    bench.require(false, "the moon");
    bench.require(false, "the moon again");
}

}  // namespace

TEST_CASE("Active run: no further case begins after so many failures, of those that count") {
    const auto one = local(fails), two = local(fails), three = local(fails);
    auto active = everything({});
    active.rules.clear();
    active.cases = {&one, &two, &three};
    active.max_failures = 2;
    const auto results = run_all({}, active);
    REQUIRE(results.results.size() == 2);
    CHECK(results.results.back().verdict == Verdict::fail);
    CHECK(std::ranges::find(results.results.back().notes,
                            "there are 2 failures (--max-failures): 1 case was not begun") !=
          results.results.back().notes.end());
    active.is_failure = [](const Result&, const reports::Results&) { return false; };
    CHECK(run_all({}, active).results.size() == 3);
}

TEST_CASE("Active run: it is paused at the first violation of each case, or before the steps of one") {
    const auto wrong = local(fails);
    auto right = local([](Bench& bench) { bench.require(true, ""); });
    right.id = "IPOIB-4391-6-VAL-998";
    auto active = everything({});
    active.rules.clear();
    active.cases = {&right, &wrong};
    std::vector<std::string> told;
    const auto wait = [&](const std::string& why, Session& session) {
        CHECK(session.dut_is_found());
        told.push_back(why);
    };
    active.pause = ActiveRun::Pause{.case_id = {}, .wait = wait};
    (void)run_all({}, active);
    CHECK(told ==
          std::vector<std::string>{"IPOIB-4391-6-VAL-999: step \"wrong\": expected the moon; the DUT sent nothing"});
    told.clear();
    active.pause = ActiveRun::Pause{.case_id = "IPOIB-4391-6-VAL-998", .wait = wait};
    (void)run_all({}, active);
    CHECK(told == std::vector<std::string>{"IPOIB-4391-6-VAL-998: its steps begin now"});
}

namespace {

/// A DUT that crashes, or breaks its channel, when it is asked for its health.
class Sick : public DutControl {
public:
    explicit Sick(std::string health) : health_(std::move(health)) {}
    DutControlReply ask(const std::string& request, fabric::Duration) override {
        const auto asked = nlohmann::json::parse(request);
        nlohmann::json answer{{"id", asked["id"]}, {"ok", true}};
        if (asked["do"] == "hello")
            answer.update({{"protocol", 1}, {"name", "sick"}, {"can", {"health"}}});
        else if (asked["do"] == "health" && health_.empty())
            return {.line = {}, .error = "the adapter died"};
        else if (asked["do"] == "health")
            answer["faults"] = {health_};
        else if (asked["do"] == "interface")
            answer["up"] = false;
        else if (asked["do"] != "bye")
            answer = {{"id", asked["id"]}, {"error", "unsupported"}};
        return {.line = answer.dump(), .error = {}};
    }

private:
    std::string health_;
};

class SickRig : public Rig {
public:
    explicit SickRig(std::string health) : control_(std::move(health)) {}
    Session& prepare(std::uint64_t) override {
        if (!session_) {
            session_ = std::make_unique<Session>(fabric_, control_, SessionOptions{});
            session_->begin();
        }
        return *session_;
    }
    std::string clean_up(CaseEnd) override { return {}; }
    [[nodiscard]] fabric::Abilities abilities() const override { return fabric_.abilities(); }
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> fabric_facts() const override { return {}; }
    [[nodiscard]] bool is_virtual() const override { return true; }

private:
    fabric::SimulatedFabric fabric_{fabric::SimulatedOptions{}};
    Sick control_;
    std::unique_ptr<Session> session_;
};

Result run_sick(const std::string& health) {
    auto one = local([](Bench& bench) {
        bench.step("fine");
        bench.require(true, "");
    });
    const Case down{.id = one.id,
                    .title = one.title,
                    .checks = one.checks,
                    .pass_if = "",
                    .begin = Begin::down,
                    .steps = one.steps,
                    .registered = Registered<Case>{nullptr}};
    ActiveRun active;
    active.cases = {&down};
    SickRig rig{health};
    return run(active, rig).results.at(0);
}

}  // namespace

TEST_CASE("Active run: a DUT that reports a fault has crashed, whatever the case saw") {
    const auto result = run_sick("BUG: unable to handle page fault");
    CHECK(result.verdict == Verdict::fail);
    CHECK(result.fail_type == "FAIL.CRASH");
    CHECK(result.message == "the DUT reports: BUG: unable to handle page fault");
}

TEST_CASE("Active run: a channel that breaks after the steps is an ERROR") {
    const auto result = run_sick("");
    CHECK(result.verdict == Verdict::error);
    CHECK(result.message.find("the adapter died") != std::string::npos);
}

TEST_CASE("Rigs: what cannot be is refused in words") {
    const auto refused = [](Target target) {
        try {
            (void)make_rig(target);
        } catch (const std::invalid_argument& why) {
            return std::string(why.what());
        }
        return std::string();
    };
    CHECK(refused({.fabric = "token-ring"}).find("--fabric is") == 0);
    CHECK(refused({.fabric = "verbs:mlx5_0"}).find("simulated fabric only") != std::string::npos);
    CHECK(refused({.fabric = "verbs:,issm", .dut = "none"}).find("does not know 'issm'") != std::string::npos);
    CHECK(refused({.fabric = "verbs:", .dut = "none", .scenario = "scope5"}).find("somebody's") != std::string::npos);
    CHECK(refused({.dut = "mutant:none-such"}).find("there is no mutant 'none-such'") == 0);
    CHECK(refused({.dut = "mutant:sa-any-mtu"}).find("is a mutant of the subnet administrator") != std::string::npos);
    CHECK(refused({.fabric = "simulated:sa-mutant=mtu-2040"}).find("is no mutant of the subnet") != std::string::npos);
    CHECK(refused({.scenario = "x"}).find("there is no scenario 'x'; there are default, ") == 0);
    CHECK(refused({.dut = "exec:"}).find("names no command") != std::string::npos);
    CHECK(refused({.dut = "exec:true"}).find("--listen PATH") != std::string::npos);
    CHECK(refused({.fabric = "socket:", .dut = "none"}).find("needs a path") != std::string::npos);
    CHECK(refused({.fabric = "socket:/x", .dut = "reference"}).find("simulated fabric only") != std::string::npos);
}
