// SPDX-License-Identifier: GPL-2.0-or-later
// A fabric of which nothing can be said, and one change for each rule.
#include "conformance/audit/audit.hpp"

#include "conformance/assumptions/collector.hpp"

#include "protocol/wire/mgid.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>
#include <array>
#include <catch2.hpp>
#include <functional>
#include <set>

using namespace ipoib;
using namespace ipoib::audit;
using namespace ipoib::wire;
using reports::Verdict;

namespace {

using Ids = std::set<std::string>;

constexpr std::uint16_t p_key = 0x8123;
constexpr std::uint8_t full = join_state::full_member, send_only = join_state::send_only_non_member;

Gid port(unsigned n) { return Gid::of(0xfe80ull << 48, 0x0002c90300000000 + n); }

/// A group like the broadcast group of a link with nothing usual about it.
StatedGroup group(const Gid& mgid, std::uint16_t mlid, std::vector<StatedMember> members) {
    return {.parameters = {.mgid = mgid,
                           .q_key = 0x80000b1b,
                           .flow_label = 0x12345,
                           .mlid = mlid,
                           .p_key = p_key,
                           .mtu = 4,
                           .sl = 3,
                           .traffic_class = 0x20,
                           .hop_limit = 7,
                           .rate = 7,
                           .lifetime = 18,
                           .scope = mgid_of(mgid)[Mgid::scope]},
            .given = (1u << assumptions::parameter_count) - 1,
            .members = std::move(members),
            .members_are_listed = true};
}

/// Two hosts, the second one's port with a limited P_Key, in the broadcast group, one group of IPv4 and one of IPv6;
/// and groups that are not IPoIB's: one of Linux's RDMA connection manager, and
/// that of ibacm, whose scope is a reserved one.
struct Fabric {
    Inventory inventory{
        .groups = {group(broadcast_gid(p_key, 2), 0xc000, {{port(1), full, false, {}}, {port(2), full, false, {}}}),
                   group(mgid_for_ipv4(0xefc0a801, p_key, 2), 0xc001, {{port(1), full, false, {}}}),
                   group(mgid_for_ipv6(*parse_gid("ff05::1:3"), p_key, 2), 0xc002,
                         {{port(1), send_only, false, {}}, {port(2), full, false, {}}}),
                   group(*parse_gid("ff12:4001:8123::efc0:a801"), 0xc003, {{port(3), full, false, {}}}),
                   group(*parse_gid("ff10:a01c:fe80::1"), 0xc004, {})},
        .ports =
            {{.gid = port(1), .lid = 1, .mtu = 5, .rate = 7, .p_keys = {{p_key, 0xffff}}, .node_description = "one"},
             {.gid = port(2), .lid = 2, .mtu = 4, .rate = 16, .p_keys = {{0x0123}}, .node_description = "two"}},
        .origin = "a test"};
    StatedGroup &broadcast = inventory.groups[0], &ipv4 = inventory.groups[1], &ipv6 = inventory.groups[2];
    StatedPort &one = inventory.ports[0], &two = inventory.ports[1];
};

std::vector<const Rule*> every_rule() { return selected_rules({}); }

/// By rule, without what is common to all.
Ids with(Verdict verdict, const Inventory& inventory) {
    Ids ids;
    for (const auto& result : judge(inventory, every_rule()).results) {
        auto id = result.id.substr(std::string("RULE-").size());
        id.resize(id.size() - std::string("-audit").size());
        if (result.verdict == verdict) ids.insert(id);
    }
    return ids;
}
Ids wrong(const Inventory& inventory) {
    auto ids = with(Verdict::fail, inventory);
    ids.merge(with(Verdict::warn, inventory));
    return ids;
}

const reports::Result& result_of(const reports::Results& results, std::string_view id) {
    const auto found = std::ranges::find(results.results, id, &reports::Result::id);
    REQUIRE(found != results.results.end());
    return *found;
}

struct Change {
    const char* what;
    std::function<void(Fabric&)> make;
    Ids breaks;
};

const Change changes[]{
    {"T flag 0", [](Fabric& f) { f.ipv4.parameters.mgid.octets[1] = 0x02; }, {"RFC4391-4-02"}},
    {"a P_Key without the membership bit, as in the drafts",
     [](Fabric& f) { f.ipv4.parameters.mgid.octets[4] = 0x01; },
     {"RFC4391-4-05"}},
    {"a P_Key in the wrong byte order",
     [](Fabric& f) { std::swap(f.ipv4.parameters.mgid.octets[4], f.ipv4.parameters.mgid.octets[5]); },
     {"RFC4391-4-05", "RFC4391-5-01"}},
    {"all 32 bits of the IPv4 group", [](Fabric& f) { f.ipv4.parameters.mgid.octets[12] = 0xef; }, {"RFC4391-4-08"}},
    {"bits above the IPv4 group", [](Fabric& f) { f.ipv4.parameters.mgid.octets[6] = 1; }, {"RFC4391-4-08"}},
    {"a member that two records tell of",
     [](Fabric& f) { f.ipv4.member_contradictions = {"fe80::1 JoinState 0x4, but JoinState 0x1 in another record"}; },
     {"RFC4392-1.3.1.1-04"}},
    {"two broadcast groups of one P_Key",
     [](Fabric& f) { f.inventory.groups.push_back(group(broadcast_gid(p_key, 5), 0xc005, {})); },
     {"RFC4391-4-10", "RFC4391-4.1-07"}},
    {"another scope",
     [](Fabric& f) {
         f.ipv4.parameters.mgid.octets[1] = 0x15;
         f.ipv4.parameters.scope = 5;
     },
     {"RFC4391-4-11"}},
    {"a signature in the wrong byte order",
     [](Fabric& f) { std::swap(f.ipv4.parameters.mgid.octets[2], f.ipv4.parameters.mgid.octets[3]); },
     {"RFC4391-4-12"}},
    {"a limited P_Key in the broadcast group's record",
     [](Fabric& f) { f.broadcast.parameters.p_key = 0x0123; },
     {"RFC4391-4.1-01"}},
    {"an ordinary Q_Key, everywhere",
     [](Fabric& f) {
         for (auto& one : f.inventory.groups) one.parameters.q_key = 0x0b1b;
     },
     {"RFC4391-4.1-02"}},
    {"a link that does not carry the MTU", [](Fabric& f) { f.one.mtu = 3; }, {"RFC4391-4.1-03", "RFC4391-5-05"}},
    {"a broadcast group's MTU that a member's link does not carry",
     [](Fabric& f) {
         for (auto& one : f.inventory.groups) one.parameters.mtu = 5;
         f.ipv6.members.pop_back();
     },
     {"RFC4391-4.1-03"}},
    {"site scope, everywhere",
     [](Fabric& f) {
         for (auto* one : {&f.broadcast, &f.ipv4, &f.ipv6}) {
             one->parameters.mgid.octets[1] = 0x15;
             one->parameters.scope = 5;
         }
     },
     {"RFC4391-4.1-07"}},
    {"no broadcast group", [](Fabric& f) { f.inventory.groups.erase(f.inventory.groups.begin()); }, {"RFC4391-5-01"}},
    {"a port that is no member of the broadcast group",
     [](Fabric& f) { f.broadcast.members.pop_back(); },
     {"RFC4391-5-02"}},
    {"a port that only sends to the broadcast group",
     [](Fabric& f) { f.broadcast.members[1].join_state = send_only; },
     {"RFC4391-5-02"}},
    {"a slow link", [](Fabric& f) { f.two.rate = 3; }, {"RFC4392-1.3-01-rate"}},
    {"a P_Key that a port has lost", [](Fabric& f) { f.one.p_keys = {{0xffff}}; }, {"RFC4391-5-08"}},
    {"a small MTU, everywhere",
     [](Fabric& f) {
         for (auto& one : f.inventory.groups) one.parameters.mtu = 3;
     },
     {"RFC4391-7-04"}},
    {"another MTU", [](Fabric& f) { f.ipv4.parameters.mtu = 3; }, {"RFC4391-10-16"}},
    {"another P_Key in the record",
     [](Fabric& f) { f.ipv4.parameters.p_key = 0x8124; },
     {"RFC4391-10-17-p-key", "RFC4391-4-05", "RFC4391-5-08"}},
    {"another Q_Key", [](Fabric& f) { f.ipv4.parameters.q_key = 1; }, {"RFC4391-10-17-q-key"}},
    {"another SL", [](Fabric& f) { f.ipv4.parameters.sl = 0; }, {"RFC4391-10-17-sl"}},
    {"another HopLimit", [](Fabric& f) { f.ipv4.parameters.hop_limit = 0; }, {"RFC4391-10-17-hop-limit"}},
    {"another TClass", [](Fabric& f) { f.ipv4.parameters.traffic_class = 0; }, {"RFC4391-10-18-tclass"}},
    {"another FlowLabel", [](Fabric& f) { f.ipv4.parameters.flow_label = 0; }, {"RFC4391-10-18-flow-label"}},
    {"another PacketLifeTime", [](Fabric& f) { f.ipv4.parameters.lifetime = 17; }, {"RFC4391-10-18-lifetime"}},
    {"another rate", [](Fabric& f) { f.ipv4.parameters.rate = 3; }, {"RFC4391-10-18-rate"}},
    {"flags above T", [](Fabric& f) { f.ipv4.parameters.mgid.octets[1] = 0x32; }, {"RFC4392-1.2.1.2-01"}},
    {"a reserved scope",
     [](Fabric& f) {
         f.ipv4.parameters.mgid.octets[1] = 0x1f;
         f.ipv4.parameters.scope = 0xf;
     },
     {"RFC4392-1.2.1.2-02", "RFC4391-4-11"}},
    {"records that contradict each other",
     [](Fabric& f) { f.ipv4.contradictions = {"mtu 1024, but 2048 in line 9"}; },
     {"RFC4392-1.2.1.2-03"}},
    {"an MLID that is none", [](Fabric& f) { f.ipv4.parameters.mlid = 0x0007; }, {"RFC4392-1.2.1.2-03-mlid"}},
    {"a Scope that is not the MGID's", [](Fabric& f) { f.ipv4.parameters.scope = 8; }, {"RFC4392-1.3.1-01"}},
};

}  // namespace

