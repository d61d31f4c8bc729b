// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/hosts/host_state.hpp"

#include "catch2.hpp"
#include "protocol/wire/text.hpp"
#include "temporary_folder.hpp"

#include <fstream>

using namespace ipoib;
using namespace ipoib::hosts;

namespace {

/// As ipoib-dut-linux writes it, on one line.
std::string state_with(const std::string& interface, const std::string& host = "node7") {
    return R"({"format":"ipoib-host-state/1","host":")" + host +
           R"(","time":"2026-11-26T10:00:00Z","kernel":"6.1.0","interfaces":[)" + interface +
           R"(],"unread":[{"what":"/sys/kernel/debug/ipoib/ib0_mcg","why":"Permission denied; root may read it"}]})";
}
const std::string interface =
    R"({"name":"ib0","link_address":"80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:10:00:01",)"
    R"("broadcast":"00:ff:ff:ff:ff:12:40:1b:80:01:00:00:00:00:00:00:ff:ff:ff:ff","mtu":2044,"mode":"datagram",)"
    R"("p_key":"0x8001","up":true,"running":true,"addresses":[{"address":"10.1.0.1/24","state":"valid"},)"
    R"({"address":"fe80::2/64","state":"tentative"}],"groups":["224.0.0.1"],)"
    R"("link_groups":["00:ff:ff:ff:ff:12:40:1b:80:01:00:00:00:00:00:00:00:00:00:01"],)"
    R"("neighbours":[{"address":"10.1.0.2","link_address":"00:00:02:09:fe:80:00:00:00:00:00:00:00:02:c9:03:00:10:00:02",)"
    R"("state":"STALE"}],"mcg":[{"mgid":"ff12:401b:8001:0:0:0:ffff:ffff","complete":true,"send_only":false,"queued":0}],)"
    R"("paths":[{"gid":"fe80:0:0:0:2:c903:10:2","complete":true,"dlid":4,"sl":0,"rate":"100.0 Gb/sec"}],)"
    R"("settings":{"arp_ignore":0,"arp_filter":1},"counters":{"rx_packets":1},"facts":{"driver":"ib_ipoib","firmware":"1.2"},)"
    R"("port":{"number":1,"state":"4: ACTIVE","phys_state":"5: LinkUp","lid":3,"lmc":0,"gid":"fe80::2:c903:10:1",)"
    R"("p_keys":["0xffff","0x8001"]}})";

std::string listed_notes(const HostStates& states) {
    std::string all;
    for (const auto& note : states.notes.told()) all += note + '\n';
    return all;
}
/// What is told of a text: why it is none, or its notes.
std::string refusal(const std::string& text) {
    try {
        return listed_notes(parse_host_states(text, "x.json"));
    } catch (const std::runtime_error& problem) {
        return problem.what();
    }
}
/// With one member of the interface written otherwise.
std::string with(const std::string& old, const std::string& instead) {
    auto changed = interface;
    const auto at = changed.find(old);
    REQUIRE(at != std::string::npos);
    return state_with(changed.replace(at, old.size(), instead));
}

}  // namespace

