// SPDX-License-Identifier: GPL-2.0-or-later
// The adapter as a process, on one end of a veth pair in a network namespace of its own. Where there can be none, the
// tests say so and pass.
#include "base/child_process.hpp"
#include "catch2.hpp"
#include "temporary_folder.hpp"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

using ipoib::ChildProcess;
using ipoib::Command;
using ipoib::TemporaryFolder;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

bool has_namespaces() {
    static const bool has = std::system("unshare -n true 2>/dev/null && command -v ip >/dev/null") == 0;
    if (!has) WARN("LEFT OUT: no network namespace can be made here, or there is no ip (package iproute2)");
    return has;
}

/// The adapter for v0, whose peer v1 has 10.9.0.2. What `after` prints, it prints once the adapter has ended.
class Adapter {
public:
    explicit Adapter(const std::string& after = "true", const std::string& options = "")
        : child_(Command::shell(
                     "exec unshare -n sh -c '"
                     "ip link set lo up; ip link add v0 type veth peer name v1; ip addr add 10.8.0.1/24 dev v0; "
                     "ip addr add 10.9.0.2/24 dev v1; ip link set v1 up; " IPOIB_DUT_LINUX " " +
                     options + " v0; " + after + "'"),
                 ChildProcess::Diagnostics::to_a_pipe, {5s, 5s}) {}
    json ask(json request) {
        request["id"] = ++id_;
        write(request.dump() + '\n');
        auto answer = json::parse(line());
        CHECK(answer["id"] == id_);
        return answer;
    }
    bool ok(const json& request) { return ask(request).value("ok", false); }
    void write(const std::string& text) {
        REQUIRE(::write(child_.input.value(), text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    }
    /// Without its end; empty at the end of the stream.
    std::string line() {
        for (;;) {
            if (const auto end = in_.find('\n'); end != std::string::npos) {
                auto text = in_.substr(0, end);
                in_.erase(0, end + 1);
                return text;
            }
            pollfd polled{child_.output.value(), POLLIN, 0};
            REQUIRE(::poll(&polled, 1, 20000) > 0);
            std::array<char, 4096> octets;
            const auto count = ::read(child_.output.value(), octets.data(), octets.size());
            if (count <= 0) return {};
            in_.append(octets.data(), static_cast<std::size_t>(count));
        }
    }
    std::string rest_after_end() {
        child_.input.close();
        std::string all;
        for (auto one = line(); !one.empty(); one = line()) all += one + '\n';
        return all;
    }

private:
    ChildProcess child_;
    std::string in_;
    int id_ = 0;
};

}  // namespace

TEST_CASE("Linux adapter: says what it is and can, and refuses what does not exist") {
    if (!has_namespaces()) return;
    Adapter adapter;
    CHECK(adapter.ask({{"do", "hqmwzkfrtxov"}})["error"] == "unsupported");
    const auto hello = adapter.ask({{"do", "hello"}});
    CHECK(hello["protocol"] == 1);
    CHECK(hello["name"] == "linux");
    CHECK(hello["interfaces"] == json{"v0"});
    CHECK(hello["facts"]["driver"] == "veth");
    for (const auto* name : {"set_mode", "set_scope", "dhcp"})
        CHECK(adapter.ask({{"do", name}, {"mode", "connected"}, {"scope", 5}, {"start", true}})["error"] ==
              "unsupported");
    adapter.write("no JSON\n");
    CHECK(json::parse(adapter.line())["error"] == "failed");
    CHECK(adapter.ask({{"do", "up"}, {"interface", "lo"}})["error"] == "failed");
}

TEST_CASE("Linux adapter: changes the interface as asked, and tells of it") {
    if (!has_namespaces()) return;
    Adapter adapter;
    CHECK(adapter.ask({{"do", "interface"}})["up"] == false);
    CHECK(adapter.ok({{"do", "up"}}));
    CHECK(adapter.ok({{"do", "add_address"}, {"address", "10.9.0.1/24"}}));
    CHECK(adapter.ok({{"do", "add_address"}, {"address", "fd00::1/64"}}));
    CHECK(adapter.ok({{"do", "set_mtu"}, {"mtu", 1400}}));
    CHECK(adapter.ok({{"do", "join"}, {"group", "239.1.2.3"}}));
    CHECK(adapter.ok({{"do", "join"}, {"group", "ff15::77"}}));
    const auto now = adapter.ask({{"do", "interface"}});
    CHECK(now["up"] == true);
    CHECK(now["mtu"] == 1400);
    CHECK(now["ipv4"] == json{"10.8.0.1/24", "10.9.0.1/24"});
    const std::vector<std::string> groups = now["groups"], addresses = now["ipv6"];
    for (const auto* group : {"224.0.0.1", "239.1.2.3", "ff15::77"})
        CHECK(std::count(groups.begin(), groups.end(), group) == 1);
    CHECK(std::count(addresses.begin(), addresses.end(), "fd00::1/64") == 1);
    CHECK(adapter.ok({{"do", "leave"}, {"group", "239.1.2.3"}}));
    CHECK_FALSE(adapter.ok({{"do", "leave"}, {"group", "239.1.2.3"}}));
    CHECK(adapter.ok({{"do", "remove_address"}, {"address", "10.9.0.1/24"}}));
    CHECK_FALSE(adapter.ok({{"do", "remove_address"}, {"address", "10.9.0.1/24"}}));
    for (const auto* wrong : {"10.9.0.1", "10.9.0.1/33", "x", "239.1.1.1/24", "255.255.255.255/32", "-6/1"})
        CHECK(adapter.ask({{"do", "add_address"}, {"address", wrong}})["error"] == "failed");
    CHECK(adapter.ok({{"do", "restart"}}));
    CHECK(adapter.ok({{"do", "down"}}));
    for (const auto* what : {"ping", "send", "resolve"})
        CHECK(adapter.ask({{"do", what}, {"to", "10.8.0.2"}, {"address", "10.8.0.2"}, {"port", 9}, {"payload", ""}})
                  .value("error", "") == "failed");
}

TEST_CASE("Linux adapter: what a user without privileges tries on the interface is refused") {
    if (!has_namespaces()) return;
    Adapter adapter;
    const auto attempts = adapter.ask({{"do", "unprivileged"}})["attempts"];
    std::vector<std::string> tried;
    for (const auto& attempt : attempts) {
        tried.push_back(attempt["what"]);
        CHECK(attempt["refused"] == true);
        CHECK(attempt["message"] != "");
    }
    // A veth has none of the settings of IPoIB.
    CHECK(std::count(tried.begin(), tried.end(), "set the MTU of v0") == 1);
    CHECK(std::count(tried.begin(), tried.end(), "set the flags of v0") == 1);
    CHECK(std::count(tried.begin(), tried.end(), "open /sys/class/net/v0/mode for writing") == 0);
    CHECK(adapter.ok({{"do", "set_mtu"}, {"mtu", 1400}}));
}

TEST_CASE("Linux adapter: datagrams, echo and neighbours") {
    if (!has_namespaces()) return;
    Adapter adapter;
    REQUIRE(adapter.ok({{"do", "up"}}));
    REQUIRE(adapter.ok({{"do", "listen"}, {"port", 7001}}));
    REQUIRE(adapter.ok({{"do", "listen"}, {"group", "239.1.2.4"}, {"port", 7002}}));
    // A group's members on the sending host hear it, too.
    CHECK(adapter.ok({{"do", "send"}, {"to", "239.1.2.4"}, {"port", 7002}, {"payload", "00ff10"}, {"ttl", 3}}));
    const auto datagrams = adapter.ask({{"do", "received"}})["datagrams"];
    REQUIRE(datagrams.size() == 1);
    CHECK(datagrams[0] ==
          json{{"from", "10.8.0.1"}, {"to", "239.1.2.4"}, {"port", 7002}, {"payload", "00ff10"}, {"ttl", 3}});
    CHECK(adapter.ask({{"do", "received"}})["datagrams"].empty());
    CHECK(adapter.ask({{"do", "ping"}, {"to", "10.8.0.1"}, {"size", 3000}})["answered"] == true);
    CHECK(adapter.ask({{"do", "ping"}, {"to", "10.8.0.9"}, {"deadline", 1}})["answered"] == false);
    CHECK(adapter.ok({{"do", "resolve"}, {"address", "10.8.0.7"}}));
    CHECK(adapter.ask({{"do", "neighbours"}})["neighbours"].empty());
    CHECK(adapter.ok({{"do", "flush_neighbours"}}));
    CHECK(adapter.ok({{"do", "timers"}, {"reachable", 2}}));
    for (const auto& wrong : {json(0), json(-1), json("x")})
        CHECK(adapter.ask({{"do", "timers"}, {"reachable", wrong}})["error"] == "failed");
    for (const auto* payload : {"0", "zz"})
        CHECK_FALSE(adapter.ok({{"do", "send"}, {"to", "10.8.0.2"}, {"port", 9}, {"payload", payload}}));
}

TEST_CASE("Linux adapter: DHCP is done by the program that was named, and given up at the end") {
    if (!has_namespaces()) return;
    const TemporaryFolder folder;
    const auto program = folder / "client", log = folder / "log";
    std::ofstream(program) << "#!/bin/sh\ntrap 'echo ended >>" + log + "; exit' TERM\necho begun $1 >>" + log +
                                  "\nwhile :; do sleep 0.05; done\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    const auto said = [&] {
        std::ifstream file(log);
        return std::string(std::istreambuf_iterator<char>(file), {});
    };
    const auto says = [&](const std::string& text) {
        for (int left = 200; left > 0 && said() != text; --left) ::usleep(20'000);
        return said() == text;
    };
    Adapter adapter("true", "--dhcp-client " + program);
    const auto can = adapter.ask({{"do", "hello"}})["can"].get<std::vector<std::string>>();
    CHECK(std::count(can.begin(), can.end(), "dhcp") == 1);
    CHECK(std::count(can.begin(), can.end(), "dhcp_server") == 0);
    for (const auto& wrong : {json{{"do", "dhcp"}}, json{{"do", "dhcp"}, {"start", false}},
                              json{{"do", "dhcp"}, {"start", true}, {"stop", true}}})
        CHECK(adapter.ask(wrong)["error"] == "failed");
    REQUIRE(adapter.ok({{"do", "dhcp"}, {"start", true}}));
    REQUIRE(says("begun v0\n"));
    REQUIRE(adapter.ok({{"do", "dhcp"}, {"stop", true}}));
    REQUIRE(says("begun v0\nended\n"));
    REQUIRE(adapter.ok({{"do", "dhcp"}, {"start", true}}));
    REQUIRE(says("begun v0\nended\nbegun v0\n"));
    static_cast<void>(adapter.rest_after_end());
    CHECK(says("begun v0\nended\nbegun v0\nended\n"));
}

TEST_CASE("Linux adapter: the end of input puts everything back") {
    if (!has_namespaces()) return;
    Adapter adapter("ip -o addr show dev v0; cat /proc/sys/net/ipv4/neigh/v0/base_reachable_time_ms");
    REQUIRE(adapter.ok({{"do", "up"}}));
    REQUIRE(adapter.ok({{"do", "add_address"}, {"address", "10.9.0.1/24"}}));
    REQUIRE(adapter.ok({{"do", "remove_address"}, {"address", "10.8.0.1/24"}}));
    REQUIRE(adapter.ok({{"do", "set_mtu"}, {"mtu", 1400}}));
    REQUIRE(adapter.ok({{"do", "timers"}, {"reachable", 2}}));
    const auto after = adapter.rest_after_end();
    CHECK_THAT(after, ContainsSubstring("10.8.0.1/24"));
    CHECK_THAT(after, ContainsSubstring("\n30000\n"));
    CHECK(after.find("10.9.0.1") == std::string::npos);
    CHECK(after.find("1400") == std::string::npos);
}

TEST_CASE("Linux adapter: after bye a session can begin anew") {
    if (!has_namespaces()) return;
    Adapter adapter;
    REQUIRE(adapter.ok({{"do", "up"}}));
    REQUIRE(adapter.ok({{"do", "bye"}}));
    CHECK(adapter.ask({{"do", "interface"}})["up"] == false);
    CHECK(adapter.ok({{"do", "hello"}}));
}

namespace {

/// What `state` says of the veth, and with what exit code it ends, as lines.
std::pair<json, int> state_of(const std::string& arguments, const std::string& before = "true") {
    ChildProcess child(
        Command::shell("exec unshare -n -m sh -c 'mount -t sysfs sysfs /sys; ip link add v0 type veth peer name v1; "
                       "ip link set v0 up; ip link set v1 up; ip addr add 10.8.0.1/24 dev v0; "
                       "ip neigh add 10.8.0.2 lladdr 02:00:00:00:00:01 dev v0; " +
                       before + "; " IPOIB_DUT_LINUX " state " + arguments + "; echo $?'"),
        ChildProcess::Diagnostics::to_a_pipe, {5s, 5s});
    std::string all;
    std::array<char, 4096> octets;
    for (;;) {
        pollfd polled{child.output.value(), POLLIN, 0};
        REQUIRE(::poll(&polled, 1, 20000) > 0);
        const auto count = ::read(child.output.value(), octets.data(), octets.size());
        if (count <= 0) break;
        all.append(octets.data(), static_cast<std::size_t>(count));
    }
    REQUIRE(all.size() > 1);
    const auto end = all.rfind('\n', all.size() - 2);
    const auto code = std::stoi(all.substr(end == std::string::npos ? 0 : end + 1));
    return {end == std::string::npos ? json{} : json::parse(all.substr(0, end)), code};
}

}  // namespace

TEST_CASE("Linux host state: what is there is told, what cannot be read is named, nothing is changed") {
    if (!has_namespaces()) return;
    const auto [state, code] = state_of("v0");
    CHECK(code == 0);
    CHECK(state["format"] == "ipoib-host-state/1");
    const auto& one = state["interfaces"][0];
    CHECK(one["name"] == "v0");
    CHECK(one["up"] == true);
    CHECK(one["mtu"] == 1500);
    CHECK(one["facts"]["driver"] == "veth");
    CHECK(one["addresses"][0] == json{{"address", "10.8.0.1/24"}, {"state", "valid"}});
    CHECK(one["neighbours"][0] ==
          json{{"address", "10.8.0.2"}, {"link_address", "02:00:00:00:00:01"}, {"state", "PERMANENT"}});
    CHECK(one["groups"][0] == "224.0.0.1");
    CHECK(one["counters"].contains("tx_packets"));
    CHECK(one["settings"].contains("arp_ignore"));
    // A veth has neither groups nor paths in debugfs.
    CHECK(state["unread"].size() == 2);
    for (const auto& unread : state["unread"]) CHECK(unread["why"] != "");
    CHECK_FALSE(one.contains("mcg"));
}

TEST_CASE("Linux host state: without ip, by wrong names, and where there is no IPoIB") {
    if (!has_namespaces()) return;
    const auto [state, code] = state_of("v0", "PATH=/nowhere; export PATH");
    CHECK(code == 0);
    CHECK(state["unread"].size() == 4);
    CHECK(state["interfaces"][0]["mtu"] == 1500);
    // With another network namespace's /sys, what ip tells is right, and nothing else is told.
    const auto [beside, code_beside] = state_of("v0", "umount /sys");
    CHECK(code_beside == 0);
    CHECK(beside["interfaces"][0]["mtu"] == 1500);
    CHECK_FALSE(beside["interfaces"][0].contains("counters"));
    CHECK(beside["unread"][0]["why"] == "/sys is of another network namespace");
    CHECK(state_of("none").second == 1);
    CHECK(state_of("../net/v0").second == 1);
    CHECK(state_of("--all").second == 2);
    CHECK(state_of("").second == 1);
}
