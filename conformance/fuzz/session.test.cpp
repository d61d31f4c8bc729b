// SPDX-License-Identifier: GPL-2.0-or-later
// Sessions, lies and findings without a node: samples/test/fuzz.test.cpp has one.
#include "catch2.hpp"
#include "conformance/fuzz/finding.hpp"
#include "conformance/fuzz/generator.hpp"
#include "conformance/fuzz/life.hpp"
#include "conformance/fuzz/material.hpp"
#include "conformance/fuzz/operation.hpp"
#include "protocol/wire/packet.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>

using namespace ipoib;
using namespace ipoib::conformance::fuzz;

namespace {

Scene some_scene() {
    Scene scene;
    scene.self = {.lid = 2, .gid = wire::Gid::of(1, 2), .qpn = 0x48, .ipv4 = 0x0a010042};
    scene.dut = {.lid = 3, .gid = wire::Gid::of(1, 3), .qpn = 0x49, .ipv4 = 0x0a010009};
    return scene;
}

std::vector<std::uint8_t> built(std::string_view packet, const std::vector<std::string>& lies) {
    auto scene = some_scene();
    return build_with(find_material(packet)->make(scene), lies);
}

std::string refusal(std::string_view text) {
    try {
        static_cast<void>(parse_session(text));
    } catch (const std::invalid_argument& wrong) {
        return wrong.what();
    }
    return {};
}

}  // namespace

TEST_CASE("fuzz: what chance makes goes to a file and back without a difference") {
    Generator generator(7, areas_of("all"), "default");
    std::vector<Session> corpus;
    for (unsigned i = 0; i < 300; ++i) {
        const auto session = i % 2 ? generator.changed(corpus) : generator.fresh();
        const auto again = parse_session(text(session, {"a remark"}));
        CHECK(again == session);
        corpus.push_back(session);
    }
}

TEST_CASE("fuzz: the same seed makes the same sessions, another one others") {
    const auto sessions = [](std::uint64_t seed) {
        Generator generator(seed, areas_of("ipoib"), "default");
        std::string all;
        for (unsigned i = 0; i < 20; ++i) all += text(generator.fresh());
        return all;
    };
    CHECK(sessions(1) == sessions(1));
    CHECK(sessions(1) != sessions(2));
}

TEST_CASE("fuzz: a target keeps to its packets") {
    Generator generator(3, areas_of("cm"), "default");
    for (unsigned i = 0; i < 200; ++i)
        for (const auto& one : generator.fresh().operations)
            if (!one.packet.empty()) CHECK(find_material(one.packet)->area == Area::connections);
    CHECK(areas_of("none").empty());
}

TEST_CASE("fuzz: a lie about a field is there, and CRCs and lengths are right for it") {
    const auto frame = built("arp-request", {"arp.ar$hln=7"});
    wire::Packet packet;
    wire::decode(frame, packet);
    REQUIRE(packet.arp);
    CHECK(packet.arp[wire::Arp::hardware_length] == 7);
    CHECK(wire::check_crcs(frame, wire::Tail::both).icrc == wire::Check::good);
}

TEST_CASE("fuzz: a field goes through its values from one packet to the next") {
    auto scene = some_scene();
    const auto* echo = find_material("echo");
    const auto sweeps = sweeps_of(echo->make(scene));
    const auto opcodes = std::ranges::find(sweeps, "bth.OpCode=0..0xff", &Sweep::lie);
    REQUIRE(opcodes != sweeps.end());
    CHECK(opcodes->values == 256);
    Lies lies(std::array{opcodes->lie});
    std::set<std::uint8_t> seen;
    for (unsigned i = 0; i < 256; ++i) {
        const auto frame = lies.build(echo->make(scene));
        seen.insert(frame.at(wire::Lrh::size));
    }
    CHECK(seen.size() == 256);
    for (const auto& one : sweeps) {
        INFO(one.lie);
        CHECK_NOTHROW(check_lie(one.lie));
        CHECK(one.values <= 1000);
    }
}

TEST_CASE("fuzz: every field of every packet is gone through once, and such sessions are files like others") {
    Generator generator(5, areas_of("all"), "default");
    std::size_t operations = 0, fields = 0;
    for (const auto& session : generator.sweeps()) {
        operations += session.operations.size();
        CHECK(parse_session(text(session)) == session);
    }
    for (const auto& one : all_materials()) {
        auto scene = some_scene();
        fields += sweeps_of(one.make(scene)).size();
    }
    CHECK(operations == fields);
}

