// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/dut/adapter_process.hpp"

#include "catch2.hpp"
#include "temporary_folder.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>

using namespace ipoib;
using namespace ipoib::conformance;
using namespace std::chrono_literals;

namespace {

/// An adapter that is a few lines of Python. `answer(**members)` answers the request `request`.
std::string python(const std::string& body) {
    return "exec python3 -uc '\nimport json, os, signal, subprocess, sys, time\n"
           "def answer(**members): print(json.dumps({\"id\": request[\"id\"], **members}), flush=True)\n" +
           body + "'";
}
const std::string for_each_request = "for line in sys.stdin:\n  request = json.loads(line)\n";

struct Bench {
    fabric::Loop loop{fabric::Loop::Clock::real};
    AdapterProcess adapter;
    explicit Bench(const std::string& command, std::chrono::milliseconds grace = 200ms)
        : adapter(loop, command, grace) {}
    DutControlReply ask(const std::string& request = R"({"id":1,"do":"x"})", fabric::Duration patience = 20s) {
        return adapter.ask(request, patience);
    }
    /// The number of a process that the adapter tells as `pid`.
    pid_t told_pid() {
        const auto line = ask().line;
        const auto at = line.find("\"pid\": ");
        REQUIRE(at != std::string::npos);
        return std::stoi(line.substr(at + 7));
    }
};

bool is_gone(pid_t pid) { return ::kill(pid, 0) != 0 && errno == ESRCH; }

}  // namespace

TEST_CASE("AdapterProcess: requests are answered one by one, and what goes to standard error is kept") {
    Bench bench{python(for_each_request + "  print(\"seen\", request[\"do\"], file=sys.stderr)\n  answer(ok=True)")};
    for (int id = 1; id < 4; ++id) {
        const auto reply = bench.ask(R"({"id":)" + std::to_string(id) + R"(,"do":"up"})");
        CHECK(reply.error.empty());
        CHECK(reply.line == R"({"id": )" + std::to_string(id) + R"(, "ok": true})");
    }
    CHECK(bench.adapter.diagnostics() == "seen up\nseen up\nseen up\n");
    CHECK(bench.adapter.diagnostics().empty());
}

TEST_CASE("AdapterProcess: requests and answers of 64 KiB go through, in pieces") {
    Bench bench{python(for_each_request +
                       "  line = json.dumps({\"id\": 1, \"ok\": True, \"n\": len(line)})\n"
                       "  line += \" \" * (65536 - len(line)) + \"\\n\"\n"
                       "  for i in range(0, len(line), 10000): sys.stdout.write(line[i:i+10000]); sys.stdout.flush()")};
    const std::string head = R"({"id":1,"do":"x","pad":")";
    const auto request = head + std::string(65536 - head.size() - 2, 'p') + "\"}";
    for (int round = 0; round < 3; ++round) {
        const auto reply = bench.ask(request);
        CHECK(reply.error.empty());
        CHECK(reply.line.size() == 65536);
        CHECK_THAT(reply.line, ContainsSubstring("\"n\": 65537"));
    }
}

TEST_CASE("AdapterProcess: an adapter that hangs is named, and every later request fails at once") {
    Bench bench{python(for_each_request + "  print(\"thinking\", file=sys.stderr)\n  time.sleep(100)")};
    const auto error = bench.ask(R"({"id":1})", 1500ms).error;
    CHECK(error == "the adapter did not answer within 1.500 s; its last words: 'thinking'");
    CHECK(bench.ask(R"({"id":2})", 1h).error == error);
}

TEST_CASE("AdapterProcess: an adapter that does not read is a hanging one, however long the request") {
    Bench bench{"sleep 100"};
    CHECK_THAT(bench.ask(std::string(60000, 'x'), 100ms).error, ContainsSubstring("did not answer within 0.100 s"));
    Bench other{"sleep 100"};
    CHECK_THAT(other.ask(std::string(600000, 'x'), 100ms).error, ContainsSubstring("did not answer within 0.100 s"));
}

