// SPDX-License-Identifier: GPL-2.0-or-later
// All rules together: what each must catch, exactly, and that right packets break none.
#include "protocol/requirements/catalogue.hpp"
#include "protocol/rules/common.hpp"
#include "protocol/rules/test_rules.hpp"

using namespace ipoib;
using namespace ipoib::rules::testing;

namespace {

std::vector<Wrong> wrong_packets() {
    std::vector<Wrong> packets;
    for (const auto part : {wrong_rfc4391, wrong_joins, wrong_rfc4392, wrong_rfc4755, wrong_rfc4390})
        for (auto& wrong : part()) packets.push_back(std::move(wrong));
    return packets;
}

}  // namespace

TEST_CASE("Rules: every wrong packet breaks exactly what it should") {
    for (const auto& wrong : wrong_packets()) {
        CAPTURE(wrong.what);
        CHECK(violated(wrong.packet, wrong.link) == wrong.breaks);
    }
}

namespace {

/// Rules that one packet cannot break are broken in conformance/judge/story.test.cpp.
bool needs_a_story(const rules::Rule& rule) {
    const auto is_in = [&](std::span<const rules::Rule> section) {
        return std::ranges::any_of(section, [&](const auto& one) { return one.id == rule.id; });
    };
    return is_in(rules::context_unicast()) || is_in(rules::context_groups()) || is_in(rules::context_duties()) ||
           is_in(rules::context_connections());
}

}  // namespace

TEST_CASE("Rules: every rule is broken by some packet, but for those on what may be") {
    Ids broken;
    for (const auto& wrong : wrong_packets()) broken.insert(wrong.breaks.begin(), wrong.breaks.end());
    // What tests of their own break.
    broken.insert({"RFC4391-6-01", "RFC4391-4.1-01", "RFC4391-4.1-02", "RFC4391-4-02-join", "RFC4391-4-05-join",
                   "RFC4391-4-08-join", "RFC4391-6-04-interface", "RFC4391-9.3-01-unannounced"});
    auto short_arp = arp_reply(b, a, plain);
    short_arp.remove<ArpAddresses>().add(golden::octets("00000000"));
    const auto too_short = violated(short_arp);
    CHECK(too_short == Ids{"RFC4391-9.2-03"});
    broken.insert(too_short.begin(), too_short.end());
    for (const auto& rule : rules::all()) {
        CAPTURE(rule.id);
        if (needs_a_story(rule)) continue;
        const bool is_observation = !rule.holds;
        const bool is_broken = broken.count(std::string(rule.id.substr(5))) == 1;
        CHECK(is_broken == !is_observation);
        if (is_observation) CHECK_FALSE(rule.note.empty());
    }
}

TEST_CASE("Rules: packets of a right stack break nothing, on a default and on a controlled link") {
    for (const auto& link : {plain, samples::controlled(), [] {
                                 build::Link wide;
                                 wide.scope = 5;
                                 wide.hop_limit = 4;
                                 return wide;
                             }()})
        for (const auto& packet :
             {arp_request(a, b.ipv4, link), arp_reply(b, a, link), neighbour_solicitation(a, b.ipv6, mlid, link),
              neighbour_advertisement(b, a, link), echo_request(a, b, link, 1, 2016), echo_request6(a, b, link, 1),
              udp_to_group(a, group, mlid, link, 5), udp_to_group(a, local_group, mlid, link, 5),
              udp_to_group(a, 0xffffffff, link.broadcast_mlid, link, 5), udp6_to_group(a, group6, mlid, link, 5)})
            CHECK(violated(packet, link) == Ids{});
}

TEST_CASE("Rules: the golden frames of a real fabric break nothing") {
    CHECK(judge(golden::arp_request()).violated == Ids{});
    CHECK(judge(golden::arp_reply()).violated == Ids{});
    CHECK(judge(golden::arp_request()).noted.count("RULE-RFC4391-9.1.1-02-arp") == 1);
}

TEST_CASE("Rules: each says what proves its violations; what needs an interval names it, or is a duty") {
    for (const auto& rule : rules::all()) {
        CAPTURE(rule.id);
        CHECK(rule.evidence != rules::Evidence::undeclared);
        const bool has_interval = rule.over || rule.duty;
        CHECK((rule.evidence == rules::Evidence::nothing_between) == has_interval);
    }
    using rules::Evidence;
    const auto count = [](Evidence evidence) {
        return std::ranges::count(rules::all(), evidence, &rules::Rule::evidence);
    };
    CHECK(count(Evidence::one_frame) > 50);
    CHECK(count(Evidence::contradiction) > 0);
    CHECK(count(Evidence::nothing_between) > 25);
}

TEST_CASE("Rules: a table with a rule that declares nothing, or the wrong thing, is refused") {
    using rules::Evidence, rules::Rule;
    constexpr auto over = [](const Packet&, const state::Known&) { return state::Span{}; };
    const auto is_taken = [](const Rule& rule) { return rules::are_declared({&rule, 1}); };
    CHECK_FALSE(is_taken({}));
    CHECK(is_taken({.evidence = Evidence::one_frame}));
    CHECK_FALSE(is_taken({.evidence = Evidence::contradiction, .over = over}));
    CHECK_FALSE(is_taken({.evidence = Evidence::nothing_between}));
    CHECK(is_taken({.evidence = Evidence::nothing_between, .over = over}));
    CHECK(is_taken({.evidence = Evidence::nothing_between, .duty = rules::Duty{}}));
}

TEST_CASE("Rules: ids are unique, name their requirement, and the catalogue has it") {
    Ids seen;
    for (const auto& rule : rules::all()) {
        CAPTURE(rule.id);
        CHECK(seen.emplace(rule.id).second);
        CHECK(rule.id.starts_with("RULE-" + std::string(rule.checks[0]->id)));
        for (const auto* requirement : rule.checks)
            if (requirement) CHECK(requirements::find(requirement->id) == requirement);
        CHECK(rules::find(rule.id) == &rule);
    }
}
