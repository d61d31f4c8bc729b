// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/bench/tester.hpp"

#include "catch2.hpp"
#include "protocol/wire/inform_info.hpp"
#include "temporary_folder.hpp"

#include <algorithm>

namespace ipoib::conformance {
namespace {

using namespace wire;
using namespace std::chrono_literals;

/// A port whose SA has one broadcast group and grants everything.
struct AgreeablePort : fabric::Port {
    [[nodiscard]] fabric::PortFacts facts() const override {
        return {.is_active = true,
                .lid = 3,
                .sm_lid = 1,
                .gid = Gid::of(std::uint64_t{0xfe80} << 48, 3),
                .p_keys = {0xffff},
                .is_shared = is_shared};
    }
    std::string send(Octets) override { return "no way for data"; }
    std::string attach(const Gid&, std::uint16_t) override { return "no queue pair"; }
    void detach(const Gid&, std::uint16_t) override {}
    void set_q_key(std::uint32_t) override {}
    void on_datagram(std::function<void(Octets)>) override {}
    void on_report(std::function<void(View<Notice>)>) override {}
    fabric::SaAnswer ask_sa(const fabric::SaRequest& request, fabric::Duration) override {
        if (request.attribute != attribute::mc_member_record)
            return {.is_answered = true, .method = Method::get_resp, .status = 0, .data = request.record};
        const auto mgid = View<McMemberRecord>::at(request.record)[McMemberRecord::mgid];
        const bool is_broadcast = mgid == broadcast_gid(0xffff, 2);
        const bool exists = is_broadcast || std::ranges::find(others, mgid) != others.end();
        if (request.method == Method::get_table && !is_silent && !exists)
            return {.is_answered = true, .method = Method::get_table_resp, .status = sa_status::no_records};
        if (request.method == Method::get_table && request.is_trusted && is_trusting && !is_silent)
            return told_of(mgid);
        if (request.method == Method::set && refuses)
            return {.is_answered = true, .method = Method::get_resp, .status = sa_status::invalid_request};
        if (request.method == Method::set && request.attribute == attribute::mc_member_record) members.push_back(mgid);
        if (request.method == Method::del) std::erase(members, mgid);
        if (is_silent) return {};
        return {.is_answered = true, .method = Method::get_resp, .status = 0, .data = request.record};
    }
    /// The tester's port, if it is a member, or a stranger.
    [[nodiscard]] fabric::SaAnswer told_of(const Gid& mgid) const {
        const bool is_member = std::ranges::find(members, mgid) != members.end();
        const auto record = Bytes<McMemberRecord>{}
                                .set(McMemberRecord::mgid, mgid)
                                .set(McMemberRecord::port_gid, is_member ? facts().gid : Gid::of(1, 2))
                                .set(McMemberRecord::join_state, 1);
        return {.is_answered = true,
                .method = Method::get_table_resp,
                .status = 0,
                .data = {record.octets.begin(), record.octets.end()},
                .record_size = McMemberRecord::size};
    }
    bool is_shared = false, is_silent = false, refuses = false, is_trusting = false;
    std::vector<Gid> members, others;  ///< groups: with the tester, with others
};

constexpr Gid group = Gid::of(0xff15401bffff0000, 0xf411010);

TEST_CASE("Tester: leaves what it joined, also where nothing could be attached") {
    AgreeablePort port;
    Tester tester{port};
    REQUIRE(tester.enter_link(1s).empty());
    CHECK(tester.join(group, 1).is_ok());
    CHECK(port.members.size() == 3);
    tester.leave_groups();
    CHECK(port.members.size() == 2);
    CHECK(port.members.front() == broadcast_gid(0xffff, 2));
    tester.leave_all();
    CHECK(port.members.empty());
}

TEST_CASE("Tester: leaves what it asked to join, also where it heard no answer") {
    AgreeablePort port;
    Tester tester{port};
    REQUIRE(tester.enter_link(1s).empty());
    port.is_silent = true;
    CHECK_FALSE(tester.join(group, 1).is_answered);
    CHECK(port.members.size() == 3);
    tester.leave_groups();
    CHECK(port.members.size() == 2);
}

TEST_CASE("Tester: leaves the host its memberships where it uses the port too") {
    AgreeablePort port;
    port.is_shared = true;
    Tester tester{port};
    REQUIRE(tester.enter_link(1s).empty());
    CHECK(tester.join(group, 1).is_ok());
    CHECK(tester.keeps(broadcast_gid(0xffff, 2)));
    CHECK_FALSE(tester.keeps(group));
    tester.leave_all();
    // Its solicited-node group is not that of the host's interface.
    CHECK(port.members == std::vector<Gid>{broadcast_gid(0xffff, 2)});
}

TEST_CASE("Tester: a group that may have the host in it already is not left, one of its own range is") {
    AgreeablePort port;
    port.is_shared = true;
    port.others = {group};
    Tester stranger{port};
    REQUIRE(stranger.enter_link(1s).empty());
    CHECK(stranger.join(group, 1).is_ok());
    CHECK(stranger.keeps(group));
    stranger.leave_all();
    CHECK(std::ranges::find(port.members, group) != port.members.end());

    port.members.clear();
    Tester tester{port, 0, {.is_of_run = [](const Gid& mgid) { return mgid == group; }}};
    REQUIRE(tester.enter_link(1s).empty());
    CHECK(tester.join(group, 1).is_ok());
    tester.leave_all();
    CHECK(port.members == std::vector<Gid>{broadcast_gid(0xffff, 2)});
}

TEST_CASE("Tester: where the SA tells of members, what the host does not hold is left") {
    AgreeablePort port;
    port.is_shared = port.is_trusting = true;
    port.others = {group};
    {
        Tester tester{port, 0, {.is_trusted = true}};
        REQUIRE(tester.enter_link(1s).empty());
        CHECK(tester.join(group, 1).is_ok());
        CHECK_FALSE(tester.keeps(group));
        tester.leave_all();
        CHECK(port.members.empty());
    }
    port.members = {group};
    Tester tester{port, 0, {.is_trusted = true}};
    REQUIRE(tester.enter_link(1s).empty());
    CHECK(tester.join(group, 1).is_ok());
    CHECK(tester.keeps(group));
    tester.leave_all();
    CHECK(std::ranges::find(port.members, group) != port.members.end());
}

TEST_CASE("Tester: beside a host it joins no group of which it was not told whether the host is in it") {
    AgreeablePort port;
    port.is_shared = port.is_trusting = true;
    Tester tester{port, 0, {.is_trusted = true}};
    REQUIRE(tester.enter_link(1s).empty());
    const auto before = port.members;
    // An interrupt ends the waiting for this answer; the SA would still grant what is asked then, and nobody would
    // know whose membership it is.
    port.is_silent = true;
    CHECK_FALSE(tester.join(group, 1).is_answered);
    CHECK(port.members == before);
    CHECK_FALSE(tester.keeps(group));
    port.is_silent = false;
    CHECK(tester.join(group, 1).is_ok());
    tester.leave_all();
    CHECK(std::ranges::find(port.members, group) == port.members.end());
}

TEST_CASE("Tester: what a run that was killed held is ended by the next one") {
    const TemporaryFolder directory;
    AgreeablePort port;
    std::size_t held = 0;
    {
        Journal journal{directory / "journals", "port"};
        Tester tester{port, 0, {.journal = &journal, .is_of_run = {}}};
        REQUIRE(tester.enter_link(1s).empty());
        CHECK(tester.join(group, 1).is_ok());
        auto inform = Bytes<InformInfo>{}.set(InformInfo::subscribe, 1).set(InformInfo::trap_number, 66);
        CHECK(tester
                  .ask({.method = Method::set,
                        .attribute = attribute::inform_info,
                        .record = {inform.octets.begin(), inform.octets.end()}})
                  .is_ok());
        held = journal.entries().size();
    }
    CHECK(held == 4);
    CHECK(port.members.size() == 3);
    Journal journal{directory / "journals", "port"};
    Tester tester{port, 0, {.journal = &journal, .is_of_run = {}}};
    CHECK(tester.end_what_was_left() == 4);
    CHECK(port.members.empty());
    CHECK(journal.entries().empty());
}

TEST_CASE("Tester: the journal has what is held, whatever was refused") {
    const TemporaryFolder directory;
    AgreeablePort port;
    Journal journal{directory / "journals", "port"};
    Tester tester{port, 0, {.journal = &journal, .is_of_run = {}}};
    REQUIRE(tester.enter_link(1s).empty());
    const auto before = journal.entries().size();
    CHECK(tester.join(group, 0).is_ok());
    CHECK(journal.entries().size() == before);
    port.refuses = true;
    CHECK_FALSE(tester.join(group, 4).is_ok());
    CHECK(journal.entries().size() == before);
    port.refuses = false;
    CHECK(tester.join(group, 5).is_ok());
    port.refuses = true;
    CHECK_FALSE(tester.join(group, 5).is_ok());
    CHECK(journal.entries().size() == before + 1);
    CHECK(tester.leave(group, 4).is_ok());
    REQUIRE(journal.entries().size() == before + 1);
    CHECK(journal.entries().back().octets.back() == 1);
    CHECK(tester.leave(group, 1).is_ok());
    CHECK(journal.entries().size() == before);
}

}  // namespace
}  // namespace ipoib::conformance
