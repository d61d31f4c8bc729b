// SPDX-License-Identifier: GPL-2.0-or-later
// Asking the simulated administrator, with stacks on the fabric that map well or wrongly.
#include "conformance/audit/audit.hpp"
#include "conformance/target/simulated_dut.hpp"
#include "conformance/target/simulated_target.hpp"
#include "protocol/wire/link_record.hpp"
#include "protocol/wire/node_record.hpp"
#include "protocol/wire/p_key_table_record.hpp"
#include "protocol/wire/packet.hpp"
#include "protocol/wire/path_record.hpp"
#include "protocol/wire/switch_info_record.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>
#include <catch2.hpp>
#include <set>

using namespace ipoib;
using namespace ipoib::audit;
using namespace ipoib::wire;
using namespace std::chrono_literals;
using conformance::Target;
using reports::Verdict;

namespace {

using Ids = std::set<std::string>;

/// A stack that is up and has joined groups, and what an administrator that is asked says of it.
struct Asked {
    explicit Asked(const Target& target, bool is_trusted = true)
        : options(conformance::simulated_options(target, 1, fabric::Loop::Clock::virtual_time)),
          fabric(options),
          dut(fabric, options.scenario->dut_guid, conformance::mutant_named(target.dut, "mutant:")) {
        do_it(R"({"id":1,"do":"up"})");
        do_it(R"({"id":2,"do":"add_address","address":"10.1.0.9/24"})");
        // What an administrator refuses, it does not hold.
        (void)dut.control().ask(R"({"id":3,"do":"join","group":"239.192.168.1"})", 60s);
        (void)dut.control().ask(R"({"id":4,"do":"join","group":"ff05::1:3"})", 60s);
        (void)fabric.loop().run_until([] { return false; }, fabric.loop().now() + 5s);
        fabric.observe([&](const fabric::Sighting& sighting) {
            if (sighting.sender == fabric::Sender::tester) note(sighting.octets);
        });
        inventory = survey(*fabric.ports().front(), is_trusted, 1s, {});
    }
    void do_it(const std::string& request) {
        const auto reply = dut.control().ask(request, 60s);
        CAPTURE(request, reply.line);
        REQUIRE(reply.line.find("\"ok\"") != std::string::npos);
    }
    void note(Octets frame) {
        Packet packet;
        decode(frame, packet);
        REQUIRE(packet.mad);
        if (packet.mad[Mad::mgmt_class] == MgmtClass::subn_adm)
            methods.insert(packet.mad[Mad::method]);
        else
            ++others;
    }
    [[nodiscard]] Ids wrong() const {
        Ids ids;
        for (const auto& result : judge(inventory, selected_rules({})).results)
            if (result.verdict == Verdict::fail || result.verdict == Verdict::inconc) ids.insert(result.id);
        return ids;
    }

    fabric::SimulatedOptions options;
    fabric::SimulatedFabric fabric;
    conformance::SimulatedDut dut;
    std::set<Method> methods;
    std::size_t others = 0;
    Inventory inventory;
};

}  // namespace

TEST_CASE("Survey: nothing but Get and GetTable leaves the port") {
    for (const bool is_trusted : {true, false}) {
        const Asked asked{{}, is_trusted};
        CHECK(asked.methods == std::set{Method::get, Method::get_table});
        CHECK(asked.others == 0);
    }
}

TEST_CASE("Survey: the reference stack's groups have nothing against them, on every kind of link") {
    for (const auto& scenario : fabric::scenarios()) {
        CAPTURE(scenario.name);
        const Asked asked{{.scenario = std::string(scenario.name)}};
        CHECK(asked.wrong() == Ids{});
        CHECK(asked.inventory.groups.size() > 3);
        CHECK(asked.inventory.doubt.empty());
        CHECK(asked.inventory.notes.empty());
        REQUIRE(asked.inventory.ports.size() == 1);
        const auto& port = asked.inventory.ports.front();
        CHECK(port.gid.interface_id() == asked.options.scenario->dut_guid);
        CHECK(port.lid != 0);
        CHECK(port.mtu >= 4);
        CHECK(port.rate != 0);
        CHECK_FALSE(port.node_description.empty());
        REQUIRE(port.p_keys);
        CHECK(std::ranges::find(*port.p_keys, asked.inventory.groups.front().parameters.p_key) != port.p_keys->end());
    }
}

TEST_CASE("Survey: groups of a stack that maps wrongly are found") {
    const auto wrong = [](const char* mutant) { return Asked{{.dut = std::string("mutant:") + mutant}}.wrong(); };
    CHECK(wrong("maps-32-bits") == Ids{"RULE-RFC4391-4-08-audit"});
    CHECK(wrong("mgid-not-transient") == Ids{"RULE-RFC4391-4-02-audit"});
    CHECK(wrong("creates-with-small-mtu") == Ids{"RULE-RFC4391-10-16-audit"});
    // A good administrator has refused this; then there is nothing to be found.
    CHECK(wrong("mgid-limited-pkey") == Ids{});
}

