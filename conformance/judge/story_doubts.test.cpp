// SPDX-License-Identifier: GPL-2.0-or-later
// Stories that a doubt keeps from being a violation, and what the user may vouch for.
#include "conformance/judge/test_story.hpp"

#include <algorithm>

using namespace ipoib;
using namespace ipoib::testing;
using state::Assumption;

namespace {

constexpr auto address = "239.1.2.3";
const auto guid_of_a = a.gid.interface_id(), guid_of_b = b.gid.interface_id();
constexpr std::string_view sender_joins = "RULE-RFC4391-10-08";

inspection::Options vouching(std::vector<state::Vouch> vouched) {
    return {.assume = [vouched = std::move(vouched)](state::Subnet& subnet) {
        for (const auto& one : vouched) subnet.vouch(one);
    }};
}
Judge judged(const Story& story, std::vector<state::Vouch> vouched) {
    return testing::judged(
        story, [](std::size_t) { return true; }, vouching(std::move(vouched)));
}
/// The one suspicion against a rule.
reports::Suspicion suspicion(const Judge& judge, std::string_view rule) {
    const auto all = judge.suspicions();
    const auto found = std::ranges::find(all, rule, &reports::Suspicion::rule);
    REQUIRE(found != all.end());
    return *found;
}
reports::Result result(const Judge& judge, std::string_view rule) {
    const auto all = judge.results();
    return *std::ranges::find(all, rule, &reports::Result::id);
}
bool is_undecided(const Judge& judge, std::string_view rule) {
    return result(judge, rule).verdict == reports::Verdict::inconc;
}
/// It is a violation, which says on what it rests.
void check_assumed(const Judge& judge, std::string_view rule, const std::vector<std::string>& assumed) {
    const auto found = result(judge, rule);
    CHECK(found.verdict == reports::Verdict::fail);
    REQUIRE(found.details.size() == 1);
    CHECK(found.details.front().assumed == assumed);
    CHECK_THAT(found.message, ContainsSubstring(", assumed: " + assumed.front()));
    CHECK(std::ranges::none_of(judge.suspicions(), [&](const auto& one) { return one.rule == rule; }));
}
bool warns(const Judge& judge, const std::string& words) {
    const auto notes = judge.notes();
    return std::ranges::any_of(notes, [&](const auto& note) { return note.starts_with("warning: " + words); });
}

/// a sends to a group that it has not joined in the capture, which does not show it come up.
Story on_link_before() {
    Story story;
    story.join_link(a).join_link(b).join(b, story.group(address), mlid);
    return story(story.to_group(a, address, mlid));
}
std::string name_of(const Node& node) { return hex(node.gid.interface_id(), 16).substr(2); }

}  // namespace

TEST_CASE("Doubt: a port may have lived before the capture, unless the user vouches that it did not") {
    const auto story = on_link_before();
    SECTION("nobody vouches") {
        const auto judge = judged(story, {});
        const auto one = suspicion(judge, sender_joins);
        CHECK(one.doubt == spec(state::Doubt::life_before).name);
        CHECK(one.assume == "from-start=" + name_of(a));
        CHECK(one.count == 1);
        REQUIRE(one.details.size() == 1);
        CHECK(one.details.front().subject == name_of(a));
        CHECK(one.details.front().frame == story.moments().size());
        CHECK(one.details.front().assumed.empty());
        CHECK(one.checks.front() == "RFC4391-10-08");
    }
    SECTION("of this port") {
        check_assumed(judged(story, {{Assumption::from_start, guid_of_a}}), sender_joins, {"from-start"});
    }
    SECTION("of all ports") { check_assumed(judged(story, {{Assumption::from_start}}), sender_joins, {"from-start"}); }
    SECTION("of another port") {
        CHECK(is_undecided(judged(story, {{Assumption::from_start, guid_of_b}}), sender_joins));
    }
    SECTION("of a port that is not there") {
        const auto judge = judged(story, {{Assumption::from_start, 0x1234}, {Assumption::whole, guid_of_a}});
        CHECK(is_undecided(judge, sender_joins));
        CHECK(warns(judge, "--assume from-start=0000000000001234: the capture shows no such port"));
        CHECK_FALSE(warns(judge, "--assume whole"));
    }
    SECTION("of something else") {
        CHECK(is_undecided(judged(story, {{Assumption::whole}, {Assumption::steady_clock}}), sender_joins));
    }
}