TEST_CASE("fuzz: what lives longer than a packet begins, is used and ends, in sessions that chance makes") {
    Generator generator(9, areas_of("all"), "default");
    std::set<std::string_view> ended;
    for (unsigned i = 0; i < 600; ++i) {
        const auto session = generator.fresh();
        const auto& operations = session.operations;
        for (const auto& life : all_lives()) {
            if (operations.size() <= life.begins.size() ||
                !std::ranges::equal(life.begins, std::span(operations).first(life.begins.size())))
                continue;
            for (const auto& end : life.ends)
                if (std::ranges::any_of(operations, [&](const Operation& one) { return one.verb == end.verb; }))
                    ended.insert(life.of);
        }
    }
    CHECK(ended.size() == all_lives().size());
}

TEST_CASE("fuzz: some sessions wait until timers end, most do not") {
    Generator generator(13, areas_of("all"), "default");
    constexpr std::uint32_t of_timer = 1000;
    unsigned patient = 0;
    constexpr unsigned count = 300;
    for (unsigned i = 0; i < count; ++i)
        patient += std::ranges::any_of(generator.fresh().operations,
                                       [](const Operation& one) { return one.pause > of_timer; });
    CHECK(patient > count / 20);
    CHECK(patient < count / 2);
}

TEST_CASE("fuzz: payloads are cut and grow, and their frame says so") {
    for (const auto& [lie, change] : {std::pair{"cut=9", -9}, std::pair{"tail=5", 5}, std::pair{"cut=4000", -4000}}) {
        const auto plain = built("echo", {}), changed = built("echo", {lie});
        wire::Packet before, after;
        wire::decode(plain, before);
        wire::decode(changed, after);
        INFO(lie);
        REQUIRE(after.lrh);
        CHECK(after.lrh[wire::Lrh::packet_length] * 4u + 2 == changed.size());
        const auto payload = [](const wire::Packet& packet, const std::vector<std::uint8_t>& frame) {
            return static_cast<int>(frame.size()) - packet.bth[wire::Bth::pad];
        };
        if (change > -1000) CHECK(payload(after, changed) - payload(before, plain) == change);
    }
}

TEST_CASE("fuzz: every packet bears every kind of lie") {
    Random random(11);
    for (const auto& one : all_materials()) {
        auto scene = some_scene();
        const auto packet = one.make(scene);
        for (unsigned i = 0; i < 200; ++i) {
            const std::vector<std::string> lies{random_lie(packet, random), random_lie(packet, random)};
            INFO(one.name << ' ' << lies[0] << ' ' << lies[1]);
            CHECK_NOTHROW(check_lie(lies[0]));
            CHECK(build_with(packet, lies).size() <= 4300);
        }
    }
}

TEST_CASE("fuzz: values that a field goes through are halved until one is left") {
    const auto halves = halves_of(std::vector<std::string>{"lost=1", "ICMP.Code=0..0xff"});
    REQUIRE(halves.size() == 2);
    CHECK(halves[0].lies == std::vector<std::string>{"lost=1", "ICMP.Code=0x0..0x7f"});
    CHECK(halves[1].lies == std::vector<std::string>{"lost=1", "ICMP.Code=0x80..0xff"});
    CHECK((halves[0].values == 128 && halves[1].values == 128));
    const auto of_list = halves_of(std::vector<std::string>{"LRH.SL=1,3,7"});
    REQUIRE(of_list.size() == 2);
    CHECK((of_list[0].lies.front() == "LRH.SL=1" && of_list[0].values == 1));
    CHECK((of_list[1].lies.front() == "LRH.SL=3,7" && of_list[1].values == 2));
    CHECK(halves_of(std::vector<std::string>{"ICMP.Code=3..4"})[1].lies.front() == "ICMP.Code=0x4");
    for (const auto* one : {"ICMP.Code=3", "LRH.SL=random 1..3", "cut=4", "octet=8:0x80", "GRH.DGID=ff12:401b::1"})
        CHECK(halves_of(std::vector<std::string>{one}).empty());
    CHECK(halves_of(std::vector<std::string>{"ICMP.Code=0..3", "LRH.SL=1,2"}).empty());
    // What is left is understood.
    for (const auto& half : {halves[0], halves[1], of_list[0], of_list[1]})
        for (const auto& lie : half.lies) CHECK_NOTHROW(check_lie(lie));
}

