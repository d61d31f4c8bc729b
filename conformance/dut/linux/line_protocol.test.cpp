// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/dut/linux/line_protocol.hpp"

#include "catch2.hpp"
#include "conformance/dut/linux/changed_files.hpp"
#include "conformance/dut/linux/router.hpp"
#include "conformance/dut/linux/sockets.hpp"
#include "temporary_folder.hpp"

#include <fstream>

using namespace ipoib::host;
using namespace std::chrono_literals;

namespace {

const Handlers handlers{{"echo",
                         [](const Request& r) {
                             return Json{{"text", r.text("text")}};
                         }},
                        {"count",
                         [](const Request& r) {
                             return Json{{"number", r.number("number", 1, 0xffff)}};
                         }},
                        {"real",
                         [](const Request& r) {
                             return Json{{"real", r.real("real", 2)}};
                         }},
                        {"flag",
                         [](const Request& r) {
                             return Json{{"flag", r.flag("flag")}};
                         }},
                        {"wait",
                         [](const Request& r) {
                             return Json{{"ms", r.patience().count()}};
                         }},
                        {"long",
                         [](const Request&) {
                             return Json{{"text", std::string(70000, 'x')}};
                         }},
                        {"never", [](const Request&) -> Json { refuse_as_unsupported("not here"); }},
                        {"throws", [](const Request&) -> Json { throw std::runtime_error("out of luck"); }}};

Json ask(const std::string& line) { return Json::parse(answer_to(handlers, line)); }

}  // namespace

TEST_CASE("Line protocol: an answer repeats the id and says ok with the results") {
    CHECK(answer_to(handlers, R"({"id":7,"do":"echo","text":"hi"})") == R"({"id":7,"ok":true,"text":"hi"})");
    CHECK(ask(R"({"id":"a","do":"count","number":"0x8001"})")["number"] == 0x8001);
    CHECK(ask(R"({"id":1,"do":"count","number":5})")["number"] == 5);
    CHECK(ask(R"({"id":1,"do":"wait"})")["ms"] == 9000);
    CHECK(ask(R"({"id":1,"do":"wait","deadline":2})")["ms"] == 1800);
    CHECK(ask(R"({"id":1,"do":"wait","deadline":-2})")["ms"] == 9000);
}

TEST_CASE("Line protocol: what does not exist is unsupported") {
    for (const std::string name : {"", "echo ", "Echo", "never", "bye\\u0000"}) {
        const auto answer = ask(R"({"id":1,"do":")" + name + "\"}");
        CHECK(answer["error"] == "unsupported");
        CHECK(answer["id"] == 1);
        CHECK_FALSE(answer["message"].get<std::string>().empty());
    }
}

TEST_CASE("Line protocol: nonsense fails, and is answered") {
    for (const std::string line : {"",
                                   "x",
                                   "[]",
                                   "{",
                                   "1",
                                   R"({"do":"echo"})",
                                   R"({"id":[],"do":"echo"})",
                                   R"({"id":1})",
                                   R"({"id":1,"do":2})",
                                   R"({"id":1,"do":"echo"})",
                                   R"({"id":1,"do":"echo","text":"a\u0000b"})",
                                   R"({"id":1,"do":"echo","text":3})",
                                   R"({"id":1,"do":"count","number":0})",
                                   R"({"id":1,"do":"count","number":65536})",
                                   R"({"id":1,"do":"count","number":-1})",
                                   R"({"id":1,"do":"count","number":"0x"})",
                                   R"({"id":1,"do":"count","number":"12345678901234567890"})",
                                   R"({"id":1,"do":"real","real":3})",
                                   R"({"id":1,"do":"real","real":"1"})",
                                   R"({"id":1,"do":"flag","flag":1})",
                                   R"({"id":1,"do":"long"})",
                                   R"({"id":1,"do":"throws"})"}) {
        CAPTURE(line);
        CHECK(ask(line)["error"] == "failed");
    }
    CHECK(ask("{\"id\":1,\"do\":\"echo\",\"text\":\"\xff\"}")["error"] == "failed");
    CHECK(ask(std::string(50000, '['))["error"] == "failed");
}