TEST_CASE("Doubt: a port that is seen up before anything shows it come up has lived before, whoever vouches") {
    Story story;
    auto info = Bytes<PortInfo>{}
                    .set(PortInfo::gid_prefix, a.gid.prefix())
                    .set(PortInfo::lid, a.lid)
                    .set(PortInfo::port_state, PortState::active);
    story(port_info(sa, a, Method::get, info))(port_info(a, sa, Method::get_resp, info));
    story.join_link(a).join_link(b).join(b, story.group(address), mlid);
    story(story.to_group(a, address, mlid));
    const auto judge = judged(story, {{Assumption::from_start, guid_of_a}});
    CHECK(is_undecided(judge, sender_joins));
    CHECK(suspicion(judge, sender_joins).assume.empty());
    CHECK(warns(judge, "--assume from-start does not hold there: frame 2 shows port "));
    CHECK_FALSE(warns(judged(story, {{Assumption::from_start, guid_of_b}}), "--assume"));
}

TEST_CASE("Doubt: a port that uses the link before it joins has lived before, whoever vouches") {
    Story story;
    story(arp_request(a, b.ipv4, story.link)).join_link(a).join_link(b);
    const std::string words = "--assume from-start does not hold there: frame 1 shows port " + text(a.gid);
    CHECK(warns(judged(story, {{Assumption::from_start, guid_of_a}}), words));
    CHECK(warns(judged(story, {{Assumption::from_start}}), words));
    CHECK_FALSE(warns(judged(story, {{Assumption::from_start, guid_of_b}}), "--assume"));
    CHECK_FALSE(warns(judged(story, {{Assumption::whole}}), "--assume"));
    Story later;
    later.join_link(a)(arp_request(a, b.ipv4, later.link)).join_link(a);
    CHECK_FALSE(warns(judged(later, {{Assumption::from_start}}), "--assume"));
}

TEST_CASE("Doubt: an answer may be missing, unless the user vouches for the whole") {
    auto story = both_up();
    const auto group = story.group(address);
    story.join(a, group, mlid, join_state::full_member, sa_status::denied);
    story(mc_member(a, sa, Method::set, 0x1234, group_record(a, story.link, group, 0, join_state::full_member),
                    mask::join));
    story(story.to_group(a, address, mlid));
    constexpr std::string_view rule = "RULE-RFC4391-10-08-refused";
    const auto doubted = suspicion(judged(story, {}), rule);
    CHECK(doubted.doubt == spec(state::Doubt::lost_frames).name);
    CHECK(doubted.assume == "whole=" + name_of(a));
    const auto judge = judged(story, {{Assumption::whole, guid_of_a}});
    check_assumed(judge, rule, {"whole"});
    CHECK(std::ranges::count(result(judge, rule).notes, "1 of 1 packet: by what --assume says (whole)") == 1);
    CHECK(is_undecided(judged(story, {{Assumption::whole, guid_of_b}}), rule));
    CHECK(is_undecided(judged(story, {{Assumption::from_start}}), rule));
    SECTION("the capture tells of a loss") {
        const auto at = story.moments().size();
        Judge lossy{conformance::selected_rules({}), 0, {}, [] {
                        auto options = vouching({{Assumption::whole}});
                        options.tells_loss_late = true;
                        return options;
                    }()};
        std::uint64_t number = 0;
        for (const auto& moment : story.moments())
            lossy.frame({.number = ++number,
                         .time_ns = moment.time,
                         .link_type = capture::LinkType::infiniband,
                         .octets = moment.octets,
                         .wire_length = static_cast<std::uint32_t>(moment.octets.size())});
        lossy.tell_loss({.count = 3, .after = {}, .before = {at, story.moments().back().time}}, {}, "ib0", 0);
        lossy.finish();
        CHECK(is_undecided(lossy, rule));
        CHECK(suspicion(lossy, rule).assume.empty());
        CHECK(warns(lossy, "--assume whole does not hold there: the capture says that 3 packets were dropped"));
    }
}

TEST_CASE("Doubt: an answer without its question shows that something is missing, whoever vouches") {
    auto story = both_up();
    const auto group = story.group(address);
    story.join(a, group, mlid, join_state::full_member, sa_status::denied);
    story(mc_member(sa, a, Method::get_resp, 0x9999, group_record(a, story.link, story.group("239.9.9.9"), 0xc009, 1),
                    mask::join));
    story(story.to_group(a, address, mlid));
    const auto one = suspicion(judged(story, {{Assumption::whole}}), "RULE-RFC4391-10-08-refused");
    CHECK(one.doubt == spec(state::Doubt::lost_frames).name);
    CHECK(one.assume.empty());
}