namespace {

/// What one subnet alone seldom shows has its own tests below.
bool is_on_subnets(std::string_view id) {
    constexpr std::array<std::string_view, 7> ids{
        "RULE-RFC4391-4.1-04-audit",   "RULE-RFC4391-4.1-06-audit", "RULE-RFC4391-4.1-06-confined-audit",
        "RULE-RFC4391-9.1.2-02-audit", "RULE-RFC4392-1.3-02-audit", "RULE-RFC4392-1.3-03-audit",
        "RULE-UDMC-10-audit"};
    return std::ranges::find(ids, id) != ids.end();
}

}  // namespace

TEST_CASE("Audit: a fabric as it should be has nothing against it, and every rule looks at it") {
    const auto results = judge(Fabric{}.inventory, every_rule());
    REQUIRE(results.results.size() == rules().size());
    for (const auto& result : results.results) {
        CAPTURE(result.id, result.message);
        const bool is_judged = find(result.id)->holds != nullptr && !is_on_subnets(result.id);
        CHECK(result.verdict == (is_judged ? Verdict::pass : Verdict::na));
        CHECK((result.observed > 0) == is_judged);
        CHECK_FALSE(result.message.empty());
    }
}

TEST_CASE("Audit: each fault breaks what it should, and nothing else") {
    Ids broken;
    for (const auto& change : changes) {
        CAPTURE(change.what);
        Fabric fabric;
        change.make(fabric);
        const auto ids = wrong(fabric.inventory);
        CHECK(ids == change.breaks);
        broken.insert(ids.begin(), ids.end());
    }
    for (const auto& rule : rules()) {
        CAPTURE(rule.id);
        const auto id = std::string(rule.id.substr(5, rule.id.size() - 5 - std::string_view("-audit").size()));
        CHECK((broken.count(id) == 1) == (rule.holds != nullptr && !is_on_subnets(rule.id)));
    }
}

