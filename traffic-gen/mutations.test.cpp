// SPDX-License-Identifier: GPL-2.0-or-later
// The judge finds in each mutation what it declares, and in nothing else anything.
#include "catch2.hpp"
#include "conformance/engine/judge.hpp"
#include "protocol/build/samples.hpp"
#include "protocol/rules/rule.hpp"
#include "traffic-gen/mutation.hpp"
#include "traffic-gen/profile.hpp"

#include <algorithm>
#include <set>

namespace ipoib::traffic {
namespace {

using Ids = std::set<std::string>;

/// What was found in a run.
struct Found {
    Ids broken;   ///< requirements, with all that follows from them
    Ids checked;  ///< those alone that the broken rules check themselves
};

/// Judges frames as if they had been captured.
class Judging : public Sink {
public:
    bool take(Time time, const Sender&, wire::Octets frame) override {
        judge_.frame({.number = ++number_,
                      .time_ns = time.count() + 1,
                      .link_type = capture::LinkType::infiniband,
                      .octets = frame,
                      .wire_length = static_cast<std::uint32_t>(frame.size())});
        return true;
    }
    [[nodiscard]] Found found() const {
        Found found;
        for (const auto& result : judge_.results()) {
            if (result.verdict != reports::Verdict::fail && result.verdict != reports::Verdict::warn) continue;
            for (const auto& id : result.checks) {
                add(found.broken, *requirements::find(id));
                found.checked.insert(id);
            }
        }
        return found;
    }
    static void add(Ids& ids, const requirements::Requirement& requirement) {
        for (const auto id : requirements::closure(requirement)) ids.emplace(id);
    }
    [[nodiscard]] std::uint64_t frames() const noexcept { return number_; }

private:
    conformance::Judge judge_{rules::every(), 0};
    std::uint64_t number_ = 0;
};

Found judged(const Profile& profile, const build::Link& link, void (*change)(build::PacketBuilder&) = nullptr,
             std::string_view rate = "1000") {
    Scene scene{{.hosts = 4, .groups = 3, .partitions = 2, .link = link}};
    Judging sink;
    Stage stage{scene, {.count = 400, .rate = Rate{rate}}, sink};
    stage.mutate_by(change);
    play(profile, stage);
    CHECK(sink.frames() >= 400);
    return sink.found();
}

/// With its mutation, on a link where no right value is a usual default.
Found judged(const Mutation& mutation) {
    const auto* profile = find_profile(mutation.profile);
    REQUIRE(profile);
    return judged(*profile, build::samples::controlled(), mutation.change);
}

struct Exception {
    const requirements::Requirement* requirement;
    std::string_view reason;
};
/// Requirements that no packet can break, although a rule checks them: it notes what it sees.
const Exception exceptions[] = {
    {&rfc4391::broadcast_gid_default_scope, "a default is no limit: another scope may be configured"},
    {&rfc4391::grh_optional_on_unicast, "it is allowed to have a GRH, and to have none"},
    {&rfc4391::default_mtu_2044, "what is smaller may be sent; only a large datagram shows that it can be"},
    {&rfc4391::iid_from_guid, "it is allowed to take another identifier"},
    {&rfc4391::iid_from_lid, "it is allowed to take another identifier"},
    {&rfc4391::link_local_from_guid, "RFC 8064 asks for opaque identifiers instead"},
    {&rfc4391::qpn_choice, "it is allowed to choose any"},
    {&rfc4391::router_lists_groups, "a router is known as one by having asked for the list"},
    {&rfc4392::pure_sender_join_state, "each state that it may choose is right"},
    {&rfc4755::cm_flags, "the other bits of the octet are another requirement's"},
    {&rfc4755::cm_flags_both, "it is allowed to support one of the two modes"},
    {&rfc4755::cm_default_mtu, "peers may agree on more, and send less"},
};

bool can_fail(const rules::Rule& rule) { return rule.holds || rule.duty; }

bool is_exception(const requirements::Requirement& requirement) {
    return std::any_of(std::begin(exceptions), std::end(exceptions),
                       [&](const Exception& one) { return one.requirement == &requirement; });
}

}  // namespace

TEST_CASE("Profiles: nothing is wrong with what they send") {
    for (const auto* profile : all_profiles()) {
        CAPTURE(std::string(profile->name));
        if (profile->name == "replay" || profile->name == "malformed") continue;
        CHECK(judged(*profile, build::samples::controlled()).broken == Ids{});
        const Ids usual{"RFC4391-4.1-02", "RFC4391-13-02"};  // an ordinary Q_Key
        for (const auto& id : judged(*profile, {}).broken) CHECK(usual.contains(id));
    }
}

TEST_CASE("Profiles: nothing is missing after a while, either") {
    for (const auto* profile : all_profiles()) {
        if (profile->name == "replay" || profile->name == "malformed") continue;
        CAPTURE(std::string(profile->name));
        CHECK(judged(*profile, build::samples::controlled(), nullptr, "3.3").broken == Ids{});
    }
}

TEST_CASE("Mutations: each breaks what it declares, and nothing else") {
    CHECK(all_mutations().size() >= 100);
    for (const auto* mutation : all_mutations()) {
        CAPTURE(std::string(mutation->name));
        Ids declared;
        for (const auto* requirement : mutation->breaks) Judging::add(declared, *requirement);
        CHECK(judged(*mutation).broken == declared);
    }
}

TEST_CASE("Mutations: there is one for every requirement that packets can break") {
    Ids broken;
    for (const auto* mutation : all_mutations()) broken.merge(judged(*mutation).checked);
    for (const auto& rule : rules::all())
        for (const auto* requirement : rule.checks) {
            if (!requirement) continue;
            CAPTURE(std::string(rule.id), std::string(requirement->id));
            CHECK(broken.contains(std::string(requirement->id)) != is_exception(*requirement));
        }
    for (const auto& [requirement, reason] : exceptions) {
        CAPTURE(std::string(requirement->id), std::string(reason));
        bool is_checked = false;
        for (const auto& rule : rules::all()) {
            if (rule.checks[0] != requirement && rule.checks[1] != requirement) continue;
            is_checked = true;
            CHECK_FALSE(can_fail(rule));
        }
        CHECK(is_checked);
    }
}

}  // namespace ipoib::traffic