TEST_CASE("Doubt: what another port was told binds one that was told nothing, if the capture has all of its life") {
    Story story;
    story.up(b)(arp_request(b, a.ipv4, story.link)).pass(6);
    story(arp_request(a, b.ipv4, story.link).set(Deth::q_key, samples::controlled().q_key + 1));
    // The SA goes on without a gap.
    story.join(b, story.group(address), mlid);
    constexpr std::string_view rule = "RULE-RFC4391-9.1.2-03";
    CHECK(suspicion(judged(story, {}), rule).assume == "whole=" + name_of(a) + ",from-start=" + name_of(a));
    CHECK(suspicion(judged(story, {{Assumption::from_start}}), rule).assume == "whole=" + name_of(a));
    CHECK(is_undecided(judged(story, {{Assumption::whole}}), rule));
    check_assumed(judged(story, {{Assumption::whole}, {Assumption::from_start, guid_of_a}}), rule,
                  {"whole", "from-start"});
}

TEST_CASE("Doubt: a silence may be a step of the clock, unless the user vouches for a steady one") {
    auto begin = [] {
        Story story;
        story.up(a).up(b);
        const auto group = story.group(address);
        story.join(a, group, mlid);
        return story(story.to_group(a, address, mlid));
    };
    constexpr std::string_view rule = "RULE-RFC4391-10-12";
    auto story = begin();
    story.pause(60 * second)(story.to_group(a, address, mlid));
    story(echo_request(a, b, story.link, 1))(echo_reply(b, a, story.link, 1));
    const auto one = suspicion(judged(story, {}), rule);
    CHECK(one.doubt == spec(state::Doubt::clock_step).name);
    CHECK(one.assume == "steady-clock=" + name_of(a));
    const auto judge = judged(story, {{Assumption::steady_clock}});
    CHECK(result(judge, rule).violations == 1);
    CHECK(result(judge, rule).details.front().assumed == std::vector<std::string>{"steady-clock"});
    CHECK(is_undecided(judged(story, {{Assumption::whole}, {Assumption::from_start}}), rule));
    SECTION("that goes back") {
        auto back = begin();
        back.pause(20 * second)(echo_request(a, b, back.link, 1)).pause(-2 * second)(echo_request(a, b, back.link, 2));
        back.pause(60 * second)(back.to_group(a, address, mlid));
        const auto set = judged(back, {{Assumption::steady_clock}});
        CHECK(is_undecided(set, rule));
        CHECK(suspicion(set, rule).assume.empty());
        CHECK(warns(set, "--assume steady-clock does not hold there: the clock goes back before frame "));
    }
}

TEST_CASE("Doubt: how the asker began is not vouched for by vouching for who answers") {
    Story story;
    auto anew = b;
    anew.qpn = b.qpn + 0x100;
    story.join_link(a).join_link(b);
    story(arp_request(b, a.ipv4, story.link))(arp_reply(a, anew, story.link));
    story(echo_request(b, a, story.link, 1))(echo_reply(a, b, story.link, 1));
    constexpr std::string_view rule = "RULE-RFC4391-9.1.1-05";
    const auto one = suspicion(judged(story, {}), rule);
    CHECK(one.doubt == spec(state::Doubt::life_before).name);
    CHECK(one.assume == "from-start");
    CHECK(one.details.front().subject == name_of(a));
    CHECK(is_undecided(judged(story, {{Assumption::from_start, guid_of_a}}), rule));
    CHECK(is_undecided(judged(story, {{Assumption::from_start, guid_of_b}}), rule));
    check_assumed(judged(story, {{Assumption::from_start}}), rule, {"from-start"});
}

TEST_CASE("Doubt: what nobody can vouch for stays one") {
    Story story;
    story.join(a, story.link.broadcast_gid(), story.link.broadcast_mlid, join_state::send_only_non_member);
    const auto judge = judged(story, {{Assumption::whole}, {Assumption::from_start}, {Assumption::steady_clock}});
    const auto one = suspicion(judge, "RULE-RFC4391-5-02");
    CHECK(one.doubt == spec(state::Doubt::another_program).name);
    CHECK(one.assume.empty());
    CHECK_FALSE(one.settled_by.empty());
}

TEST_CASE("Doubt: a violation that proves itself rests on nothing") {
    auto story = both_up();
    story(story.to_group(a, address, mlid));
    const auto judge = judged(story, {{Assumption::whole}, {Assumption::from_start}, {Assumption::steady_clock}});
    for (const auto& one : judge.results())
        for (const auto& detail : one.details) CHECK(detail.assumed.empty());
    CHECK(violated(judge) == violated(story));
}
