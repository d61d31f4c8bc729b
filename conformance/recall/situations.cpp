// SPDX-License-Identifier: GPL-2.0-or-later
// What happens in each world, and all of them.
#include "base/parallel.hpp"
#include "conformance/metamorphic/checksums.hpp"
#include "conformance/metamorphic/media.hpp"
#include "conformance/recall/at_rest.hpp"
#include "conformance/recall/life.hpp"
#include "protocol/build/samples.hpp"
#include "protocol/wire/medium.hpp"

#include <array>
#include <map>

namespace ipoib::recall {
namespace {

struct Situation {
    std::string_view name;
    void (*happens)(Life& life);
    bool is_connected = false, has_machine = false, has_router = false;
};

/// The second life of each goes another way.
constexpr std::array situations{
    Situation{"connection-anew", [](Life& life) { life.connection_is_made_anew(!life.is_second_life()); }, true},
    Situation{"group-anew", [](Life& life) { life.group_is_made_anew(); }},
    Situation{"ip-move", [](Life& life) { life.address_moves(1, 2); }},
    Situation{"leave-and-rejoin",
              [](Life& life) {
                  life.is_second_life() ? life.sender_leaves_and_rejoins() : life.listener_leaves_and_rejoins();
              }},
    Situation{"lid-change", [](Life& life) { life.lid_changes(1, !life.is_second_life()); }},
    Situation{"link-bounce", [](Life& life) { life.bounces(2, !life.is_second_life()); }},
    Situation{"machine-move", [](Life& life) { life.machine_moves(); }, false, true},
    Situation{"p-key-change", [](Life& life) { life.partition_changes(); }},
    Situation{"p-key-taken", [](Life& life) { life.p_key_is_taken(); }},
    Situation{"prefix-change", [](Life& life) { life.prefix_changes(); }},
    Situation{"router-failover", [](Life& life) { life.manager_fails_over(true, life.is_second_life()); }, false, false,
              true},
    Situation{"router-new-group", [](Life& life) { life.group_is_new_to_router(); }, false, false, true},
    Situation{"rest", [](Life& life) { life.goes_on(6); }},
    Situation{"restart", [](Life& life) { life.restarts(life.is_second_life() ? 2 : 1, life.is_second_life()); }},
    Situation{"sender-restart", [](Life& life) { life.restarts(0, life.is_second_life()); }},
    Situation{"sm-failover", [](Life& life) { life.manager_fails_over(true, !life.is_second_life()); }},
    Situation{"sm-failover-kept", [](Life& life) { life.manager_fails_over(false, false); }},
    Situation{"sm-new-parameters", [](Life& life) { life.manager_fails_over(true, true); }},
};
/// Every profile of the generator.
constexpr std::string_view of_profiles = "profiles";

/// What one job makes: a world, and the same as other link types show it.
struct Plan {
    const Situation* situation = nullptr;  ///< null: a profile's
    const traffic::Profile* profile = nullptr;
    Family family = Family::ipv4;
    std::uint64_t life = 1;
};

World live(const Plan& plan, std::uint64_t seed) {
    const auto& situation = *plan.situation;
    Trace trace;
    Life life{{.family = plan.family,
               .seed = 2 * (seed - 1) + plan.life,
               .is_connected = situation.is_connected,
               .has_machine = situation.has_machine,
               .has_router = situation.has_router},
              trace};
    life.comes_up();
    situation.happens(life);
    World world{.situation = std::string(situation.name)};
    world.name = world.situation + (plan.family == Family::ipv4 ? ",ipv4," : ",ipv6,") + std::to_string(plan.life);
    world.violations = life.take_violations();
    world.source = metamorphic::make_source(world.name, std::move(trace));
    if (situation.name == "rest") world.violations = mutations_in(*world.source);
    return world;
}

World play(const Plan& plan, std::uint64_t seed) {
    traffic::Scene scene{{.hosts = 3, .groups = 2, .partitions = 1, .link = build::samples::controlled()}};
    Trace trace;
    metamorphic::Keeper keeper{trace};
    const bool is_slow = plan.life % 2 == 0;
    const traffic::StageOptions options{
        .count = 128, .seed = seed + plan.life - 1, .rate = traffic::Rate{is_slow ? "0.5" : "1000"}};
    traffic::Stage stage{scene, options, keeper};
    traffic::play(*plan.profile, stage);
    World world{.situation = std::string(of_profiles)};
    world.name = std::string(plan.profile->name) + ',' + std::to_string(plan.life);
    world.source = metamorphic::make_source(world.name, std::move(trace));
    world.violations = mutations_in(*world.source, plan.profile->name);
    return world;
}

/// Whether captures of a link type show what a statement is about: some rule on it is asked there.
bool is_judged_in(wire::Medium medium, const Claim& claim) {
    const auto shows = wire::spec(medium).shows;
    return std::ranges::any_of(rules::all(), [&](const rules::Rule& rule) {
        const bool checks_it = std::ranges::any_of(claim, [&](const Requirement* requirement) {
            return rule.checks[0] == requirement || rule.checks[1] == requirement;
        });
        return checks_it && (rule.needs & ~shows) == 0;
    });
}

/// The same, as a capture of another link type has it, with the violations that show there.
World shown(const World& world, wire::Medium medium) {
    World other{.situation = world.situation, .has_psns = false};
    other.name = world.name + ',' + std::string(wire::spec(medium).name);
    const auto& source = *world.source;
    Trace trace;
    Store store;
    std::map<std::uint32_t, std::uint32_t> numbers;
    Frame frame;
    for (std::uint32_t i = 0; i < source.size(); ++i) {
        if (!metamorphic::show_as(medium, source, i, source.frames()[i].octets, frame, trace.store)) continue;
        const auto number = static_cast<std::uint32_t>(trace.frames.size());
        numbers.emplace(i, number);
        frame.from = number;
        trace.frames.push_back(frame);
    }
    const auto shows = [&](Edit& edit) {
        const auto at = numbers.find(edit.frame);
        if (edit.octets.empty() || at == numbers.end()) return false;
        if (!metamorphic::show_as(medium, source, edit.frame, edit.octets, frame, store)) return false;
        edit.frame = at->second;
        edit.octets.assign(frame.octets.begin(), frame.octets.end());
        return !std::ranges::equal(edit.octets, trace.frames[edit.frame].octets);
    };
    for (auto violation : world.violations) {
        std::erase_if(violation.claims, [&](const Claim& claim) { return !is_judged_in(medium, claim); });
        const bool is_known = !violation.claims.empty() && !violation.is_by_manager;
        if (is_known && violation.edits.size() == 1 && shows(violation.edits.front()))
            other.violations.push_back(std::move(violation));
        store.clear();
    }
    other.source = metamorphic::make_source(other.name, std::move(trace));
    return other;
}

}  // namespace

std::vector<std::string_view> all_situations() {
    std::vector<std::string_view> names{of_profiles};
    for (const auto& situation : situations) names.push_back(situation.name);
    std::ranges::sort(names);
    return names;
}

Worlds make_worlds(const WorldOptions& options) {
    const auto takes = [&](std::string_view name) {
        return options.situations.empty() || std::ranges::find(options.situations, name) != options.situations.end();
    };
    std::vector<Plan> plans;
    for (std::uint64_t life = 1; life <= options.lives; ++life) {
        for (const auto& situation : situations)
            for (const auto family : {Family::ipv4, Family::ipv6})
                if (takes(situation.name)) plans.push_back({.situation = &situation, .family = family, .life = life});
        if (!takes(of_profiles)) continue;
        for (const auto* profile : traffic::all_profiles())
            if (metamorphic::is_played(*profile)) plans.push_back({.profile = profile, .life = life});
    }
    std::vector<Worlds> made(plans.size());
    in_parallel(plans.size(), [&](std::size_t i) {
        auto& worlds = made[i];
        worlds.push_back(plans[i].situation ? live(plans[i], options.seed) : play(plans[i], options.seed));
        if (!options.other_link_types) return;
        for (const auto medium : metamorphic::other_media()) {
            auto other = shown(worlds.front(), medium);
            if (other.source->size() > 0) worlds.push_back(std::move(other));
        }
    });
    Worlds all;
    for (auto& worlds : made)
        for (auto& world : worlds) all.push_back(std::move(world));
    return all;
}

namespace {

/// Packets behind those that were never sent have lower numbers.
class Renumbering {
public:
    void skip(const Frame& frame) {
        if (const auto* by = stream(frame)) ++removed_[*by];
    }
    void number(Frame& frame, Store& store) {
        if (removed_.empty()) return;
        const auto* by = stream(frame);
        const auto found = by ? removed_.find(*by) : removed_.end();
        if (found == removed_.end()) return;
        const auto before = frame;
        const auto octets = store.copy(frame.octets);
        const auto at = packet_.offset_of(packet_.bth.data());
        const auto psn = (packet_.bth[wire::Bth::psn] - found->second) & 0xffffff;
        wire::set_field(octets.subspan(at, wire::Bth::size), wire::Bth::psn, psn);
        metamorphic::follow_up_crcs(before, octets);
        frame.octets = octets;
    }

private:
    using Stream = std::pair<std::uint16_t, std::uint32_t>;
    /// LID and queue pair of who numbers it; null: nobody.
    const Stream* stream(const Frame& frame) {
        wire::decode(frame.octets, packet_, frame.medium, frame.wire_length);
        if (!packet_.lrh || !packet_.deth) return nullptr;
        stream_ = {packet_.lrh[wire::Lrh::slid], packet_.deth[wire::Deth::src_qp]};
        return &stream_;
    }
    std::map<Stream, std::uint32_t> removed_;
    Stream stream_;
    wire::Packet packet_;
};

}  // namespace

void put(const World& world, const Violation& violation, Trace& variant) {
    variant.clear();
    variant.is_one_subnet = world.source->is_one_subnet;
    Renumbering renumbering;
    auto edit = violation.edits.begin();
    for (const auto& whole : world.source->frames()) {
        auto frame = whole;
        if (edit != violation.edits.end() && edit->frame == whole.from) {
            const auto& octets = (edit++)->octets;
            if (octets.empty()) {
                renumbering.skip(frame);
                continue;
            }
            frame.octets = octets;
            frame.wire_length = static_cast<std::uint32_t>(octets.size());
        }
        renumbering.number(frame, variant.store);
        variant.frames.push_back(frame);
    }
}

}  // namespace ipoib::recall