TEST_CASE("Audit: what is broken names the group or the port, the field, and what it should be") {
    Fabric fabric;
    fabric.ipv4.parameters.sl = 1;
    fabric.one.mtu = 3;
    const auto results = judge(fabric.inventory, every_rule());
    const auto& sl = result_of(results, "RULE-RFC4391-10-17-sl-audit");
    CHECK(sl.verdict == Verdict::fail);
    CHECK(sl.fail_type == "FAIL.MUST");
    CHECK(sl.observed == 2);
    CHECK(sl.violations == 1);
    REQUIRE(sl.details.size() == 1);
    CHECK_THAT(sl.details[0].subject,
               ContainsSubstring("ff12:401b:8123::fc0:a801") && ContainsSubstring("239.192.168.1"));
    CHECK(sl.details[0].field == "SL");
    CHECK(sl.details[0].expected == "3, as in the broadcast group");
    CHECK(sl.details[0].actual == "1");
    CHECK(sl.details[0].link == "0x8123");
    const auto& mtu = result_of(results, "RULE-RFC4391-4.1-03-audit");
    REQUIRE(mtu.details.size() == 1);
    CHECK(mtu.details[0].subject == "0002c90300000001 (one)");
    CHECK(mtu.details[0].field == "MTU of ff12:401b:8123::ffff:ffff");
    CHECK_THAT(mtu.details[0].expected, ContainsSubstring("1024 octets"));
}