TEST_CASE("fuzz: what crashes in a helper is known by who called it, and exit codes tell faults apart") {
    const auto key = [](const std::string& caller) {
        Finding found{Finding::Kind::fault,
                      {"==7==ERROR: AddressSanitizer: x", "SUMMARY: AddressSanitizer: x n.c:3 in rd"}};
        found.evidence = "==7==ERROR: AddressSanitizer: x\nREAD of size 1\n    #0 0x5 in rd n.c:3\n    #1 0x9 in " +
                         caller + " n.c:88\n\n    #0 0x7 in malloc\n";
        return found.key();
    };
    CHECK(key("receive_arp") == "fault: SUMMARY: AddressSanitizer: x n.c:3 in rd < receive_arp");
    CHECK(key("receive_arp") != key("receive_udp"));
    const auto ended = [](const std::string& how) { return Finding{Finding::Kind::fault, {how}}.key(); };
    CHECK(ended("the node ended: exit status 3") != ended("the node ended: exit status 4"));
}

TEST_CASE("fuzz: a file that is no session is refused, and what is wrong is named") {
    CHECK(refusal("nonsense") == "it is no session: not a JSON object");
    const std::string head = R"({"fuzz": 1, "scenario": "default", "operations": [)";
    CHECK_THAT(refusal(head + R"({"do": "dance"}]})"), ContainsSubstring("operation 1") && ContainsSubstring("dance"));
    CHECK_THAT(refusal(head + R"({"do": "send", "packet": "parcel"}]})"), ContainsSubstring("packet"));
    CHECK_THAT(refusal(head + R"({"do": "send", "octets": "zz"}]})"), ContainsSubstring("octets"));
    CHECK_THAT(refusal(head + R"({"do": "send", "packet": "echo", "lies": ["Nothing.At=1"]}]})"),
               ContainsSubstring("Nothing"));
    CHECK_THAT(refusal(head + R"({"do": "send", "packet": "echo", "lies": ["cut=x"]}]})"), ContainsSubstring("cut=x"));
    CHECK_THAT(refusal(head + R"({"do": "mtu", "value": 1}]})"), ContainsSubstring("too small"));
    CHECK_THAT(refusal(head + R"({"do": "mtu", "value": 1500, "lies": []}]})"), ContainsSubstring("lies"));
    CHECK_THAT(refusal(head + R"({"do": "send", "packet": "echo", "speed": 3}]})"), ContainsSubstring("speed"));
}

TEST_CASE("fuzz: a fault is known by its place, not by addresses, processes and times") {
    const auto key = [](std::vector<std::string> words) {
        return Finding{Finding::Kind::fault, std::move(words)}.key();
    };
    CHECK(key({"==71==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000114",
               "SUMMARY: AddressSanitizer: heap-buffer-overflow node.c:71:5 in receive"}) ==
          key({"==9==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x602000000999",
               "SUMMARY: AddressSanitizer: heap-buffer-overflow node.c:71:5 in receive"}));
    CHECK(key({"SUMMARY: AddressSanitizer: heap-buffer-overflow node.c:71:5 in receive"}) !=
          key({"SUMMARY: AddressSanitizer: heap-buffer-overflow node.c:72:5 in receive"}));
    CHECK(key({"RIP: 0010:ipoib_cm_send+0x115/0x4a0 [ib_ipoib]"}) ==
          key({"RIP: 0010:ipoib_cm_send+0x119/0x540 [ib_ipoib]"}));
    CHECK(key({"BUG kmalloc-64 (Tainted: G OE): Poison overwritten", "Freed in f+0x1/0x2 [ib_cm] age=3 cpu=0 pid=9"}) ==
          key({"BUG kmalloc-64 (Not tainted): Poison overwritten", "Freed in f+0x1/0x2 [ib_cm] age=7 cpu=1 pid=8"}));
    CHECK(key({"BUG: ib0 has counted 4294967294 octets in 1 packets (rx_bytes)"}) ==
          key({"BUG: ib0 has counted 4294967291 octets in 37 packets (rx_bytes)"}));
    CHECK(key({"RIP: 0010:ipoib_cm_send+0x115/0x4a0 [ib_ipoib]"}) !=
          key({"RIP: 0010:ipoib_send+0x115/0x4a0 [ib_ipoib]"}));
}