TEST_CASE("Host state: what the adapter writes is read") {
    const auto states = parse_host_states(state_with(interface), "x.json").hosts;
    REQUIRE(states.size() == 1);
    CHECK(states[0].host == "node7");
    CHECK(states[0].time == std::int64_t{1'795'687'200} * 1'000'000'000);
    CHECK(states[0].unread.size() == 1);
    REQUIRE(states[0].interfaces.size() == 1);
    const auto& one = states[0].interfaces[0];
    CHECK(one.qpn == 0x208);
    CHECK(wire::text(one.gid) == "fe80::2:c903:10:1");
    CHECK(one.broadcast == wire::broadcast_gid(0x8001, 2));
    CHECK(one.partition() == 0x8001);
    CHECK(one.mtu == 2044);
    CHECK((one.is_up == true && one.is_running == true));
    REQUIRE(one.addresses.size() == 2);
    CHECK(one.addresses[1].is_tentative);
    REQUIRE(one.neighbours.size() == 1);
    CHECK((one.neighbours[0].qpn == 0x209 && one.neighbours[0].state == "STALE"));
    REQUIRE(one.driver_groups);
    CHECK(one.driver_groups->front().is_complete);
    CHECK(one.link_groups->front() == wire::mgid_for_ipv4(0xe0000001, 0x8001, 2));
    CHECK(one.paths.at(0).dlid == 4);
    CHECK((one.arp_ignore == 0U && one.arp_filter == 1U));
    REQUIRE(one.port);
    CHECK((one.port->is_active() && one.port->is_plugged() && one.port->lid == 3));
    CHECK(one.port->p_keys == std::vector<std::uint16_t>{0x8001, 0xffff});
}

TEST_CASE("Host state: states of many hosts stand on a line each") {
    const auto states =
        parse_host_states(state_with(interface, "a") + "\n\n" + state_with(interface, "b") + "\n", "x.json").hosts;
    REQUIRE(states.size() == 2);
    CHECK(states[1].host == "b");
    // What is not told is not known; what is not asked for may be anything.
    const auto told =
        parse_host_states(state_with(R"({"name":"ib1","mtu":null,"more":[[[{}]]],"port":null})"), "x.json");
    CHECK(told.notes.told().empty());
    CHECK(told.hosts[0].interfaces[0].mtu == 0);
    CHECK_FALSE(told.hosts[0].interfaces[0].port);
    CHECK_FALSE(told.hosts[0].interfaces[0].are_addresses_told);
}

TEST_CASE("Host state: entries of which something is not told are passed over without a word") {
    const auto states = parse_host_states(
        state_with(R"({"name":"ib0","addresses":[null,{"address":null}],"neighbours":[{"address":"10.1.0.99",)"
                   R"("state":"FAILED"},{"link_address":null}],"mcg":[{"complete":true},null,{"mgid":"ff12::1"}],)"
                   R"("paths":[{"dlid":3}],"link_groups":[null],"port":{"p_keys":[null]}})"),
        "x.json");
    CHECK(states.notes.told().empty());
    const auto& one = states.hosts.at(0).interfaces.at(0);
    CHECK((one.addresses.empty() && one.neighbours.empty() && one.paths.empty()));
    CHECK((one.driver_groups && one.driver_groups->empty()));
}

TEST_CASE("Host state: a value that cannot be is left out alone, and told") {
    const auto value = [](const std::string& old, const std::string& instead, auto member) {
        const auto states = parse_host_states(with(old, instead), "x.json");
        REQUIRE(states.hosts.size() == 1);
        CHECK_THAT(listed_notes(states),
                   ContainsSubstring("x.json, host node7: interfaces[0].") && ContainsSubstring(": left out"));
        const auto& one = states.hosts[0].interfaces.at(0);
        CHECK(one.qpn == 0x208);
        CHECK_FALSE(member(one));
    };
    value(R"("mtu":2044)", R"("mtu":2044.0)", [](const Interface& one) { return one.mtu != 0; });
    value(R"("arp_ignore":0)", R"("arp_ignore":-1)", [](const Interface& one) { return one.arp_ignore.has_value(); });
    value("10.1.0.1/24", "10.1.0.1/99", [](const Interface& one) { return one.are_addresses_told; });
    // Of a table with an entry that is none, nobody knows what it lacks.
    value(R"("p_keys":["0xffff")", R"("p_keys":["x")",
          [](const Interface& one) { return one.port->p_keys.has_value(); });
    value(R"("port":{"number":1)", R"("port":7,"more":{"number":1)",
          [](const Interface& one) { return one.port.has_value(); });
}

TEST_CASE("Host state: objects as jq prints them, one behind the other, are read like lines") {
    const auto printed = [](const std::string& host) {
        auto text = state_with(interface, host);
        for (std::size_t at = 0; (at = text.find(",\"", at)) != std::string::npos;) text.replace(at, 1, ",\n  ");
        return "{\n  " + text.substr(1, text.size() - 2) + "\n}\n";
    };
    // What was cut takes nothing with it that follows.
    const auto cut = printed("c").substr(0, printed("c").find("kernel") - 3);
    const auto states =
        parse_host_states(printed("a") + state_with(interface, "b") + "\r\n" + printed("d") + "{\n \"x\": ]\n}\n" +
                              cut + printed("e") + cut + state_with(interface, "f") + '\n' + cut,
                          "x.json");
    std::vector<std::string> hosts;
    for (const auto& one : states.hosts) hosts.push_back(one.host);
    CHECK(hosts == std::vector<std::string>{"a", "b", "d", "e", "f"});
    const auto lines = std::ranges::count(printed("a"), '\n');
    CHECK(listed_notes(states).starts_with("x.json, lines " + std::to_string(2 * lines + 2) + " to " +
                                           std::to_string(2 * lines + 4) + ": this is no object"));
    CHECK(listed_notes(states).find("(and 3 more such lines)") != std::string::npos);
}

TEST_CASE("Host state: behind each brace that is never closed is looked once", "[size]") {
    std::string open;
    for (int i = 0; i < 300'000; ++i) open += "{\n";
    CHECK(refusal(open).find("300000") == std::string::npos);
    CHECK(refusal(open).find("299999 more such lines") != std::string::npos);
}

TEST_CASE("Host state: a text that is no UTF-8 takes nothing with it") {
    const auto told = parse_host_states(with("ib_ipoib", "caf\xe9 \xc3"), "x.json");
    REQUIRE(told.hosts.size() == 1);
    CHECK(told.hosts.front().interfaces.front().mtu == 2044);
    CHECK(listed_notes(told).empty());
}

TEST_CASE("Host state: a bond has the addresses, a VRF has not") {
    const auto enslaved = [](const std::string& kind) {
        return parse_host_states(with(R"("mtu":2044)", R"("mtu":2044,"master":"m0")" + kind), "x.json")
            .hosts.front()
            .interfaces.front();
    };
    CHECK(enslaved("").master == "m0");
    CHECK(enslaved(R"(,"master_kind":"bond")").master == "m0");
    CHECK(enslaved(R"(,"master_kind":"vrf")").master.empty());
    CHECK(enslaved(R"(,"master_kind":"vrf")").vrf == "m0");
}

TEST_CASE("Host state: names in front of lines, and hosts without an interface, are told") {
    CHECK(refusal("n1: " + state_with(interface)).find("begins with the name of a host; pdsh -N") != std::string::npos);
    CHECK(refusal(R"({"format":"ipoib-host-state/1","host":"n1","interfaces":null})") ==
          "x.json, host n1: tells of no interface\n");
}

TEST_CASE("Host state: lines and files that are no states are skipped, and named") {
    const auto lines = parse_host_states(
        state_with(interface, "a") + "\nbash: not found\n{}\n" + state_with(interface, "b"), "x.json");
    CHECK(lines.hosts.size() == 2);
    CHECK(listed_notes(lines) ==
          "x.json, line 2: this is no object of JSON that ipoib-dut-linux state writes (and 1 more such lines): "
          "skipped\n");
    TemporaryFolder folder;
    std::vector<std::string> files;
    for (int i = 0; i < 100; ++i) {
        files.push_back((folder.path() / ("state-" + std::to_string(i))).string());
        std::ofstream{files.back()};
    }
    CHECK_THROWS_AS(read_host_states(files), std::runtime_error);
    std::ofstream(files[50]) << state_with(interface);
    const auto states = read_host_states(files);
    CHECK(states.hosts.size() == 1);
    const auto notes = states.notes.told();
    REQUIRE(notes.size() == Notes::most + 1);
    CHECK(notes[0] == files[0] + ": the file is empty: skipped");
    CHECK(notes.back() == "and 79 more such notes of host states");
}

TEST_CASE("Host state: what is wrong is told with its place") {
    const auto tells = [](const std::string& text, const std::string& words) {
        CHECK_THAT(refusal(text), ContainsSubstring("x.json") && ContainsSubstring(words));
    };
    tells("", "the file is empty");
    tells("[]", "line 1: this is no object");
    tells("{", "line 1: this is no object");
    tells(state_with(interface) + "\nnothing", "line 2: this is no object");
    tells(std::string(100, '[') + "\n", "no object");
    tells(state_with(interface).substr(0, 200), "no object");
    tells(std::string("{\0}", 3), "no object");
    tells("{}", "format is not \"ipoib-host-state/1\"");
    tells(R"({"format":"ipoib-host-state/1"})", "host is missing");
    tells(R"({"format":"ipoib-host-state/1","host":5})", "host is no text: 5");
    tells(R"({"format":"ipoib-host-state/1","host":"a","time":"yesterday"})", "time is no time in UTC");
    tells(R"({"format":"ipoib-host-state/1","host":"a","time":"2026-13-01T00:00:00Z"})", "time is no time in UTC");
    tells(R"({"format":"ipoib-host-state/1","host":"a","interfaces":{}})", "interfaces is no array");
    tells(state_with("7"), "interfaces[0] is no object: 7");
    tells(state_with("{}"), "interfaces[0].name is missing");
    tells(with(R"("mtu":2044)", R"("mtu":-1)"), "interfaces[0].mtu is no number up to 65535: -1");
    tells(with(R"("mtu":2044)", R"("mtu":99999999999999999999)"), "interfaces[0].mtu is no number");
    tells(with(R"("p_key":"0x8001")", R"("p_key":"0x18001")"), "interfaces[0].p_key is no number");
    tells(with(R"("up":true)", R"("up":"yes")"), "interfaces[0].up is neither true nor false");
    tells(with("80:00:02:08:fe:80", "80:00:02:08:fe"), "interfaces[0].link_address is no link-layer address of IPoIB");
    tells(with("10.1.0.1/24", "10.1.0.1/33"), "interfaces[0].addresses[0].address is no address with the length");
    tells(with(R"("address":"10.1.0.2",)", R"("address":5,)"),
          "interfaces[0].neighbours[0].address is no IP address: 5");
    tells(with("ff12:401b:8001:0:0:0:ffff:ffff", "all"), "interfaces[0].mcg[0].mgid is no GID: \"all\"");
    tells(with(R"("dlid":4)", R"("dlid":65536)"), "interfaces[0].paths[0].dlid is no number up to 65535");
    tells(with(R"("p_keys":["0xffff")", R"("p_keys":["x")"), "interfaces[0].port.p_keys[0] is no P_Key");
    tells(with(R"("port":{"number":1)", R"("port":[{"number":1)").substr(0, 1900), "no object");
    // Nothing of it obeys a terminal.
    CHECK(refusal(with("10.1.0.1/24", "\\u001b[31m")).find('\x1b') == std::string::npos);
}

TEST_CASE("Host state: the later state of one interface is kept") {
    TemporaryFolder folder;
    const auto early = folder.path() / "early", late = folder.path() / "late";
    auto later = with(R"("mtu":2044)", R"("mtu":4092)");
    later.replace(later.find("T10:00"), 6, "T11:00");
    std::ofstream(early) << state_with(interface);
    std::ofstream(late) << later;
    for (const auto& files : {std::vector{early.string(), late.string()}, {late.string(), early.string()}}) {
        const auto states = read_host_states(files);
        CHECK(listed_notes(states) == "1 state of interfaces that another state tells of later: left out\n");
        std::vector<unsigned> mtus;
        for (const auto& one : states.hosts)
            for (const auto& interface_of : one.interfaces) mtus.push_back(interface_of.mtu);
        CHECK(mtus == std::vector<unsigned>{4092});
    }
    CHECK_THROWS_AS(read_host_states({(folder.path() / "none").string()}), std::runtime_error);
    CHECK_THROWS_AS(read_host_states({"-"}), std::runtime_error);
}
