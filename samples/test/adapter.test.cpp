// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/dut/dut.hpp"
#include "samples/test/subnet_bench.hpp"

#include <sys/stat.h>

#include <csignal>
#include <fstream>

using namespace ipoib;
using namespace ipoib::conformance;
using namespace ipoib::samples::test;

namespace {

std::string adapter_of(const std::string& program) {
    return "exec python3 " IPOIB_SOURCE_DIR "/samples/python-adapter/adapter.py --port @ --node " + program;
}

struct Bench : SubnetBench {
    explicit Bench(std::string_view scenario = "default", const std::string& program = IPOIB_NODE)
        : SubnetBench(adapter_of(program), scenario) {
        dut.greet();
    }
    void start() {
        dut.add_address({ip("10.1.0.9"), 24});
        dut.up();
        REQUIRE(until([&] { return state_of("224.0.0.1") == 1 && sa().subscriptions() == 4; }));
    }
    Dut dut{*node, "ib0"};
};

}  // namespace

TEST_CASE("Python adapter: is honest, says who it is, and what it can") {
    Bench bench;
    CHECK(bench.dut.name() == "ipoib_node sample");
    CHECK(bench.dut.can("ping"));
    CHECK_FALSE(bench.dut.can("set_mode"));
    CHECK_FALSE(bench.dut.can("_node"));
    CHECK_THROWS_AS(bench.dut.set_mode("connected"), Unsupported);
    CHECK_THROWS_AS(bench.dut.create_child(0x8001), Unsupported);
    CHECK_THROWS_AS(bench.dut.join(ip("ff02::7")), Unsupported);
    CHECK_THROWS_AS(bench.dut.add_address({ip("fe80::9"), 64}), Unsupported);
    CHECK_THROWS_AS(bench.dut.remove_address({ip("10.1.0.9"), 24}), ControlFailed);
    CHECK_THROWS_AS(bench.dut.resolve(ip("10.1.0.1")), ControlFailed);
    CHECK_NOTHROW(bench.dut.bye());
}

TEST_CASE("Python adapter: every request does what the protocol says") {
    Bench bench{"controlled"};
    bench.start();
    auto& dut = bench.dut;

    const auto facts = dut.interface();
    REQUIRE(facts.link_address);
    CHECK((*facts.link_address)[wire::LinkAddress::gid].interface_id() == SubnetBench::node_guid);
    CHECK(facts.is_up);
    CHECK(facts.mtu == 2044);
    CHECK(facts.mode == "datagram");
    CHECK(facts.ipv4 == std::vector<wire::IpNetwork>{{ip("10.1.0.9"), 24}});
    CHECK(facts.groups == std::vector{ip("224.0.0.1")});

    CHECK(dut.ping(ip("10.1.0.1"), 2016));
    CHECK_THROWS_AS(dut.ping(ip("10.1.0.1"), 2017), Unsupported);
    REQUIRE(dut.neighbours().size() == 1);
    CHECK(dut.neighbours()[0].address == ip("10.1.0.1"));
    CHECK(dut.neighbours()[0].link_address.size() == 20);
    dut.flush_neighbours();
    CHECK(dut.neighbours().empty());
    dut.resolve(ip("10.1.0.1"));
    CHECK(bench.until([&] { return !dut.neighbours().empty(); }));
    dut.timers(1, 0, 1);
    CHECK_THROWS_AS(dut.timers(0, 1, 0), Unsupported);

    dut.join(ip("239.1.2.3"));
    CHECK(bench.state_of("239.1.2.3") == 1);
    dut.listen(ip("239.1.2.3"), 7);
    dut.listen(ip("10.1.0.9"), 8);
    const std::vector<std::uint8_t> payload{0, 1, 0xff};
    REQUIRE(bench.ib0().sockets().send(ip("239.1.2.3"), 7, payload, 3).empty());
    REQUIRE(bench.ib0().sockets().send(ip("10.1.0.9"), 8, {}, 64).empty());
    std::vector<DatagramReceived> received;
    CHECK(bench.until([&] {
        for (const auto& one : dut.received()) received.push_back(one);
        return received.size() == 2;
    }));
    CHECK(received.at(0).payload + received.at(1).payload == "0001ff");
    // Who listens stays in the group.
    dut.leave(ip("239.1.2.3"));
    dut.join(ip("239.1.2.4"));
    dut.leave(ip("239.1.2.4"));
    CHECK(bench.until([&] { return bench.state_of("239.1.2.4") == -1; }));
    CHECK(bench.state_of("239.1.2.3") == 1);

    REQUIRE(bench.ib0().sockets().listen(std::nullopt, 9).empty());
    dut.send(ip("10.1.0.1"), 9, payload, 5);
    std::vector<stack::Sockets::Received> heard;
    CHECK(bench.until([&] { return !(heard = bench.ib0().sockets().take()).empty(); }));
    CHECK(heard.at(0).payload == payload);
    CHECK(heard.at(0).hop_limit == 5);

    CHECK_THAT(dut.log().at(0), ContainsSubstring("link up: P_Key 0x8"));
    CHECK(dut.health().empty());
    dut.down();
    CHECK_FALSE(dut.interface().is_up);
    dut.up();
    CHECK(dut.interface().is_up);
    dut.restart();
    CHECK(bench.until([&] { return dut.interface().is_up; }));
    dut.remove_address({ip("10.1.0.9"), 24});
    CHECK(dut.interface().ipv4.empty());

    dut.bye();
    CHECK(bench.until([&] { return bench.state_of("255.255.255.255") == 0 && bench.sa().subscriptions() == 2; }));
}