TEST_CASE("AdapterProcess: how an adapter died is told") {
    struct Row {
        std::string command, told;
    };
    for (const auto& [command, told] : std::vector<Row>{
             {"exit 3", "the adapter died: exit status 3"},
             {"exit 0", "the adapter died: exit status 0"},
             {"kill -SEGV $$", "the adapter died: killed by signal 11 (Segmentation fault)"},
             {"(kill -KILL $(exec sh -c \"echo \\$PPID\")); exit $?", "(as a shell tells signal 9 (Killed))"},
             {"/no/such/adapter", "exit status 127 (the shell did not find the command); its last words: '"},
             {"/", "exit status 126 (the shell could not execute the command)"},
             {python("raise KeyError(7)"), "the adapter died: exit status 1; its last words: 'KeyError: 7'"},
             {python(for_each_request + "  sys.stdout.write(\"{half\"); sys.stdout.flush(); os._exit(4)"),
              "the adapter died: exit status 4, in the middle of a line: '{half'"},
             {python(for_each_request + "  subprocess.Popen([\"sleep\", \"100\"]); os._exit(5)"),
              "the adapter died: exit status 5"},
         }) {
        INFO(command);
        Bench bench{command};
        CHECK_THAT(bench.ask().error, ContainsSubstring(told));
        CHECK(bench.ask().line.empty());
    }
}

TEST_CASE("AdapterProcess: the answer of an adapter that ends right after it counts") {
    Bench bench{python(for_each_request + "  answer(ok=True); os._exit(6)")};
    CHECK(bench.ask().line == R"({"id": 1, "ok": true})");
    CHECK_THAT(bench.ask().error, ContainsSubstring("the adapter died: exit status 6"));
}

TEST_CASE("AdapterProcess: an adapter that closes its output but runs on is named") {
    Bench bench{python(for_each_request + "  os.close(1); time.sleep(100)")};
    CHECK(bench.ask().error == "the adapter closed its pipe, but still runs");
}

TEST_CASE("AdapterProcess: floods end the channel, not the memory") {
    Bench line{python(for_each_request + "  while True: os.write(1, b\"x\" * 10000)")};
    CHECK_THAT(line.ask().error, ContainsSubstring("the adapter writes a line longer than 64 KiB: 'xxx"));
    Bench lines{python(for_each_request + "  while True: os.write(1, b\"x\\n\" * 10000)")};
    CHECK(lines.ask().line == "x");
    CHECK_THAT(lines.ask().error, ContainsSubstring("without being asked: 'x'"));
    Bench errors{python(for_each_request + "  while True: os.write(2, b\"e\" * 10000)")};
    CHECK_THAT(errors.ask().error, ContainsSubstring("the adapter floods its standard error; its last words: 'eee"));
    const auto kept = errors.adapter.diagnostics();
    CHECK(kept.size() < 66000);
    CHECK_THAT(kept.substr(0, 60), ContainsSubstring("octets before this are left out"));
}

TEST_CASE("AdapterProcess: what it writes without being asked breaks the channel") {
    SECTION("before the first request") {
        Bench bench{"echo hello; sleep 100"};
        bench.loop.run_for(500ms);
        CHECK_THAT(bench.ask().error, ContainsSubstring("the adapter wrote a line without being asked: 'hello'"));
    }
    SECTION("between two requests, in pieces") {
        Bench bench{python(for_each_request + "  answer(ok=True); sys.stdout.write(\"more\"); sys.stdout.flush()")};
        CHECK(bench.ask().error.empty());
        bench.loop.run_for(300ms);
        CHECK_THAT(bench.ask().error, ContainsSubstring("the adapter wrote without being asked: 'more'"));
    }
    SECTION("a second answer") {
        Bench bench{python(for_each_request + "  answer(ok=True); answer(ok=True)")};
        CHECK(bench.ask().error.empty());
        bench.loop.run_for(300ms);
        CHECK_THAT(bench.ask().error, ContainsSubstring("the adapter wrote a line without being asked: '{"));
    }
}