TEST_CASE("Audit: a RECOMMENDED that is not followed is no failure") {
    Fabric fabric;
    fabric.broadcast.parameters.q_key = 0x0b1b;
    fabric.ipv4.parameters.q_key = fabric.ipv6.parameters.q_key = 0x0b1b;
    CHECK(with(Verdict::fail, fabric.inventory).empty());
    CHECK(with(Verdict::warn, fabric.inventory) == Ids{"RFC4391-4.1-02"});
}

TEST_CASE("Audit: what may be missing proves nothing by its absence") {
    Fabric fabric;
    fabric.inventory.doubt = "a part of the list";
    fabric.inventory.groups.erase(fabric.inventory.groups.begin());
    CHECK(wrong(fabric.inventory).empty());
    CHECK(with(Verdict::inconc, fabric.inventory) == Ids{"RFC4391-5-01"});
    Fabric another;
    another.inventory.doubt = "a part of the list";
    another.broadcast.members.pop_back();
    CHECK(wrong(another.inventory).empty());
    CHECK(with(Verdict::inconc, another.inventory) == Ids{"RFC4391-5-02"});
    Fabric unlisted;
    unlisted.broadcast.members.pop_back();
    unlisted.broadcast.members_are_listed = false;
    CHECK(wrong(unlisted.inventory).empty());
    // An administrator that does not tell of this partition's groups.
    Fabric hidden;
    hidden.inventory.p_keys = {0xffff};
    hidden.inventory.groups.erase(hidden.inventory.groups.begin());
    CHECK(wrong(hidden.inventory).empty());
    hidden.inventory.p_keys = {0x0123};
    CHECK(wrong(hidden.inventory) == Ids{"RFC4391-5-01"});
}

TEST_CASE("Audit: a comparison with a broadcast group of another scope needs all groups") {
    Fabric fabric;
    fabric.ipv4.parameters.mgid.octets[1] = 0x15;
    fabric.ipv4.parameters.scope = 5;
    fabric.ipv4.parameters.sl = 1;
    CHECK(wrong(fabric.inventory) == Ids{"RFC4391-4-11", "RFC4391-10-17-sl"});
    fabric.inventory.doubt = "a part of the list";
    CHECK(wrong(fabric.inventory).empty());
    CHECK(with(Verdict::inconc, fabric.inventory) == Ids{"RFC4391-4-11", "RFC4391-10-17-sl"});
    CHECK_THAT(result_of(judge(fabric.inventory, every_rule()), "RULE-RFC4391-4-11-audit").message,
               ContainsSubstring("a part of the list"));
    // With the right scope the two records contradict each other, whatever else there is; what is doubtful is told.
    fabric.ipv6.parameters.sl = 1;
    const auto results = judge(fabric.inventory, every_rule());
    const auto& sl = result_of(results, "RULE-RFC4391-10-17-sl-audit");
    CHECK(sl.verdict == Verdict::fail);
    CHECK(sl.violations == 1);
    REQUIRE(sl.details.size() == 1);
    CHECK_THAT(sl.details[0].subject, ContainsSubstring("601b"));
    REQUIRE(sl.notes.size() == 1);
    CHECK_THAT(sl.notes[0], ContainsSubstring("1 more of 2 IP groups: not decided, since a part of the list"));
}

