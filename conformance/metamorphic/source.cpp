// SPDX-License-Identifier: GPL-2.0-or-later
// Captures, samples and generated traffic as sources.
#include "conformance/metamorphic/source.hpp"

#include "base/temporary_folder.hpp"
#include "captures/samples.hpp"
#include "conformance/judge/judge.hpp"
#include "conformance/metamorphic/keeper.hpp"
#include "protocol/build/samples.hpp"
#include "traffic-gen/mutation.hpp"
#include "traffic-gen/profile.hpp"

#include <numeric>

namespace ipoib::metamorphic {
namespace {

using traffic::Scene, traffic::Stage;

struct Play {
    const traffic::Profile& profile;
    std::string_view suffix;
    void (*change)(build::PacketBuilder&) = nullptr;
    std::string_view rate = "1000";
    unsigned partitions = 1;
    std::uint64_t packets = 48;
    unsigned hosts = 3;
};

void add_played(Sources& sources, const std::string& name, const Play& play, std::uint64_t seed) {
    Scene scene{
        {.hosts = play.hosts, .groups = 2, .partitions = play.partitions, .link = build::samples::controlled()}};
    Trace trace;
    Keeper keeper{trace};
    Stage stage{scene, {.count = play.packets, .seed = seed, .rate = traffic::Rate{std::string(play.rate)}}, keeper};
    stage.mutate_by(play.change);
    const auto administrator = scene.administrator().lid;
    traffic::play(play.profile, stage);
    auto source = make_source(name + std::string(play.suffix), std::move(trace));
    source->is_generated = true;
    source->administrator_lid = administrator == scene.administrator().lid ? administrator : std::uint16_t{0};
    source->administrator_guid = scene.administrator().gid.interface_id();
    sources.push_back(std::move(source));
}

void add_mutated(Sources& sources, const traffic::Mutation& mutation, const traffic::Profile& profile,
                 std::uint64_t seed) {
    add_played(sources, "mutation:" + std::string(mutation.name),
               {.profile = profile, .suffix = "", .change = mutation.change}, seed);
    sources.back()->broken = numbers_of(mutation.breaks);
}

}  // namespace

bool is_played(const traffic::Profile& profile) { return profile.name != "replay" && profile.name != "malformed"; }

const Names& Source::names() const {
    std::call_once(named_, [&] { names_ = std::make_unique<const Names>(frames()); });
    return *names_;
}

const std::vector<std::vector<std::uint64_t>>& Source::shared() const {
    std::call_once(compared_, [&] { shared_ = names().shared(frames()); });
    return shared_;
}

std::unique_ptr<Source> make_source(std::string name, Trace trace, bool is_one_subnet) {
    auto source = std::make_unique<Source>();
    source->kind = name.substr(0, name.find(':'));
    source->name = std::move(name);
    source->trace = std::move(trace);
    source->is_one_subnet = is_one_subnet;
    source->everything.resize(source->size());
    std::iota(source->everything.begin(), source->everything.end(), std::size_t{0});
    source->who = parties_of(source->frames(), is_one_subnet);
    judge(source->frames(), is_one_subnet, source->parties(), source->verdicts, {.decisions = &source->decisions});
    return source;
}

void add_capture(Sources& sources, const std::string& path, const std::string& name) {
    auto reader = capture::Reader::open(path);
    capture::Frame frame;
    Trace trace;
    auto status = reader.next(frame);
    for (; status == capture::Status::frame; status = reader.next(frame)) {
        const auto medium = conformance::medium_of(frame.link_type);
        if (!medium) continue;
        const auto kept = trace.store.copy(frame.octets);
        trace.frames.push_back({.octets = kept,
                                .wire_length = frame.wire_length,
                                .medium = *medium,
                                .time = frame.time_ns,
                                .interface = frame.interface,
                                .origin = inspection::origin_of(reader.interface_name(frame.interface)),
                                .from = static_cast<std::uint32_t>(trace.frames.size())});
    }
    if (status == capture::Status::corrupt) throw std::runtime_error(reader.error());
    sources.push_back(make_source(name, std::move(trace)));
}

void add_samples(Sources& sources) {
    const TemporaryFolder folder;
    for (const auto& sample : captures::all()) {
        const auto path = folder / sample.file;
        sample.make(path);
        add_capture(sources, path, "sample:" + std::string(sample.file));
    }
}

std::unique_ptr<Source> played(const traffic::Profile& profile) {
    Sources one;
    add_played(one, "profile:" + std::string(profile.name), {.profile = profile, .suffix = ",long", .packets = 144}, 1);
    return std::move(one.front());
}

void add_generated(Sources& sources, std::uint64_t seed) {
    for (const auto* profile : traffic::all_profiles()) {
        if (!is_played(*profile)) continue;
        const auto name = "profile:" + std::string(profile->name);
        add_played(sources, name, {.profile = *profile, .suffix = ""}, seed);
        add_played(sources, name, {.profile = *profile, .suffix = ",slow", .rate = "0.5"}, seed);
        add_played(sources, name, {.profile = *profile, .suffix = ",two-partitions", .partitions = 2}, seed);
        add_played(sources, name, {.profile = *profile, .suffix = ",long", .packets = 144, .hosts = 4}, seed);
    }
    for (const auto* mutation : traffic::all_mutations())
        if (const auto* profile = traffic::find_profile(mutation->profile); profile && is_played(*profile))
            add_mutated(sources, *mutation, *profile, seed);
}

}  // namespace ipoib::metamorphic
