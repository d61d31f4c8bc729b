// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/engine/tester.hpp"

#include "catch2.hpp"

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
        const auto mgid = View<McMemberRecord>::at(request.record)[McMemberRecord::mgid];
        if (request.method == Method::set) members.push_back(mgid);
        if (request.method == Method::del) std::erase(members, mgid);
        if (is_silent) return {};
        return {.is_answered = true, .method = Method::get_resp, .status = 0, .data = request.record};
    }
    bool is_shared = false, is_silent = false;
    std::vector<Gid> members;
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
    CHECK(port.members.size() == 2);
    CHECK(std::ranges::find(port.members, group) == port.members.end());
}

}  // namespace
}  // namespace ipoib::conformance
