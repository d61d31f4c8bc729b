// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/judge/judge.hpp"

#include "catch2.hpp"
#include "conformance/judge/passive.hpp"
#include "protocol/build/samples.hpp"

#include <set>

using namespace ipoib;
using namespace ipoib::build;
using conformance::Judge;
using conformance::Origin;
using conformance::Party;

namespace {

const Node a = samples::host(1), b = samples::host(2);

/// A judge over every rule, fed packet by packet.
class Bench {
public:
    void operator()(const PacketBuilder& packet, std::uint32_t interface = 0, Origin origin = {}) {
        const auto octets = packet.build();
        judge_.frame({.number = ++frames_,
                      .time_ns = time_,
                      .link_type = capture::LinkType::infiniband,
                      .interface = interface,
                      .octets = octets,
                      .wire_length = static_cast<std::uint32_t>(octets.size())},
                     origin);
    }
    void pass(std::int64_t seconds) { time_ += seconds * 1'000'000'000; }
    [[nodiscard]] std::set<std::string> violated() const {
        std::set<std::string> ids;
        for (const auto& result : judge_.results())
            if (result.violations) ids.insert(result.id.substr(5));
        return ids;
    }
    [[nodiscard]] reports::Result result(std::string_view id) const {
        for (auto& result : judge_.results())
            if (result.id == id) return result;
        FAIL("no such rule: " << id);
        return {};
    }
    [[nodiscard]] std::vector<std::string> notes() const { return judge_.notes(); }

private:
    Judge judge_{rules::every(), 0};
    std::uint64_t frames_ = 0;
    std::int64_t time_ = 1'000'000'000'000;
};

build::Link other_scope() {
    build::Link link;
    link.scope = 5;
    return link;
}

PacketBuilder reserved(const Node& from, const Node& to) {
    auto packet = echo_request(from, to, {}, 1);
    return packet.set(wire::Encap::reserved, 7);
}

using Ids = std::set<std::string>;

}  // namespace

TEST_CASE("Judge: two adapters in one capture are two subnets") {
    Bench bench;
    bench(samples::broadcast_join_answer(a, {}), 0);
    bench(samples::broadcast_join_answer(a,
                                         [] {
                                             build::Link link;
                                             link.q_key = 0x80001111;
                                             return link;
                                         }()),
          1);
    build::Link second;
    second.q_key = 0x80001111;
    bench(arp_request(a, b.ipv4, {}), 0);
    bench(arp_request(a, b.ipv4, second), 1);
    bench(echo_request(a, b, {}, 1), 0);
    bench(echo_request(a, b, second, 1), 1);
    CHECK(bench.violated() == Ids{"RFC4391-4.1-02"});
    bench.pass(2);
    bench(echo_request(a, b, {}, 1), 1);
    CHECK(bench.violated() == Ids{"RFC4391-4.1-02", "RFC4391-9.1.2-03", "RFC4391-13-02"});
}

TEST_CASE("Judge: a group whose record changes holds nobody to either state") {
    Bench bench;
    const auto link = samples::controlled();
    auto changed = link;
    changed.q_key = 0x80001111;
    bench(samples::broadcast_join_answer(a, link));
    bench(samples::broadcast_join_answer(b, changed));
    bench(arp_request(a, b.ipv4, link));
    bench(echo_request(a, b, link, 1));
    bench(echo_request(b, a, changed, 1));
    CHECK(bench.violated() == Ids{});
    CHECK(bench.result("RULE-RFC4391-9.1.2-03").verdict == reports::Verdict::na);
}

TEST_CASE("Judge: two scopes in broadcast packets charge nobody") {
    Bench bench;
    bench(arp_request(a, b.ipv4, other_scope()));
    bench(arp_request(b, a.ipv4, {}));
    bench(udp_to_group(b, 0xe0000001, 0xc001, {}, 8));
    CHECK(bench.violated() == Ids{});
}

TEST_CASE("Judge: what the tester sends teaches nothing and is charged to nobody") {
    Bench bench;
    bench(arp_request(b, a.ipv4, other_scope()), 1, Party::tester);
    bench(reserved(b, a), 1, Party::tester);
    bench(udp_to_group(a, 0xe0000001, 0xc001, {}, 8), 0, Party::dut);
    bench(arp_request(a, b.ipv4, {}), 0, Party::dut);
    CHECK(bench.violated() == Ids{});
    bench(reserved(a, b), 0, Party::dut);
    CHECK(bench.violated() == Ids{"RFC4391-6-02"});
}

TEST_CASE("Judge: what goes to a tester's port is judged also where the two know each other from before") {
    const auto seen = [](const Node& to, bool tester_speaks) {
        Bench bench;
        if (tester_speaks) bench(udp_to_group(b, 0xe0000001, 0xc001, {}, 8), 1, Party::tester);
        bench(reserved(a, to), 0, Party::dut);
        return bench.violated();
    };
    CHECK(seen(b, true) == Ids{"RFC4391-6-02"});
    CHECK(seen(b, false) == Ids{});
    CHECK(seen(samples::host(3), true) == Ids{});
}

TEST_CASE("Judge: a wrong ICRC is damage only where the port has shown a right one") {
    Bench bench;
    auto wrong = reserved(a, b);
    wrong.damage_icrc(1);
    bench(arp_request(b, a.ipv4, {}));
    bench(wrong);
    CHECK(bench.violated() == Ids{"RFC4391-6-02"});

    Bench other;
    other(arp_request(b, a.ipv4, {}));
    other(echo_request(a, b, {}, 1));
    other(wrong);
    CHECK(other.violated() == Ids{});
    REQUIRE(other.notes().size() == 1);
    CHECK_THAT(other.notes().front(), ContainsSubstring("wrong ICRC"));
}

TEST_CASE("Judge: a subject is named by its GUID once a GRH has told it, else by its LID") {
    Bench bench;
    bench(arp_request(a, b.ipv4, {}));
    bench(reserved(b, a));
    bench(arp_request(b, a.ipv4, {}));
    bench(reserved(b, a));
    const auto details = bench.result("RULE-RFC4391-6-02").details;
    REQUIRE(details.size() == 2);
    CHECK(details[0].subject == "LID 0x0002");
    CHECK(details[1].subject == "0002c90300100002");
    CHECK(details[0].offset == 30);
}

TEST_CASE("Judge: the offset points at the option that is wrong") {
    Bench bench;
    auto packet = neighbour_solicitation(a, b.ipv6, 0xc001, {});
    bench(packet.set(wire::LinkAddressOption::length, 2));
    const auto detail = bench.result("RULE-RFC4391-9.3-03").details.at(0);
    CHECK(packet.build().at(detail.offset) == 2);
    CHECK(detail.actual == "2");
}

TEST_CASE("Judge: only the first 100 violations are kept, all are counted") {
    Bench bench;
    bench(arp_request(a, b.ipv4, {}));
    for (int i = 0; i < 150; ++i) bench(reserved(a, b));
    const auto result = bench.result("RULE-RFC4391-6-02");
    CHECK(result.violations == 150);
    CHECK(result.details.size() == 100);
    CHECK(result.frames.size() == 100);
}

TEST_CASE("Judge: a frame that was rebuilt is judged by what its receiver was told, and by no more") {
    const build::Link link;
    const auto limited = [&](PacketBuilder packet) {
        return packet.set(wire::Bth::p_key, 0x7fff).set(wire::Encap::reserved, 7);
    };
    const auto request = [&] { return limited(arp_request(a, b.ipv4, link).set(wire::Bth::dest_qp, 5)); };
    Bench seen, rebuilt;
    seen(request(), 0, Party::dut);
    rebuilt(request(), 0, {Party::dut, true});
    CHECK(seen.violated().contains("RFC4391-6-02"));
    CHECK(rebuilt.violated().contains("RFC4391-6-02"));
    auto unproven = seen.violated();
    for (const auto& id : rebuilt.violated()) unproven.erase(id);
    // What the P_Key said of its sender, and to which queue pair the packet went.
    CHECK_FALSE(unproven.empty());
    for (const auto& id : unproven) {
        CAPTURE(id);
        CHECK(rebuilt.result("RULE-" + id).observed == 0);
    }
    CHECK(rebuilt.result("RULE-UDMC-02").observed == 0);
}

TEST_CASE("Judge: interfaces of evidence say whose frames they show and how") {
    using inspection::origin_of;
    CHECK(origin_of("dut").party == Party::dut);
    CHECK_FALSE(origin_of("dut").is_rebuilt);
    CHECK(origin_of("sa, rebuilt").party == Party::sa);
    CHECK(origin_of("sa, rebuilt").is_rebuilt);
    CHECK(origin_of("eth0").party == Party::anyone);
    CHECK(origin_of(", rebuilt").party == Party::anyone);
}