TEST_CASE("Audit: a P_Key that a port lacks is missing only where all of its P_Keys are told") {
    Fabric fabric;
    fabric.one.p_keys = {{0xffff}};
    CHECK(wrong(fabric.inventory) == Ids{"RFC4391-5-08"});
    fabric.inventory.doubt = "a part of the groups";
    CHECK(wrong(fabric.inventory) == Ids{"RFC4391-5-08"});
    fabric.inventory.p_key_doubt = "a part of the P_Keys";
    CHECK(wrong(fabric.inventory).empty());
    CHECK(with(Verdict::inconc, fabric.inventory) == Ids{"RFC4391-5-08"});
}

TEST_CASE("Audit: each rule says what proves its violations; what needs a whole table names it") {
    for (const auto& rule : rules()) {
        CAPTURE(rule.id);
        CHECK(rule.evidence != Evidence::undeclared);
        const bool has_table = rule.needs_members || rule.needs_all || rule.needs_p_keys;
        CHECK((rule.evidence == Evidence::whole_table) == has_table);
    }
    CHECK_FALSE(are_declared(std::array{Rule{}}));
    CHECK_FALSE(are_declared(std::array{Rule{.evidence = Evidence::whole_table}}));
    CHECK_FALSE(are_declared(std::array{Rule{.evidence = Evidence::one_record, .needs_all = true}}));
    CHECK(are_declared(std::array{Rule{.evidence = Evidence::whole_table, .needs_all = true}}));
}

TEST_CASE("Audit: of what was not told nothing is judged") {
    Fabric fabric;
    for (auto& one : fabric.inventory.groups) {
        one.given = assumptions::bit(Parameter::mlid);
        one.members.clear();
        one.members_are_listed = false;
    }
    fabric.inventory.ports.clear();
    CHECK(wrong(fabric.inventory).empty());
    const auto judged = with(Verdict::pass, fabric.inventory);
    CHECK(judged == Ids{"RFC4391-4-02", "RFC4391-4-05", "RFC4391-4-08", "RFC4391-4-10", "RFC4391-4-11", "RFC4391-4-12",
                        "RFC4391-4.1-07", "RFC4391-5-01", "RFC4392-1.2.1.2-01", "RFC4392-1.2.1.2-02",
                        "RFC4392-1.2.1.2-03", "RFC4392-1.2.1.2-03-mlid"});
    const auto results = judge(fabric.inventory, every_rule());
    CHECK(result_of(results, "RULE-RFC4391-5-02-audit").message == "no member of a group is told");
    CHECK_THAT(result_of(results, "RULE-RFC4391-10-17-sl-audit").message, ContainsSubstring("do not tell"));
    CHECK(judge(Inventory{}, every_rule()).results.size() == rules().size());
    CHECK(with(Verdict::na, {}).size() == rules().size());
}

TEST_CASE("Audit: groups without a FullMember and limited members are noted") {
    Fabric fabric;
    fabric.ipv6.members.pop_back();
    const auto results = judge(fabric.inventory, every_rule());
    const auto& lonely = result_of(results, "RULE-RFC4391-10-21-audit");
    CHECK(lonely.verdict == Verdict::na);
    REQUIRE(lonely.notes.size() == 1);
    // Whatever uses it.
    CHECK_THAT(lonely.notes[0], ContainsSubstring("2 of 5 groups: nobody is a FullMember") &&
                                    ContainsSubstring("ff12:601b:8123::1:3") && ContainsSubstring("ff10:a01c:fe80::1"));
    fabric.inventory.groups.back().members = {{port(3), full, false, {}}};
    // IBA 1.3 has groups of those who only send.
    auto& sender = fabric.ipv6.members.front().join_state;
    const auto before = std::exchange(sender, join_state::send_only_full_member);
    CHECK(result_of(judge(fabric.inventory, every_rule()), lonely.id).notes.empty());
    sender = before;
    const auto& limited = result_of(results, "RULE-RFC4392-1.2-01-audit");
    REQUIRE(limited.notes.size() == 1);
    CHECK_THAT(limited.notes[0], ContainsSubstring("1 of 4 members: a limited member") && ContainsSubstring("(two)"));
}

