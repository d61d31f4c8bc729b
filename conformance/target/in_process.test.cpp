// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/target/in_process.hpp"

#include "catch2.hpp"
#include "conformance/bench/case.hpp"
#include "conformance/dut/dut.hpp"

#include <algorithm>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

using namespace ipoib;
using namespace ipoib::conformance;
using namespace std::chrono_literals;

namespace {

/// A reference stack on an adapter without a cable.
struct Connected {
    fabric::Loop loop;
    fabric::Hca hca{loop, {.port_guid = 0x0002c90300dd0001}};
    fabric::SaClient sa{hca};
    stack::Node node{hca, sa};
    stack::Adapter adapter{node};
    InProcess control{loop, adapter};
};

}  // namespace

TEST_CASE("InProcess: a stack in this process is greeted and asked like any other") {
    Connected bench;
    Dut dut{bench.control, "ib0"};
    dut.greet();
    CHECK(dut.can("interface"));
    CHECK_FALSE(dut.interface().is_up);
    CHECK_THROWS_AS((Dut{bench.control, "ib7"}.interface()), ControlFailed);
    CHECK(bench.control.diagnostics().empty());
}

namespace {

/// The names in the first column of the table of requests in docs/porting.md.
std::set<std::string> requests_in_porting() {
    std::set<std::string> names;
    std::ifstream page{IPOIB_SOURCE_DIR "/docs/porting.md"};
    const std::regex row{R"(\| ((?:`[a-z_0-9]+` )+)\|.*)"}, name{"`([a-z_0-9]+)`"};
    bool is_table = false;
    for (std::string line; std::getline(page, line);) {
        is_table = line.starts_with("| request |") || (is_table && line.starts_with('|'));
        std::smatch found;
        if (!is_table || !std::regex_match(line, found, row)) continue;
        const auto column = found.str(1);
        for (std::sregex_iterator at{column.begin(), column.end(), name}, end; at != end; ++at)
            names.insert(at->str(1));
    }
    return names;
}

}  // namespace

TEST_CASE("Requests: what adapters are asked for is in the documents, and used by a case") {
    Connected bench;
    Dut dut{bench.control, "ib0"};
    dut.greet();
    std::set<std::string> known{dut.abilities().begin(), dut.abilities().end()};
    known.erase("bye");        // told at the end of every run, not asked for
    known.insert("coverage");  // simulated stacks count nothing
    const auto asked = requests_in_porting();
    CHECK(asked == known);
    // For every session and after each case; a server that is there anyway is not started; fuzzing alone asks what ran.
    std::set<std::string_view> used{"hello", "health", "dhcp_server", "coverage"};
    for (const auto* one : all_cases()) used.insert(one->dut_can.begin(), one->dut_can.end());
    for (const auto& request : asked) {
        CAPTURE(request);
        CHECK(used.contains(request));
    }
    for (const auto request : used) {
        CAPTURE(request);
        CHECK(asked.contains(std::string(request)));
    }
}

TEST_CASE("InProcess: a request that waits is answered in the loop's time, or breaks the channel") {
    Connected bench;
    // There is no link: the stack says so shortly before the deadline of the request.
    const auto reply = bench.control.ask(R"({"id":1,"do":"up","deadline":30})", 30s);
    CHECK(reply.error.empty());
    CHECK_THAT(reply.line, ContainsSubstring("\"error\":\"failed\""));
    CHECK(bench.loop.now() > 20s);
    CHECK(bench.loop.now() < 30s);

    const auto none = bench.control.ask(R"({"id":2,"do":"up","deadline":30})", 1s);
    CHECK(none.line.empty());
    CHECK(none.error == "the adapter did not answer in time");
    bench.loop.run_for(60s);  // the late answer is nobody's
    CHECK(bench.control.ask(R"({"id":3,"do":"hello"})", 1s).error == none.error);
}

TEST_CASE("InProcess: an interruption ends the wait") {
    Connected bench;
    bench.loop.after(1s, [] { fabric::Loop::request_stop(); });
    const auto reply = bench.control.ask(R"({"id":1,"do":"up","deadline":3600})", 1h);
    fabric::Loop::clear_stop();
    CHECK(reply.error == "the adapter was interrupted in its work");
    CHECK(bench.loop.now() == 1s);
}
