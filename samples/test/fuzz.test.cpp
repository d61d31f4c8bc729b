// SPDX-License-Identifier: GPL-2.0-or-later
// The sample node under `ipoib-conform fuzz`: bounds that it does not check are found, and made small enough to be
// repeated; as it is, it outlives what is done to it.
#include "catch2.hpp"
#include "tests/temporary_folder.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

struct FuzzRun {
    int code;
    std::string output;
};

FuzzRun run(const std::string& command) {
    std::FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
    REQUIRE(pipe);
    FuzzRun ran{};
    std::array<char, 4096> buffer{};
    while (const auto count = std::fread(buffer.data(), 1, buffer.size(), pipe))
        ran.output.append(buffer.data(), count);
    const auto status = ::pclose(pipe);
    ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    return ran;
}

FuzzRun fuzz_node(const std::string& node, const std::string& options) {
    const auto path = "/tmp/ipoib-fuzz-" + std::to_string(::getpid()) + ".sock";
    return run(std::string(IPOIB_CONFORM " fuzz --listen ") + path +
               " --dut \"exec:python3 " IPOIB_SOURCE_DIR "/samples/python-adapter/adapter.py --node " + node +
               " --port " + path + "\" --timeout-scale 4 " + options);
}

}  // namespace

TEST_CASE("C node: outlives sessions of lies, requests and events") {
    const auto run = fuzz_node(IPOIB_NODE_SANITIZED, "--sessions 150 --seed 5");
    INFO(run.output);
    CHECK(run.code == 0);
    CHECK_THAT(run.output, ContainsSubstring("150 sessions") && ContainsSubstring("0 findings"));
}

TEST_CASE("C node: sessions begin with what testers have sent in the evidence of cases") {
    const ipoib::TemporaryFolder folder;
    const auto evidence = run(IPOIB_CONFORM " run rfc4391/6 --quiet --evidence " + folder.path().string());
    INFO(evidence.output);
    REQUIRE(evidence.code == 0);
    std::ofstream{folder / "own.json"}
        << R"({"fuzz": 1, "scenario": "default", "operations": [{"do": "send", "packet": "echo"}]})";
    std::ofstream{folder / "wrong.json"} << R"({"fuzz": 1, "scenario": "default", "operations": [{"do": "dance"}]})";
    const auto fuzzed = fuzz_node(IPOIB_NODE_SANITIZED, "--sessions 40 --seed 5 --corpus " + folder.path().string());
    INFO(fuzzed.output);
    CHECK(fuzzed.code == 0);
    CHECK_THAT(fuzzed.output, ContainsSubstring("wrong.json") && ContainsSubstring("dance"));
    CHECK_THAT(fuzzed.output, ContainsSubstring("sessions to begin with") && ContainsSubstring("40 sessions"));
    CHECK_THAT(fuzzed.output, !ContainsSubstring(" 0 frames of evidence"));
}

TEST_CASE("C node: what is to begin with comes first, but for what is of another link") {
    const ipoib::TemporaryFolder corpus;
    const auto session = [](const char* scenario) {
        return std::string(R"({"fuzz": 1, "scenario": ")") + scenario +
               R"(", "operations": [{"do": "send", "packet": "echo"}]})";
    };
    std::ofstream{corpus / "own.json"} << session("default");
    std::ofstream{corpus / "other.json"} << session("mtu4k");
    std::filesystem::create_symlink("loop", corpus.path() / "loop");
    const auto run = fuzz_node(IPOIB_NODE_SANITIZED, "--sessions 2 --seed 5 --corpus " + corpus.path().string());
    INFO(run.output);
    CHECK(run.code == 0);
    CHECK_THAT(run.output, ContainsSubstring("1 sessions to begin with"));
    CHECK_THAT(run.output, ContainsSubstring("other.json: it is of --scenario mtu4k, and left out"));
}

TEST_CASE("C node: a bound that it does not check is found, and shown again by the session that is left", "[breadth]") {
    struct Planted {
        const char *node, *target, *place;
    };
    for (const auto& [node, target, place] : {Planted{IPOIB_NODE "-full-queue", "ipoib", "full-queue.c:"},
                                              Planted{IPOIB_NODE "-any-block", "sa", "any-block.c:"}}) {
        const ipoib::TemporaryFolder folder;
        // Of an earlier search.
        std::ofstream{folder / "007-fault.json"} << "kept";
        const auto found =
            fuzz_node(node, std::string("--sessions 1500 --most 1 --shrink-tries 12 --seed 5 --target ") + target +
                                " --out " + folder.path().string());
        INFO(node << '\n' << found.output);
        CHECK(found.code == 1);
        CHECK_THAT(found.output, ContainsSubstring(place));
        const auto session = folder / "008-fault.json";
        REQUIRE(std::filesystem::exists(session));
        CHECK(std::filesystem::file_size(folder / "007-fault.json") == 4);
        // Whether a queue is full when the next packet comes is a matter of time: it is played until it shows.
        const auto again = fuzz_node(node, "--replay " + session + " --repeat 30");
        INFO(again.output);
        CHECK(again.code == 1);
        CHECK_THAT(again.output, ContainsSubstring(place));
        const auto right = fuzz_node(IPOIB_NODE_SANITIZED, "--replay " + session);
        INFO(right.output);
        CHECK(right.code == 0);
    }
}
