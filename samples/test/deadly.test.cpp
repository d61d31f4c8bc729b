// SPDX-License-Identifier: GPL-2.0-or-later
// The sample node under the suite's malformed packets, as a vendor would run it: the right one lives, and one that dies
// of a packet is found, with what was sent last; one whose checksums are wrong is not taken for one that answers.
#include "catch2.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdio>
#include <string>

namespace {

struct Outcome {
    int code;
    std::string output;
};

/// Runs the cases against a build of the node.
Outcome run_suite(const std::string& node, const std::string& cases) {
    const auto path = "/tmp/ipoib-deadly-" + std::to_string(::getpid()) + ".sock";
    const auto command = std::string(IPOIB_CONFORM " run --fabric simulated --listen ") + path +
                         " --dut \"exec:python3 " IPOIB_SOURCE_DIR "/samples/python-adapter/adapter.py --node " + node +
                         " --port " + path + "\" " + cases + " 2>&1";
    std::FILE* const pipe = ::popen(command.c_str(), "r");
    REQUIRE(pipe);
    Outcome outcome{};
    std::array<char, 4096> buffer{};
    while (const auto count = std::fread(buffer.data(), 1, buffer.size(), pipe))
        outcome.output.append(buffer.data(), count);
    const auto status = ::pclose(pipe);
    // Lines are broken for people: here each gap is one space.
    outcome.output.erase(std::unique(outcome.output.begin(), outcome.output.end(),
                                     [](char a, char b) { return std::isspace(a) != 0 && std::isspace(b) != 0; }),
                         outcome.output.end());
    std::replace(outcome.output.begin(), outcome.output.end(), '\n', ' ');
    outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return outcome;
}

const std::string datagrams =
    "IPOIB-4391-6-INV-004 IPOIB-4391-6-INV-005 IPOIB-4391-6-INV-006 IPOIB-4391-6-INV-007 IPOIB-4391-6-INV-008 "
    "IPOIB-4391-9.2-INV-001 IPOIB-4391-10-INV-002";

}  // namespace

TEST_CASE("C node: outlives every malformed packet of the suite") {
    const auto right = run_suite(IPOIB_NODE, datagrams);
    INFO(right.output);
    CHECK(right.code == 0);
    CHECK_THAT(right.output, ContainsSubstring("0 FAIL, 7 PASS"));
}

TEST_CASE("C node: one that dies of a malformed packet fails, and the packet is named", "[breadth]") {
    struct Deadly {
        const char *node, *one_case, *sent;
    };
    for (const auto& deadly :
         {Deadly{IPOIB_NODE "-short-arp", "IPOIB-4391-9.2-INV-001", "ARP request cut to 0 to 15 octets"},
          Deadly{IPOIB_NODE "-ip-length", "IPOIB-4391-6-INV-005", "IP lengths beyond the payload"},
          Deadly{IPOIB_NODE "-empty-payload", "IPOIB-4391-6-INV-004",
                 "Datagrams of no octet, and of an encapsulation header alone"}}) {
        const auto found = run_suite(deadly.node, deadly.one_case);
        INFO(found.output);
        CHECK(found.code == 1);
        CHECK_THAT(found.output, ContainsSubstring("FAIL"));
        CHECK_THAT(found.output, ContainsSubstring("SIGABRT"));
        CHECK_THAT(found.output, ContainsSubstring(deadly.sent));
    }
}

TEST_CASE("C node: what it sends with a wrong checksum has not arrived", "[breadth]") {
    for (const auto& [node, one_case] : {std::pair{IPOIB_NODE "-ip-checksum", "IPOIB-4391-7-VAL-001"},
                                         std::pair{IPOIB_NODE "-icmp-checksum", "IPOIB-4391-7-VAL-001"},
                                         std::pair{IPOIB_NODE "-udp-checksum", "IPOIB-4391-4-VAL-004"}}) {
        const auto found = run_suite(node, one_case);
        INFO(found.output);
        CHECK(found.code != 0);
        CHECK_THAT(found.output, ContainsSubstring("with a wrong checksum"));
    }
}