namespace {

/// A program in front of the node, which tells its number.
class Numbered {
public:
    Numbered() {
        std::ofstream{program} << "#!/bin/sh\necho $$ > " << note_ << "\nexec " IPOIB_NODE " \"$@\"\n";
        REQUIRE(::chmod(program.c_str(), 0700) == 0);
    }
    ~Numbered() {
        ::unlink(program.c_str());
        ::unlink(note_.c_str());
    }
    Numbered(const Numbered&) = delete;
    Numbered& operator=(const Numbered&) = delete;
    [[nodiscard]] pid_t pid() const {
        pid_t pid = 0;
        REQUIRE(std::ifstream{note_} >> pid);
        return pid;
    }
    const std::string program = "/tmp/ipoib-sample-node-" + std::to_string(::getpid());

private:
    const std::string note_ = program + ".pid";
};

}  // namespace

TEST_CASE("Python adapter: a node that is stopped is waited for, one that only hangs is not") {
    const Numbered numbered;
    std::vector<std::string> remarks;
    SubnetBench bench{adapter_of(numbered.program) + " --patience 0.3", "default",
                      [&](const std::string& text) { remarks.push_back(text); }};
    Dut{*bench.node, "ib0"}.greet();
    Dut dut{*bench.node, "ib0", 0.1};  // it has a second for an answer
    dut.add_address({ip("10.1.0.9"), 24});
    const auto pid = numbered.pid();
    const auto stopped_for = 1500ms;
    REQUIRE(::kill(pid, SIGSTOP) == 0);
    const auto begin = bench.fabric.loop().now();
    bench.fabric.loop().after(stopped_for, [pid] { ::kill(pid, SIGCONT); });
    CHECK(dut.interface().ipv4 == std::vector<wire::IpNetwork>{{ip("10.1.0.9"), 24}});
    CHECK(bench.fabric.loop().now() - begin >= stopped_for);
    CHECK(dut.health().empty());
    REQUIRE(remarks.size() == 2);
    CHECK_THAT(remarks[0], ContainsSubstring("(process " + std::to_string(pid) + ") is stopped, by a debugger"));
    CHECK_THAT(remarks[1], ContainsSubstring("is not stopped any more"));
    CHECK_THAT(bench.node->diagnostics(), ContainsSubstring("the node is stopped: waiting"));

    REQUIRE(::kill(pid, SIGKILL) == 0);
    CHECK_THROWS_AS(dut.interface(), ControlFailed);
    CHECK(dut.health() == std::vector<std::string>{"the node ended: killed by signal 9 (SIGKILL)"});
}

TEST_CASE("Python adapter: a node that hangs is ended, which is told as it is") {
    const std::string program = "/tmp/ipoib-sample-hang-" + std::to_string(::getpid());
    std::ofstream{program} << "#!/bin/sh\nexec sleep 100\n";
    REQUIRE(::chmod(program.c_str(), 0700) == 0);
    SubnetBench bench{adapter_of(program) + " --patience 0.3"};
    Dut dut{*bench.node, "ib0"};
    dut.greet();
    CHECK_THROWS_AS(dut.interface(), ControlFailed);
    CHECK(dut.health() == std::vector<std::string>{"the node did not answer for 0.3 s, and was ended (--patience)"});
    ::unlink(program.c_str());
}

TEST_CASE("Python adapter: a node that dies is a fault, and a restart brings it back") {
    const Numbered numbered;
    Bench bench{"default", numbered.program};
    bench.start();
    const auto pid = numbered.pid();
    REQUIRE(::kill(pid, SIGSEGV) == 0);
    CHECK(bench.until([&] { return bench.state_of("255.255.255.255") == 0; }));
    CHECK_THROWS_AS(bench.dut.down(), ControlFailed);
    CHECK(bench.dut.health() == std::vector<std::string>{"the node ended: killed by signal 11 (SIGSEGV)"});
    bench.dut.restart();
    CHECK(bench.until([&] { return bench.state_of("255.255.255.255") == 1; }));
    CHECK(bench.dut.ping(ip("10.1.0.1"), 56));
}

TEST_CASE("Python adapter: ends with its input or by SIGTERM, and the node with it") {
    const bool is_told = GENERATE(false, true);
    const std::string note = "/tmp/ipoib-sample-adapter-" + std::to_string(::getpid()) + ".pid";
    SubnetBench bench{"echo $$ > " + note + "; " + adapter_of(IPOIB_NODE)};
    bench.start_by(R"({"id":1,"do":"add_address","address":"10.1.0.9/24"})", R"({"id":2,"do":"up"})");
    unsigned leaves = 0;
    bench.watcher = [&](const wire::Packet& packet) {
        leaves += packet.sa && packet.mad[wire::Mad::method] == wire::Method::del;
    };
    pid_t pid = 0;
    REQUIRE(std::ifstream{note} >> pid);
    ::unlink(note.c_str());
    if (is_told)
        REQUIRE(::kill(pid, SIGTERM) == 0);
    else
        bench.node.reset();
    CHECK(bench.until([&] { return bench.state_of("255.255.255.255") == 0; }));
    CHECK(leaves == 2);
    CHECK(bench.until([&] { return bench.switch_port == nullptr; }));  // the node's end of the raw port is closed
    if (is_told) CHECK_THAT(bench.ask(R"({"id":3,"do":"log"})"), ContainsSubstring("died: exit status 0"));
}