namespace {

using M = McMemberRecord;

/// A port whose SA names members only to those with the key, and answers that as the test wants.
struct StubbornPort : fabric::Port {
    [[nodiscard]] fabric::PortFacts facts() const override { return {.sm_lid = 1, .p_keys = {0xffff}}; }
    std::string send(Octets) override { return "no"; }
    std::string attach(const Gid&, std::uint16_t) override { return "no"; }
    void detach(const Gid&, std::uint16_t) override {}
    void set_q_key(std::uint32_t) override {}
    void on_datagram(std::function<void(Octets)>) override {}
    void on_report(std::function<void(View<Notice>)>) override {}
    fabric::SaAnswer ask_sa(const fabric::SaRequest& request, fabric::Duration) override {
        ++questions;
        if (request.attribute != attribute::mc_member_record)
            return {.is_answered = true, .method = Method::get_resp, .status = sa_status::no_records};
        if (!request.is_trusted) return table({group(broadcast, {}), group(other, {})});
        const bool is_of_one = request.component_mask != 0;
        if (!is_of_one) return whole;
        const auto mgid = View<M>::at(request.record)[M::mgid];
        return mgid == broadcast ? of_broadcast : table({group(other, member)});
    }
    static Bytes<M> group(const Gid& mgid, const Gid& port) {
        return Bytes<M>{}
            .set(M::mgid, mgid)
            .set(M::port_gid, port)
            .set(M::join_state, 1)
            .set(M::p_key, 0xffff)
            .set(M::mlid, 0xc001);
    }
    static fabric::SaAnswer table(const std::vector<Bytes<M>>& records) {
        fabric::SaAnswer answer{.is_answered = true, .method = Method::get_table_resp, .status = 0, .data = {}};
        for (const auto& record : records) {
            answer.data.insert(answer.data.end(), record.octets.begin(), record.octets.end());
            answer.data.resize((answer.data.size() + 7) / 8 * 8);
        }
        answer.record_size = (M::size + 7) / 8 * 8;
        return answer;
    }
    static fabric::SaAnswer refused() {
        return {.is_answered = true, .method = Method::get_table_resp, .status = sa_status::no_resources};
    }
    static constexpr Gid broadcast = broadcast_gid(0xffff, 2), other = mgid_for_ipv4(0xe0000001, 0xffff, 2),
                         member = Gid::of(0xfe80ull << 48, 7);
    fabric::SaAnswer whole = refused(), of_broadcast = table({group(broadcast, member)});
    unsigned questions = 0;
};

Ids failed(StubbornPort& port) {
    Ids ids;
    for (const auto& result : judge(survey(port, true, 1s, {}), selected_rules({})).results)
        if (result.verdict == Verdict::fail) ids.insert(result.id);
    return ids;
}

}  // namespace

TEST_CASE("Survey: where the table of all members is refused, each group is asked about") {
    StubbornPort port;
    CHECK(failed(port) == Ids{});
    // Nobody in the broadcast group, as far as is told.
    port.of_broadcast = {.is_answered = true, .method = Method::get_table_resp, .status = sa_status::no_records};
    CHECK(failed(port) == Ids{"RULE-RFC4391-5-02-audit"});
    // That a question is refused says nothing of members.
    port.of_broadcast = StubbornPort::refused();
    CHECK(failed(port) == Ids{});
    const auto told = survey(port, true, 1s, {});
    REQUIRE_FALSE(told.notes.empty());
    CHECK_THAT(told.notes.front(), ContainsSubstring("of 1 groups not all members are told"));
}

TEST_CASE("Survey: a question that is not answered ends it") {
    StubbornPort port;
    port.of_broadcast = {};
    CHECK_THROWS_WITH(survey(port, true, 1s, {}), ContainsSubstring("does not answer a question about MCMemberRecord"));
    port.whole = {};
    port.questions = 0;
    CHECK_THROWS_WITH(survey(port, true, 1s, {}), ContainsSubstring("with the SM_Key; is it the right one?"));
    CHECK(port.questions == 2);
}

TEST_CASE("Survey: a group that nobody is in is in no table of members") {
    StubbornPort port;
    port.whole = StubbornPort::table({StubbornPort::group(StubbornPort::other, StubbornPort::member)});
    CHECK(failed(port) == Ids{"RULE-RFC4391-5-02-audit"});
}