TEST_CASE("Line protocol: a stream is taken apart into lines, however it comes") {
    Lines lines;
    lines.feed("one\ntw");
    CHECK(lines.next()->text == "one");
    CHECK_FALSE(lines.next());
    lines.feed("o\n\n");
    CHECK(lines.next()->text == "two");
    CHECK(lines.next()->text.empty());
    CHECK_FALSE(lines.next());
}

TEST_CASE("Line protocol: a line that is too long is told once and skipped to its end") {
    Lines lines;
    for (int i = 0; i < 5; ++i) lines.feed(std::string(Lines::longest, 'x'));
    REQUIRE(lines.next());
    CHECK_FALSE(lines.next());
    lines.feed(std::string(Lines::longest + 1, 'x'));
    CHECK_FALSE(lines.next());
    lines.feed("the end\nnext\n");
    CHECK(lines.next()->text == "next");
    lines.feed(std::string(Lines::longest + 1, 'y') + "\nlast\n");
    CHECK(lines.next()->is_too_long);
    CHECK(lines.next()->text == "last");
}

TEST_CASE("Process: status, both outputs and a program that is not there") {
    const auto outcome = run({"sh", "-c", "echo out; echo err >&2; exit 3"}, 10s);
    CHECK(outcome.status == 3);
    CHECK(outcome.output == "out\n");
    CHECK(outcome.errors == "err\n");
    CHECK(run({"true"}, 10s).is_ok());
    CHECK_FALSE(run({"/nonexistent/program"}, 10s).errors.empty());
}

TEST_CASE("Process: one that does not end, or floods its output, is bounded") {
    const auto begin = std::chrono::steady_clock::now();
    CHECK(run({"sleep", "60"}, 50ms).status == -1);
    const auto flood = run({"yes"}, 200ms);
    CHECK(flood.status == -1);
    CHECK(flood.output.size() == std::size_t{1} << 20);
    CHECK(std::chrono::steady_clock::now() - begin < 20s);
}

TEST_CASE("Process: a background program ends when it is told to") {
    Background sleeper({"sleep", "60"});
    CHECK(sleeper.is_running());
    sleeper.end(10s);
    CHECK_FALSE(sleeper.is_running());
    CHECK_THROWS(Background({"/nonexistent/program"}));
}

TEST_CASE("Changed files: the first text comes back, whatever was written since") {
    const ipoib::TemporaryFolder folder;
    const auto file = folder / "setting";
    std::ofstream(file) << "1\n";
    {
        ChangedFiles files;
        CHECK(files.change(file, "2").empty());
        CHECK(files.change(file, "3").empty());
        CHECK(read_text(file) == "3");
        CHECK_FALSE(files.change(folder / "missing", "1").empty());
    }
    CHECK(read_text(file) == "1");
}

TEST_CASE("Sockets: addresses are read, and only addresses") {
    CHECK(parse_address("10.1.0.1", 3)->is_v4());
    CHECK(parse_address("239.1.2.3", 3)->is_multicast());
    CHECK(parse_address("ff02:0::1", 3)->text == "ff02::1");
    CHECK_FALSE(parse_address("fe80::1", 3)->is_multicast());
    for (const auto* text : {"", "10.1.0", "10.1.0.1/24", "fe80::1%ib0", "host", "10.1.0.256", "-6"})
        CHECK_FALSE(parse_address(text, 3));
}

TEST_CASE("Sockets: the checksum is that of RFC 1071's example") {
    const std::array<std::uint8_t, 8> octets{0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7};
    CHECK(internet_checksum(octets) == 0x220d);
    CHECK(internet_checksum({}) == 0xffff);
}

TEST_CASE("Router: routes lead both ways, and never groups of the link's own") {
    const auto text = router_configuration("ib0");
    CHECK_THAT(text, ContainsSubstring("phyint ib0 enable\n"));
    CHECK_THAT(text, ContainsSubstring("mroute from ib0 group 239.0.0.0/8 to ipoibfar0\n"));
    CHECK_THAT(text, ContainsSubstring("mroute from ipoibfar0 group ff15::/16 to ib0\n"));
    CHECK(text.find("224.") == std::string::npos);
    CHECK(text.find("ff02") == std::string::npos);
}