TEST_CASE("Audit: a port is in a group once") {
    constexpr auto once = "RULE-RFC4392-1.3.1.1-04-audit";
    assumptions::Collector collector{assumptions::Irregularities::kept};
    const auto add = [&](std::uint8_t states) {
        auto record =
            assumptions::Record{.group = group(broadcast_gid(p_key, 2), 0xc000, {{port(1), states, false, {}}})};
        collector.add(std::move(record));
    };
    for (const auto states : {full, full, send_only}) add(states);
    Inventory inventory{.groups = std::move(collector).groups()};
    REQUIRE(inventory.groups.front().members.size() == 1);
    CHECK(inventory.groups.front().members.front().join_state == send_only);
    const auto results = judge(inventory, every_rule());
    CHECK(result_of(results, once).verdict == Verdict::fail);
    CHECK_THAT(result_of(results, once).message,
               ContainsSubstring("JoinState 0x4, but JoinState 0x1 in another record"));
    // What a file says may be of two times.
    inventory = inventory_of({.groups = inventory.groups});
    CHECK(result_of(judge(inventory, every_rule()), once).verdict == Verdict::pass);
    CHECK_THAT(inventory.notes.at(0), ContainsSubstring("lists of two times, or an SA that contradicts itself"));
}

TEST_CASE("Audit: MLIDs that nobody has and switches without room are noted") {
    Fabric fabric;
    constexpr auto leaked = "RULE-RFC4391-10-21-mlid-audit", room = "RULE-UDMC-10-room-audit";
    CHECK(result_of(judge(fabric.inventory, every_rule()), leaked).notes.empty());
    fabric.ipv6.parameters.mlid = 0xc000 + 25;
    CHECK(result_of(judge(fabric.inventory, every_rule()), leaked).notes.empty());
    fabric.ipv6.parameters.mlid = 0xc000 + 55;
    for (auto& port : fabric.inventory.ports) port.switch_groups = 64;
    auto results = judge(fabric.inventory, every_rule());
    REQUIRE(result_of(results, leaked).notes.size() == 1);
    CHECK_THAT(result_of(results, leaked).notes[0], ContainsSubstring("1 of 5 groups: its MLID is far beyond"));
    REQUIRE(result_of(results, room).notes.size() == 1);
    // Where groups may be missing in the list, an MLID tells nothing.
    fabric.inventory.doubt = "a part only";
    CHECK(result_of(judge(fabric.inventory, every_rule()), leaked).notes.empty());
    fabric.inventory.doubt = {};
    fabric.ipv6.parameters.mlid = 0xc000 + 54;
    results = judge(fabric.inventory, every_rule());
    CHECK(result_of(results, room).notes.empty());
}

TEST_CASE("Audit: a thousand violations are counted, and a hundred shown") {
    Fabric fabric;
    for (unsigned i = 0; i < 1000; ++i) {
        fabric.inventory.groups.push_back(group(mgid_for_ipv4(0xe1000000 + i, p_key, 2), 0xc001, {}));
        fabric.inventory.groups.back().parameters.sl = 1;
    }
    const auto results = judge(fabric.inventory, every_rule());
    const auto& sl = result_of(results, "RULE-RFC4391-10-17-sl-audit");
    CHECK(sl.violations == 1000);
    CHECK(sl.details.size() == 100);
}

TEST_CASE("Audit: selectors mean its rules") {
    CHECK(selected_rules(conformance::Selection{{"rfc4392/1.2.1.2"}}).size() == 4);
    CHECK(selected_rules(conformance::Selection{{"level:should"}}).size() < rules().size() / 2);
    CHECK(selected_rules(conformance::Selection{{"tag:audit"}}).size() == rules().size());
    CHECK(conformance::Selection{{"tag:arp"}}.unmatched(selectable_rules()) == "tag:arp");
    for (const auto& rule : rules()) CHECK(rule.id.ends_with("-audit"));
}