TEST_CASE("AdapterProcess: an interruption ends the wait, and leaves the adapter its time to restore") {
    Bench bench{python(for_each_request + "  time.sleep(100)")};
    bench.loop.after(50ms, [] { fabric::Loop::request_stop(); });
    const auto error = bench.ask(R"({"id":1})", 1h).error;
    fabric::Loop::clear_stop();
    CHECK_THAT(error, ContainsSubstring("interrupted"));
}

TEST_CASE("AdapterProcess: at the end the adapter finds its input at an end and may restore") {
    const TemporaryFolder folder;
    const auto note = folder / "note";
    {
        Bench bench{python(for_each_request +
                           "  answer(ok=True)\nos.write(1, b\"x\" * 300000)\n"
                           "open(\"" +
                           note + "\", \"w\").write(\"restored\")"),
                    10s};
        CHECK(bench.ask().error.empty());
    }
    CHECK(std::filesystem::exists(note));
}

TEST_CASE("AdapterProcess: nothing of it is left running, whatever it does") {
    pid_t adapter = 0;
    SECTION("an ordinary adapter") {
        Bench bench{python(for_each_request + "  answer(pid=os.getpid())")};
        adapter = bench.told_pid();
    }
    SECTION("one that ignores the end of its input") {
        Bench bench{python(for_each_request + "  answer(pid=os.getpid()); time.sleep(1000)")};
        adapter = bench.told_pid();
    }
    SECTION("one that ignores SIGTERM too") {
        Bench bench{python("signal.signal(signal.SIGTERM, signal.SIG_IGN)\n" + for_each_request +
                           "  answer(pid=os.getpid()); time.sleep(1000)")};
        adapter = bench.told_pid();
    }
    SECTION("a child that outlives it") {
        Bench bench{
            python(for_each_request + "  child = subprocess.Popen([\"sleep\", \"1000\"]); answer(pid=child.pid)")};
        adapter = bench.told_pid();
    }
    SECTION("a child of a shell in a pipeline") {
        Bench bench{"cat | " + python(for_each_request + "  answer(pid=os.getpid()); time.sleep(1000)").substr(5) +
                    " | cat"};
        adapter = bench.told_pid();
    }
    for (int wait = 0; wait < 200 && !is_gone(adapter); ++wait) ::usleep(10000);
    // In a container without init an orphan that ended keeps its number.
    std::string state = "gone";
    if (!is_gone(adapter)) {
        std::FILE* const stat = std::fopen(("/proc/" + std::to_string(adapter) + "/stat").c_str(), "r");
        char letter = '?';
        if (stat && std::fscanf(stat, "%*d (%*[^)]) %c", &letter) == 1 && letter == 'Z')
            state = "zombie of another";
        else
            state = "runs";
        if (stat) std::fclose(stat);
    }
    CHECK((state == "gone" || state == "zombie of another"));
    CHECK((::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD));  // no zombie of ours
}

TEST_CASE("AdapterProcess: its descriptors are not inherited by other processes") {
    const auto flags = [] {
        std::array<int, 64> found{};
        for (int descriptor = 0; descriptor < 64; ++descriptor)
            found[static_cast<std::size_t>(descriptor)] = ::fcntl(descriptor, F_GETFD);
        return found;
    };
    const auto before = flags();
    const Bench bench{"cat"};
    const auto after = flags();
    unsigned opened = 0;
    for (std::size_t i = 0; i < after.size(); ++i) {
        if (before[i] >= 0 || after[i] < 0) continue;
        ++opened;
        CHECK(after[i] == FD_CLOEXEC);
    }
    CHECK(opened >= 3);
}
