// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/selftest/selftest.hpp"

#include "catch2.hpp"
#include "protocol/requirements/rfc4391.hpp"
#include "protocol/requirements/udmc.hpp"
#include "protocol/rules/rule.hpp"

#include <algorithm>

using namespace ipoib;
using namespace ipoib::conformance;
using reports::NotJudged;
using reports::PartVerdict;
using reports::Result;
using reports::Results;
using reports::Verdict;
using Texts = std::vector<std::string>;

namespace {

/// A mutant that breaks the two statements on the Reserved field of the encapsulation header, each in its way.
Mutant mutant_sparing(std::vector<std::string_view> spares) {
    return {.name = "a-tests-own",
            .what = "",
            .breaks = {&rfc4391::encap_reserved_rx, &rfc4391::encap_reserved_tx},
            .spares = std::move(spares),
            .registered = Registered<Mutant>{nullptr}};
}

Result case_result(const char* id, std::vector<PartVerdict> parts) {
    Result result{.id = id, .title = ""};
    result.parts = std::move(parts);
    for (const auto& part : result.parts) result.verdict = std::min(result.verdict, part.verdict);
    return result;
}

const PartVerdict rx_broken{"RFC4391-6-03", Verdict::fail, NotJudged::none, 1};
const PartVerdict tx_broken{"RFC4391-6-02", Verdict::fail, NotJudged::none, 1};
const PartVerdict tx_kept{"RFC4391-6-02", Verdict::pass, NotJudged::none, 1};
const PartVerdict tx_unseen{"RFC4391-6-02", Verdict::na, NotJudged::not_seen, 0};
const PartVerdict mgid_kept{"RFC4391-4-01", Verdict::pass, NotJudged::none, 1};

MutantOutcome outcome(const Mutant& mutant, std::vector<Result> found) {
    Results results;
    results.results = std::move(found);
    return outcome_of(mutant, results);
}

const auto finds_both = case_result("finds both", {rx_broken, tx_broken});

}  // namespace

TEST_CASE("Selftest: a case that judges what a mutant breaks must find it") {
    const auto mutant = mutant_sparing({});
    CHECK(outcome(mutant, {finds_both}).is_right());
    const auto judged = outcome(mutant, {finds_both, case_result("looks away", {tx_kept})});
    CHECK_FALSE(judged.is_right());
    CHECK(judged.blind == Texts{"looks away"});
    CHECK(judged.killed_by == Texts{"finds both"});
}

TEST_CASE("Selftest: no verdict on what a mutant breaks is no find either") {
    Result inconclusive{.id = "gives up", .title = "", .verdict = Verdict::inconc};
    inconclusive.checks = {"RFC4391-4-01", "RFC4391-6-02"};
    CHECK(outcome(mutant_sparing({}), {finds_both, inconclusive}).blind == Texts{"gives up"});
    CHECK(outcome(mutant_sparing({"gives up"}), {finds_both, inconclusive}).is_right());
    inconclusive.checks = {"RFC4391-4-01"};
    CHECK(outcome(mutant_sparing({}), {finds_both, inconclusive}).is_right());
}

TEST_CASE("Selftest: a case that finds a part of it, does not come to it, or judges something else is not blind") {
    const auto mutant = mutant_sparing({});
    CHECK(outcome(mutant, {finds_both, case_result("finds one", {rx_broken, tx_kept})}).is_right());
    CHECK(outcome(mutant, {finds_both, case_result("sees none", {tx_unseen})}).is_right());
    CHECK(outcome(mutant, {finds_both, case_result("of another section", {mgid_kept})}).is_right());
}

TEST_CASE("Selftest: a mutant may spare a case, which must then pass") {
    const auto mutant = mutant_sparing({"takes another way"});
    CHECK(outcome(mutant, {finds_both, case_result("takes another way", {tx_kept})}).is_right());
    CHECK(outcome(mutant, {finds_both}).is_right());
    for (const auto& part : {tx_broken, tx_unseen, mgid_kept}) {
        const auto judged = outcome(mutant, {finds_both, case_result("takes another way", {part})});
        CHECK_FALSE(judged.is_right());
        CHECK(judged.wrongly_spared == Texts{"takes another way"});
    }
}

TEST_CASE("Selftest: the same statement of another document counts, a more general one does not") {
    const Mutant mutant{.name = "a-tests-own",
                        .what = "",
                        .breaks = {&rfc4391::mlid_as_dlid},
                        .registered = Registered<Mutant>{nullptr}};
    const auto found = case_result("finds it", {{"RFC4391-10-03", Verdict::fail, NotJudged::none, 1}});
    const auto twin = case_result("the same", {{"UDMC-04", Verdict::pass, NotJudged::none, 1}});
    CHECK(outcome(mutant, {found, twin}).blind == Texts{"the same"});
    const auto whole = case_result("the whole", {{"RFC4391-6-01", Verdict::pass, NotJudged::none, 1}});
    CHECK(outcome(mutant_sparing({}), {finds_both, whole}).blind.empty());
}