namespace {

Gid in_subnet(std::uint64_t prefix, unsigned n) { return Gid::of(prefix << 48, 0x0002c90300000000 + n); }

/// A subnet with an assigned prefix and a router, and two members in a link of this scope.
Inventory subnet_of(std::uint64_t prefix, std::uint8_t scope, const char* origin) {
    Inventory one{.groups = {group(broadcast_gid(p_key, scope), 0xc000,
                                   {{in_subnet(prefix, 1), full, false, {}}, {in_subnet(prefix, 2), full, false, {}}}),
                             group(mgid_for_ipv4(0xefc0a801, p_key, scope), 0xc001, {})},
                  .ports = {{.gid = in_subnet(prefix, 1), .lid = 1, .mtu = 5, .rate = 7, .p_keys = {{p_key}}},
                            {.gid = in_subnet(prefix, 2), .lid = 2, .mtu = 5, .rate = 7, .p_keys = {{p_key}}}},
                  .has_router = true,
                  .origin = origin};
    return one;
}

constexpr std::uint64_t here = 0xfec0, there = 0xfec1;

/// Rules on subnets only, as the issue at hand.
Ids about_subnets(Verdict verdict, std::vector<Inventory> subnets) {
    Ids ids;
    for (const auto& result : judge(subnets, every_rule()).results)
        for (const auto* id : {"4391-4.1-04", "4391-4.1-06", "4391-4.1-06-confined", "4391-9.1.2-02", "4392-1.3-02",
                               "4392-1.3-03", "UDMC-10"}) {
            const auto of = std::string("RULE-") + (id[0] == '4' ? "RFC" : "") + id + "-audit";
            if (result.verdict == verdict && result.id == of) ids.insert(id);
        }
    return ids;
}

}  // namespace

TEST_CASE("Audit of a link over two subnets: HopLimit and scope") {
    auto subnet = subnet_of(here, 5, "one");
    subnet.groups[0].members.push_back({in_subnet(there, 9), full, false, {}});
    CHECK(about_subnets(Verdict::pass, {subnet}) == Ids{"4391-4.1-04", "4391-4.1-06"});
    SECTION("HopLimit 0") {
        for (auto& one : subnet.groups) one.parameters.hop_limit = 0;
        CHECK(about_subnets(Verdict::fail, {subnet}) == Ids{"4391-4.1-04"});
    }
    SECTION("HopLimit 1 is a note") {
        for (auto& one : subnet.groups) one.parameters.hop_limit = 1;
        const auto results = judge(subnet, every_rule());
        CHECK(result_of(results, "RULE-RFC4391-4.1-04-audit").verdict == Verdict::pass);
        CHECK(result_of(results, "RULE-RFC4391-4.1-04-audit").notes.size() == 1);
    }
    SECTION("local scope") {
        auto local = subnet_of(here, 2, "one");
        local.groups[0].members.push_back({in_subnet(there, 9), full, false, {}});
        CHECK(about_subnets(Verdict::fail, {local}) == Ids{"4391-4.1-06"});
        const auto& result = judge(local, every_rule());
        CHECK_THAT(result_of(result, "RULE-RFC4391-4.1-06-audit").message, ContainsSubstring("is of another subnet"));
    }
}

TEST_CASE("False alarm: what looks like another subnet") {
    auto subnet = subnet_of(here, 2, "one");
    SECTION("the default prefix, which every port has beside its own") {
        subnet.groups[0].members.push_back({in_subnet(0xfe80, 9), full, false, {}});
    }
    SECTION("a port of this subnet under the prefix that it had before") {
        subnet.groups[0].members.push_back({in_subnet(there, 1), full, false, {}});
    }
    SECTION("no router leads anywhere") {
        subnet.groups[0].members.push_back({in_subnet(there, 9), full, false, {}});
        subnet.has_router.reset();
    }
    CHECK(about_subnets(Verdict::fail, {subnet}) == Ids{});
    CHECK(about_subnets(Verdict::inconc, {subnet}) == Ids{});
}

