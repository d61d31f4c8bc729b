// SPDX-License-Identifier: GPL-2.0-or-later
// A new kind of fabric is run on, and looked at, without a word of it in the code that does so.
#include "conformance/target/target.hpp"

#include "catch2.hpp"
#include "conformance/bench/active.hpp"
#include "conformance/target/outlook.hpp"
#include "conformance/target/test_fabric_kind.hpp"

#include <algorithm>
#include <utility>

using namespace ipoib;
using namespace ipoib::conformance;

namespace {

Target toy_target(std::string_view dut, std::string_view fabric = "toy:box") {
    return {.fabric = std::string(fabric), .dut = std::string(dut)};
}

std::string why_no_rig(const Target& target) {
    try {
        (void)make_rig(target, toy::kinds);
    } catch (const std::invalid_argument& why) {
        return why.what();
    }
    return {};
}

using Changes = std::vector<std::string>;

/// Somebody presses Ctrl-C while it is changed for the first time. A change takes its time, which a program that has
/// been asked to stop does not have.
class InterruptedFabric final : public fabric::SimulatedFabric {
public:
    explicit InterruptedFabric(Changes& done) : SimulatedFabric({.tester_ports = 2}), done_(done) {}
    [[nodiscard]] fabric::ChangeAnswer change(const fabric::FabricChange& change, fabric::Duration patience) override {
        if (fabric::Loop::stop_requested())
            return {fabric::ChangeAnswer::Outcome::failed, "interrupted before it was done"};
        auto answer = SimulatedFabric::change(change, patience);
        if (answer.is_done()) done_.push_back(fabric::text(change));
        if (!std::exchange(was_interrupted_, true)) fabric::Loop::request_stop();
        return answer;
    }

private:
    Changes& done_;
    bool was_interrupted_ = false;
};

}  // namespace

TEST_CASE("Rigs: after Ctrl-C a fabric that lasts is put back as it was") {
    static Changes done;
    done.clear();
    auto kind = toy::kind;
    kind.open = [](const Opening&) { return OpenedFabric{std::make_unique<InterruptedFabric>(done), 0xffff}; };
    kind.abilities = [](const Opening&) { return fabric::Ability::two_ports | fabric::Ability::fabric_control; };
    const FabricKind* const list[] = {&kind};
    const auto rig = make_rig(toy_target("sa"), FabricKinds{list});
    ActiveRun active{.judges_sa = true, .has_control = false};
    for (const auto* one : all_cases())
        if (one->id == "IPOIB-4392-1.2-INV-001") active.cases.push_back(one);
    REQUIRE(active.cases.size() == 1);
    const auto results = run(active, *rig);
    fabric::Loop::clear_stop();
    REQUIRE(results.results.size() == 1);
    CHECK(results.results.front().verdict == reports::Verdict::error);
    // Of the second change nobody knows whether it was made: it is taken back, too.
    REQUIRE(done.size() == 4);
    const auto first = done[0].find("\"add\":\"0x0abc\"");
    REQUIRE(first != std::string::npos);
    CHECK(done[1].find("\"remove\":\"0x0abc\"") != std::string::npos);
    CHECK(done[2] == done[0].substr(0, first) + "\"remove\":\"0x0abc\"}");
    CHECK(done[3] == fabric::text(fabric::Restore{}));
}

TEST_CASE("Rigs: the subnet administrator of a new kind of fabric is judged") {
    const auto target = toy_target("sa");
    const auto rig = make_rig(target, toy::kinds);
    ActiveRun active{.judges_sa = true, .has_control = false};
    for (const auto* one : all_cases())
        if (one->id == "IPOIB-4391-5-VAL-004") active.cases.push_back(one);
    REQUIRE(active.cases.size() == 1);
    const auto results = run(active, *rig);
    REQUIRE(results.results.size() == 1);
    CHECK(results.results.front().verdict == reports::Verdict::pass);
    CHECK_FALSE(rig->is_virtual());
    CHECK(rig->fabric_facts().front().second == "simulated");
}

TEST_CASE("Rigs: a new kind of fabric tells its abilities, and is looked at") {
    CHECK(abilities_of(toy_target("none"), toy::kinds) == fabric::Ability::reports);
    CHECK(look_at(toy_target("none"), toy::kinds)->fabric().ports().size() == 2);
    const auto why_none = [](const char* fabric) {
        try {
            (void)look_at(toy_target("none", fabric), toy::kinds);
        } catch (const std::invalid_argument& why) {
            return std::string(why.what());
        }
        return std::string();
    };
    CHECK(why_none("toy") == "--fabric is toy:BOX, not 'toy'");
}

TEST_CASE("Rigs: what a new kind of fabric is not given") {
    CHECK(why_no_rig(toy_target("none", "toy:chest")) == "--fabric toy: there is a box only");
    CHECK(why_no_rig(toy_target("none", "simulated")) == "--fabric is toy:BOX, not 'simulated'");
    CHECK(why_no_rig(toy_target("reference")) == "the reference DUT lives on the simulated fabric only");
    auto listening = toy_target("none");
    listening.listen = "/x";
    CHECK(why_no_rig(listening) == "--listen is for the simulated fabric");
}

TEST_CASE("Rigs: a DUT in this process is new for each case, or lives through all of them") {
    for (const bool is_lasting : {false, true}) {
        Target target;
        target.is_lasting = is_lasting;
        const auto rig = make_rig(target);
        CHECK(rig->is_virtual());
        auto& first = rig->prepare(1);
        first.loop().run_for(std::chrono::seconds{100});
        const auto later = first.loop().now();
        CHECK(rig->clean_up({}).empty());
        CHECK((rig->prepare(2).loop().now() >= later) == is_lasting);
        CHECK(rig->clean_up({.changed_fabric = true, .is_broken = true}).empty());
        CHECK((rig->prepare(3).loop().now() >= later) == is_lasting);
    }
}