TEST_CASE("Selftest: what is not declared, or not found, is told") {
    const auto undeclared = case_result("blames another", {{"RFC4391-4-01", Verdict::fail, NotJudged::none, 1}});
    CHECK(outcome(mutant_sparing({}), {finds_both, undeclared}).extra == Texts{"RFC4391-4-01"});
    const auto half = outcome(mutant_sparing({}), {case_result("finds one", {rx_broken})});
    CHECK(std::ranges::find(half.missing, "RFC4391-6-02") != half.missing.end());
}

TEST_CASE("Selftest: with one DUT for all cases some case must find it, and none may blame it for more") {
    const auto mutant = mutant_sparing({});
    const auto with_one = [&](LastingOutcome found) {
        auto judged = outcome(mutant, {finds_both});
        judged.lasting = {{.order = {}, .killed_by = {"finds both"}, .extra = {}, .wrongly_failed = {}},
                          std::move(found)};
        return judged;
    };
    CHECK(with_one({.order = {7}, .killed_by = {"another"}, .extra = {}, .wrongly_failed = {}}).is_right());
    const auto survivor = with_one({.order = {7}, .killed_by = {}, .extra = {}, .wrongly_failed = {}});
    CHECK(survivor.is_right_alone());
    CHECK_FALSE(survivor.is_right());
    SelftestOutcome all;
    all.mutants.push_back(survivor);
    CHECK_THAT(kill_matrix(all), ContainsSubstring("one DUT, order seed=7: ALIVE"));
    const auto blamed = with_one({.order = {7}, .killed_by = {"finds both"}, .extra = {"X"}, .wrongly_failed = {}});
    CHECK_FALSE(blamed.is_right());
    const auto in_error = with_one({.order = {7}, .killed_by = {"finds both"}, .extra = {}, .wrongly_failed = {"X"}});
    CHECK_FALSE(in_error.is_right());
}

TEST_CASE("Mutants: what they spare are cases and rules") {
    for (const auto* mutant : all_mutants())
        for (const auto id : mutant->spares) {
            INFO(mutant->name << " spares " << id);
            CHECK((find_case(id) != nullptr ||
                   std::ranges::find(rules::all(), id, &rules::Rule::id) != rules::all().end()));
        }
}

TEST_CASE("Mutants: each is of a stack, an HCA or a subnet administrator, or does what is permitted") {
    CHECK(kind(*find_mutant("reserved-not-zero")) == "stack");
    CHECK(kind(*find_mutant("hca-any-qkey")) == "HCA");
    CHECK(kind(*find_mutant("sa-any-mtu")) == "SA");
    CHECK(kind(*find_mutant("permitted-short-advertisement")) == "permitted");
}

TEST_CASE("Mutants: a twin is the same change in what is decided about IPv6 only") {
    const auto* mutant = find_mutant("reserved-not-zero");
    const auto* twin = find_mutant("reserved-not-zero-ipv6");
    REQUIRE(twin);
    CHECK(twin->what == std::string(mutant->what) + ", in IPv6 only");
    CHECK(twin->breaks == mutant->breaks);
    CHECK(policies_of(*mutant).ipv4.encap_reserved == 0x0100);
    CHECK(policies_of(*mutant).ipv6.encap_reserved == 0x0100);
    CHECK(policies_of(*twin).ipv4.encap_reserved == 0);
    CHECK(policies_of(*twin).ipv6.encap_reserved == 0x0100);
    CHECK(find_mutant("arp-unanswered-ipv6") == nullptr);
}

TEST_CASE("Mutants: a twin may break and spare something else") {
    const auto* mutant = find_mutant("mgid-limited-pkey");
    const auto* twin = find_mutant("mgid-limited-pkey-ipv6");
    REQUIRE(twin);
    CHECK(mutant->spares.empty());
    CHECK(twin->spares == Spared{"IPOIB-4391-4-VAL-001"});
    CHECK(find_mutant("qpn-wrong-ipv6")->breaks == *find_mutant("qpn-wrong")->twin->breaks);
}

TEST_CASE("Mutants: only changes of a stack have twins, and every name is there once") {
    for (const auto* mutant : all_mutants()) {
        INFO(mutant->name);
        CHECK((!mutant->twin || mutant->stack));
        CHECK(find_mutant(mutant->name) == mutant);
    }
}