TEST_CASE("Audit: a wide scope where no router is, or where none is known") {
    auto subnet = subnet_of(here, 5, "one");
    for (auto& one : subnet.groups) one.parameters.hop_limit = 0;
    CHECK(about_subnets(Verdict::inconc, {subnet}) == Ids{"4391-4.1-04"});
    subnet.has_router = false;
    CHECK(about_subnets(Verdict::inconc, {subnet}) == Ids{});
    CHECK(about_subnets(Verdict::warn, {subnet}) == Ids{"4391-4.1-06-confined"});
    CHECK(about_subnets(Verdict::fail, {subnet}) == Ids{});
    auto local = subnet_of(here, 2, "one");
    local.has_router = false;
    CHECK(about_subnets(Verdict::pass, {local}) == Ids{"4391-4.1-06-confined"});
}

TEST_CASE("Audit of two subnets: a group of both has one MTU and P_Key") {
    auto one = subnet_of(here, 5, "one"), other = subnet_of(there, 5, "other");
    CHECK(about_subnets(Verdict::pass, {one, other}) ==
          Ids{"4391-4.1-04", "4391-4.1-06", "4392-1.3-02", "4392-1.3-03"});
    SECTION("another MTU") {
        for (auto& group : other.groups) group.parameters.mtu = 5;
        CHECK(about_subnets(Verdict::fail, {one, other}) == Ids{"4392-1.3-02"});
        const auto results = judge(std::vector{one, other}, every_rule());
        const auto& result = result_of(results, "RULE-RFC4392-1.3-02-audit");
        CHECK(result.violations == 2);
        CHECK_THAT(result.details.front().subject, ContainsSubstring(" in other"));
        one.has_router.reset();
        CHECK(about_subnets(Verdict::fail, {one, other}) == Ids{});
        CHECK(about_subnets(Verdict::inconc, {one, other}) == Ids{"4392-1.3-02"});
    }
    SECTION("another P_Key") {
        other.groups[1].parameters.p_key = 0x8124;
        CHECK(about_subnets(Verdict::fail, {one, other}) == Ids{"4392-1.3-03"});
    }
    SECTION("False alarm: another membership bit") {
        other.groups[1].parameters.p_key = p_key & 0x7fff;
        CHECK(about_subnets(Verdict::fail, {one, other}) == Ids{});
    }
    SECTION("False alarm: groups of local scope, and two lists of one subnet") {
        auto local = subnet_of(here, 2, "one"), local_there = subnet_of(there, 2, "other");
        for (auto& group : local_there.groups) group.parameters.mtu = 5;
        CHECK(about_subnets(Verdict::fail, {local, local_there}) == Ids{});
        auto later = subnet_of(here, 5, "later");
        for (auto& group : later.groups) group.parameters.mtu = 5;
        CHECK(about_subnets(Verdict::fail, {one, later}) == Ids{});
        CHECK(about_subnets(Verdict::inconc, {one, later}) == Ids{});
    }
}

TEST_CASE("Audit: paths between members, and the switches that they are attached to") {
    auto subnet = subnet_of(here, 2, "one");
    const auto& link = subnet.groups[0].parameters.mgid;
    for (auto& port : subnet.ports) port.switch_groups = 1024;
    subnet.paths = {{link, in_subnet(here, 1), in_subnet(here, 2), true},
                    {link, in_subnet(here, 2), in_subnet(here, 1), true}};
    CHECK(about_subnets(Verdict::pass, {subnet}) == Ids{"4391-9.1.2-02", "UDMC-10"});
    SECTION("one way has none") {
        subnet.paths[1].has_path = false;
        CHECK(about_subnets(Verdict::fail, {subnet}) == Ids{"4391-9.1.2-02"});
    }
    SECTION("a switch without multicast") {
        subnet.ports[1].switch_groups = 0;
        CHECK(about_subnets(Verdict::fail, {subnet}) == Ids{"UDMC-10"});
        // Nobody else is there to be heard.
        subnet.groups[0].members.erase(subnet.groups[0].members.begin());
        CHECK(about_subnets(Verdict::fail, {subnet}) == Ids{});
    }
}
