// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/socket/fabric_control.hpp"

#include "temporary_folder.hpp"

#include "catch2.hpp"

#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

namespace ipoib::fabric {
namespace {

using namespace std::chrono_literals;
using Json = nlohmann::json;

/// A command that answers each request with `answer`, in which ID is the request's id.
std::string answering(const std::string& answer) {
    auto text = answer;
    text.replace(text.find("ID"), 2, R"('"$id"')");
    return R"(while read -r line; do id=$(printf %s "$line" | sed 's/.*"id":\("[^"]*"\|[0-9]*\).*/\1/'); printf '%s\n' ')" +
           text + R"('; done)";
}

struct Bench {
    explicit Bench(const std::string& command) : process(loop, command) {}
    Json ask(const std::string& request) { return Json::parse(process.ask(request)); }
    Loop loop{Loop::Clock::real};
    FabricControlProcess process;
};

void check_failure(const Json& answer, const std::string& message) {
    CHECK(answer["ok"] == false);
    CHECK(answer["error"] == "failed");
    CHECK_THAT(answer["message"].get<std::string>(), ContainsSubstring(message));
}

TEST_CASE("Fabric control: a request is answered by the command, with its own id or one that it is given") {
    Bench bench{answering(R"({"id":ID,"ok":true,"done":1})")};
    const auto answer = bench.ask(R"({"id":7,"do":"sm"})");
    CHECK(answer == Json::parse(R"({"id":7,"ok":true,"done":1})"));
    CHECK(bench.ask(R"({"id":"seven","do":"sm"})")["id"] == "seven");
    CHECK(bench.ask(R"({"do":"sm"})")["ok"] == true);
}

TEST_CASE("Fabric control: a command may say no") {
    Bench bench{answering(R"({"id":ID,"error":"unsupported","message":"no such thing"})")};
    CHECK(bench.ask(R"({"do":"port"})")["error"] == "unsupported");
}

TEST_CASE("Fabric control: the loop runs while the command is at work") {
    Bench bench{"sleep 0.02; " + answering(R"({"id":ID,"ok":true})")};
    bool has_run = false;
    bench.loop.after(1ms, [&] { has_run = true; });
    CHECK(bench.ask(R"({"do":"sm"})")["ok"] == true);
    CHECK(has_run);
}

TEST_CASE("Fabric control: what the command says to a person is heard, to its end, and is nobody's order") {
    std::ostringstream heard;
    auto* const before = std::cerr.rdbuf(heard.rdbuf());
    {
        Bench bench{"printf '::error::a\\n' >&2; read -r line; printf '##[b]\\nc' >&2; cat >/dev/null; printf 'd' >&2"};
        bench.loop.run_until([&] { return !heard.str().empty(); }, bench.loop.now() + 20s);
        CHECK(heard.str() == "\\x3a:error::a\n");
        (void)bench.process.ask(R"({"do":"sm","deadline":0.01})");
    }
    std::cerr.rdbuf(before);
    CHECK(heard.str() == "\\x3a:error::a\n\\x23#[b]\ncd\n");
}

TEST_CASE("Fabric control: answers to other requests are passed over") {
    Bench bench{R"(read -r line; echo '{"id":1,"ok":true,"old":1}'; echo; echo '{"id":2,"ok":true}'; read -r line)"};
    CHECK(bench.ask(R"({"id":2,"do":"sm"})") == Json::parse(R"({"id":2,"ok":true})"));
}

TEST_CASE("Fabric control: a command that does not answer, or ends, or lies is a failure with the reason") {
    const auto failure = [](const std::string& command, const std::string& request = R"({"id":1,"do":"sm"})") {
        Bench bench{command};
        auto answer = bench.ask(request);
        CHECK(answer["id"] == 1);
        return answer;
    };
    const std::string quick = R"({"id":1,"do":"sm","deadline":0.02})";
    check_failure(failure("cat > /dev/null", quick), "did not answer in time");
    check_failure(failure("exit 3"), "ended with status 3");
    check_failure(failure("read line; kill -9 $$"), "signal 9");
    check_failure(failure("read line; echo nonsense; cat > /dev/null"), "not a JSON object");
    check_failure(failure("read line; echo '[1]'; cat > /dev/null"), "not a JSON object");
    check_failure(failure(R"(read line; echo '{"ok":true}'; cat > /dev/null)"), "no id");
    check_failure(failure(R"(read line; echo '{"id":1}'; cat > /dev/null)"), "neither");
    check_failure(failure(R"(read line; echo '{"id":1,"ok":1}'; cat > /dev/null)"), "neither");
    check_failure(failure("no-such-command-at-all 2>/dev/null"), "status 127");
    check_failure(failure("read line; head -c 100000 /dev/zero; cat > /dev/null"), "longer than 64 KiB");
    check_failure(failure(R"(read line; head -c 60000 /dev/zero | tr '\0' '['; echo; cat > /dev/null)"),
                  "not a JSON object");
}

TEST_CASE("Fabric control: an answer nested without end is none") {
    Bench bench{R"(read line; printf '{"id":1,"ok":true,"x":'; head -c 30000 /dev/zero | tr '\0' '['; )"
                R"(head -c 30000 /dev/zero | tr '\0' ']'; echo '}'; cat > /dev/null)"};
    check_failure(bench.ask(R"({"id":1,"do":"sm"})"), "not a JSON object");
    // Brackets in strings nest nothing.
    Bench other{answering(R"({"id":ID,"ok":true,"x":")" + std::string(100, '[') + R"(","y":"\"[\""})")};
    CHECK(other.ask(R"({"id":1,"do":"sm"})")["x"] == std::string(100, '['));
}

TEST_CASE("Fabric control: a failure to answer in time does not spoil the next request") {
    Bench bench{R"(read -r a; read -r b; echo '{"id":1,"ok":true}'; echo '{"id":2,"ok":true}'; cat > /dev/null)"};
    check_failure(bench.ask(R"({"id":1,"do":"sm","deadline":0.02})"), "in time");
    CHECK(bench.ask(R"({"id":2,"do":"sm"})")["id"] == 2);
}

TEST_CASE("Fabric control: a request that is none is refused and not sent") {
    Bench bench{answering(R"({"id":ID,"ok":true})")};
    check_failure(bench.ask("nonsense"), "not a JSON object");
    check_failure(bench.ask("[]"), "not a JSON object");
    check_failure(bench.ask(R"({"id":[1]})"), "number or a string");
    check_failure(bench.ask(R"({"x":")" + std::string(70000, 'x') + R"("})"), "longer than 64 KiB");
    CHECK(bench.ask(R"({"id":1})")["ok"] == true);
}

TEST_CASE("Fabric control: at the end the command's input ends, and it is waited for") {
    const TemporaryFolder directory;
    { Bench bench{"cat > /dev/null; echo restored > " + directory / "state"}; }
    std::string state;
    std::ifstream{directory / "state"} >> state;
    CHECK(state == "restored");
}

}  // namespace
}  // namespace ipoib::fabric