namespace {

/// An administrator of as many members of one link as the test wants, each at a port of its own.
struct PaperPort : StubbornPort {
    explicit PaperPort(unsigned members) {
        std::vector<Bytes<M>> records;
        for (unsigned i = 1; i <= members; ++i) records.push_back(group(broadcast, gid(i)));
        whole = table(records);
    }
    static Gid gid(unsigned n) { return Gid::of(0xfe80ull << 48, n); }
    template <class Record>
    static fabric::SaAnswer one(const Bytes<Record>& record) {
        fabric::SaAnswer answer{.is_answered = true, .method = Method::get_resp, .status = 0, .data = {}};
        answer.data.assign(record.octets.begin(), record.octets.end());
        answer.data.resize((answer.data.size() + 7) / 8 * 8);
        answer.record_size = answer.data.size();
        return answer;
    }
    static fabric::SaAnswer none() {
        return {.is_answered = true, .method = Method::get_resp, .status = sa_status::no_records};
    }
    fabric::SaAnswer node(const fabric::SaRequest& request) {
        const auto asked = node_info(View<NodeRecord>::at(request.record));
        if ((request.component_mask & NodeRecord::component::node_type) != 0) return has_router ? one_node(99) : none();
        const auto n = static_cast<unsigned>(asked[NodeInfo::port_guid]);
        return n == gone ? none() : one_node(n);
    }
    static fabric::SaAnswer one_node(unsigned n) {
        const auto info = Bytes<NodeInfo>{}
                              .set(NodeInfo::node_type, NodeInfo::channel_adapter)
                              .set(NodeInfo::port_guid, n)
                              .set(NodeInfo::local_port_num, 1);
        return one(Bytes<NodeRecord>{}
                       .set(NodeRecord::lid, static_cast<std::uint16_t>(n))
                       .set(NodeRecord::node_info, info.octets));
    }
    fabric::SaAnswer path(const fabric::SaRequest& request) {
        ++paths;
        const auto asked = View<PathRecord>::at(request.record);
        const bool is_cut = asked[PathRecord::sgid] == gid(1) && asked[PathRecord::dgid] == gid(2);
        if (is_cut && breaks_path) {
            if (leaves) gone = 2;
            return none();
        }
        return one(Bytes<PathRecord>{}.set(PathRecord::dlid, 1));
    }
    fabric::SaAnswer ask_sa(const fabric::SaRequest& request, fabric::Duration patience) override {
        switch (request.attribute) {
            case attribute::node_record:
                return node(request);
            case attribute::path_record:
                return path(request);
            case attribute::p_key_table_record: {
                const auto n = View<PKeyTableRecord>::at(request.record)[PKeyTableRecord::lid];
                OctetArray<64> keys{0xff, 0xff};
                if (n <= limited) keys[0] = 0x7f;
                return one(Bytes<PKeyTableRecord>{}.set(PKeyTableRecord::p_keys, keys));
            }
            case attribute::link_record:
                ++links;
                if (is_silent_of_links) return {};
                return one(Bytes<LinkRecord>{}.set(LinkRecord::to_lid, 500));
            case attribute::switch_info_record: {
                const auto info = Bytes<SwitchInfo>{}.set(SwitchInfo::multicast_cap, multicast_cap);
                return one(Bytes<SwitchInfoRecord>{}
                               .set(SwitchInfoRecord::lid, 500)
                               .set(SwitchInfoRecord::switch_info, info.octets));
            }
            default:
                return StubbornPort::ask_sa(request, patience);
        }
    }
    bool has_router = false, breaks_path = false, leaves = false, is_silent_of_links = false;
    unsigned gone = 0, limited = 0, paths = 0, links = 0;
    std::uint16_t multicast_cap = 1024;
};

}  // namespace

TEST_CASE("Survey: paths between all members, both ways, routers, and the switches at their links") {
    PaperPort port{3};
    auto told = survey(port, true, 1s, {});
    CHECK(told.paths.size() == 6);
    CHECK(std::ranges::all_of(told.paths, &AskedPath::has_path));
    CHECK(told.has_router == false);
    REQUIRE(told.ports.size() == 3);
    CHECK(told.ports[0].switch_groups == 1024);
    CHECK(failed(port) == Ids{});
    port.has_router = true;
    CHECK(survey(port, true, 1s, {}).has_router == true);
    port.multicast_cap = 0;
    CHECK(failed(port) == Ids{"RULE-UDMC-10-audit"});
    port.multicast_cap = 1;
    port.breaks_path = true;
    CHECK(failed(port) == Ids{"RULE-RFC4391-9.1.2-02-audit"});
}

TEST_CASE("False alarm: a port that has gone since, and two limited members, have no path") {
    PaperPort port{3};
    port.breaks_path = port.leaves = true;
    CHECK(failed(port) == Ids{});
    PaperPort apart{3};
    apart.breaks_path = true;
    apart.limited = 2;
    CHECK(survey(apart, true, 1s, {}).paths.size() == 4);
    CHECK(failed(apart) == Ids{});
}

TEST_CASE("Survey: who does not tell of links is asked about them once") {
    PaperPort port{3};
    port.is_silent_of_links = true;
    const auto told = survey(port, true, 1s, {});
    CHECK(port.links == 1);
    CHECK_FALSE(told.ports[0].switch_groups);
    CHECK(failed(port) == Ids{});
}

TEST_CASE("Survey: of very many paths some are asked for, and the rest is told") {
    PaperPort port{60};
    const auto told = survey(port, true, 1s, {});
    CHECK(port.paths == most_paths);
    REQUIRE(told.notes.size() == 1);
    CHECK_THAT(told.notes.front(), ContainsSubstring("of 3540 paths") && ContainsSubstring("only 2000 were asked for"));
    // Each member is asked about as often as any other.
    CHECK(std::ranges::count(told.paths, PaperPort::gid(1), &AskedPath::from) >= 33);
}
