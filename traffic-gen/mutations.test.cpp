// SPDX-License-Identifier: GPL-2.0-or-later
// The judge finds in each mutation what it declares.
#include "catch2.hpp"
#include "protocol/build/samples.hpp"
#include "traffic-gen/mutation.hpp"
#include "traffic-gen/test_judge.hpp"

#include <algorithm>
#include <set>

namespace ipoib::traffic {
namespace {

/// With its mutation, on a link where no right value is a usual default.
Found judged(const Mutation& mutation) {
    const auto* profile = find_profile(mutation.profile);
    REQUIRE(profile);
    return judged(*profile, {.link = build::samples::controlled(), .change = mutation.change});
}

class Nowhere : public Sink {
public:
    bool take(Time, const Sender&, wire::Octets) override { return true; }
};

void played(const Profile& profile, void (*change)(build::PacketBuilder&)) {
    Scene scene{{.hosts = 3, .groups = 2, .partitions = 2, .link = build::samples::controlled()}};
    Nowhere sink;
    constexpr std::uint64_t enough = 100;
    Stage stage{scene, {.count = enough}, sink};
    stage.mutate_by(change);
    play(profile, stage);
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
    {&rfc4391::path_rate_before_data, "a sender may know the rate otherwise, as by the group's record"},
    {&rfc4392::pure_sender_join_state, "each state that it may choose is right"},
    {&rfc4755::cm_flags, "the other bits of the octet are another requirement's"},
    {&rfc4755::cm_flags_both, "it is allowed to support one of the two modes"},
    {&rfc4391::ipv4_resolved_by_arp, "who sends elsewhere may have been told so by hand"},
    {&rfc4391::ipv6_resolved_by_nd, "who sends elsewhere may have been told so by hand"},
};

bool can_fail(const rules::Rule& rule) { return rule.holds || rule.duty; }

bool is_exception(const requirements::Requirement& requirement) {
    return std::any_of(std::begin(exceptions), std::end(exceptions),
                       [&](const Exception& one) { return one.requirement == &requirement; });
}

}  // namespace

TEST_CASE("Mutations: each breaks what it declares, and nothing else") {
    CHECK(all_mutations().size() >= 100);
    for (const auto* mutation : all_mutations()) {
        CAPTURE(std::string(mutation->name));
        Ids declared;
        Ids unproven;
        for (const auto* requirement : mutation->unproven) unproven.emplace(requirement->id);
        for (const auto* requirement : mutation->breaks)
            if (!unproven.contains(std::string(requirement->id))) Found::add(declared, *requirement);
        const auto found = judged(*mutation);
        CHECK(found.broken == declared);
        CHECK(std::includes(found.unproven.begin(), found.unproven.end(), unproven.begin(), unproven.end()));
    }
}

TEST_CASE("Mutations: each can be made on any profile, and leaves alone what it is not about", "[breadth]") {
    for (const auto* profile : all_profiles()) {
        if (profile->name == "replay" || profile->name == "malformed") continue;
        for (const auto* mutation : all_mutations()) {
            CAPTURE(std::string(profile->name), std::string(mutation->name));
            CHECK_NOTHROW(played(*profile, mutation->change));
        }
    }
}

TEST_CASE("Mutations: there is one for every requirement that packets can break") {
    Ids broken;
    for (const auto* mutation : all_mutations()) {
        auto found = judged(*mutation);
        broken.merge(found.checked);
        for (const auto* requirement : mutation->unproven) broken.emplace(requirement->id);
    }
    // A sender that hears of its group's deletion is in no profile: the judge's stories have one.
    broken.emplace(rfc4392::deleted_group_mlid.id);
    // Nor are one that hears of its group's creation, limited members, REQs that cross, or a DHCP server: the stories
    // and the rules' own tests have them.
    for (const auto* requirement : {&rfc4391::fallback_ends_with_group, &rfc4392::limited_members_kept_apart,
                                    &rfc4755::cm_crossing_requests, &rfc4390::server_reply})
        broken.emplace(requirement->id);
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
