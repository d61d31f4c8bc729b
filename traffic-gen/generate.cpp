// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-gen PROFILE: from options to packets.
#include "protocol/state/parameters.hpp"
#include "protocol/wire/text.hpp"
#include "traffic-gen/capture_sink.hpp"
#include "traffic-gen/fabric_sink.hpp"
#include "traffic-gen/fields.hpp"
#include "traffic-gen/mutation.hpp"
#include "traffic-gen/options.hpp"
#include "traffic-gen/profile.hpp"
#include "traffic-gen/statistics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace ipoib::traffic {
namespace {

constexpr std::uint64_t usual_count = 1000;

const Mutation* mutation_of(const Options& options) {
    if (options.mutate.empty()) return nullptr;
    if (const auto* mutation = find_mutation(options.mutate)) return mutation;
    throw UsageError("there is no mutation '" + options.mutate + "' (ipoib-gen --list-mutations)");
}

const Profile& profile_of(const Options& options, const Mutation* mutation) {
    const std::string_view name = options.profile.empty() && mutation ? mutation->profile : options.profile;
    if (name.empty()) throw UsageError("no profile is named (ipoib-gen --list)");
    if (const auto* profile = find_profile(name)) return *profile;
    throw UsageError("there is no profile '" + std::string(name) + "' (ipoib-gen --list)");
}

/// On a link with this MTU (code).
void take_size(const std::string& text, const Profile& profile, std::uint8_t mtu, StageOptions& stage) {
    const auto dots = text.find("..");
    const auto least = wire::parse_number(text.substr(0, dots));
    const auto most = dots == std::string::npos ? least : wire::parse_number(text.substr(dots + 2));
    const auto limit = state::mtu_octets(mtu) - wire::Encap::size - profile.headers;
    if (!least || !most || *most < *least) throw UsageError("--size " + text + ": octets, or LEAST..MOST");
    if (*most > limit)
        throw UsageError(
            fmt::format("--size {}: the link carries payloads of {} octets; a packet beyond its MTU is a "
                        "mutation (--mutate beyond-mtu)",
                        text, limit));
    stage.least_size = static_cast<std::size_t>(*least);
    stage.most_size = static_cast<std::size_t>(*most);
}

double speed_of(const Options& options, const Profile& profile) {
    const bool is_replay = profile.name == "replay";
    if (!is_replay && (!options.input.empty() || !options.timing.empty()))
        throw UsageError("--in and --timing are for the profile replay");
    if (is_replay && options.input.empty()) throw UsageError("the profile replay needs a capture: --in CAPTURE");
    if (options.timing.empty() || options.timing == "recorded") return 1;
    if (options.timing == "max") return 0;
    char* end = nullptr;
    const double speed = std::strtod(options.timing.c_str(), &end);
    constexpr double most = 1e6;
    if (*end || !(speed > 0) || speed > most)
        throw UsageError("--timing " + options.timing + ": recorded, max, or how many times as fast");
    return speed;
}

StageOptions stage_of(const Options& options, const Profile& profile) {
    StageOptions stage{.count = options.count, .seed = options.seed, .rate = Rate{options.rate}};
    const bool has_own_end = options.duration > 0 || profile.name == "replay";
    if (stage.count == 0) stage.count = has_own_end ? StageOptions::no_bound : usual_count;
    if (options.duration > 0)
        stage.duration = std::chrono::duration_cast<Time>(std::chrono::duration<double>(options.duration));
    stage.keeps_crc = options.keeps_crc;
    stage.input = options.input;
    stage.speed = speed_of(options, profile);
    return stage;
}

SceneOptions scene_of(const Options& options) {
    SceneOptions scene{.groups = options.groups, .partitions = options.partitions};
    if (options.hosts) scene.hosts = options.hosts;
    scene.link = fabric::scenario_named(options.scenario).link.as_built();
    return scene;
}

/// What of --set no packet had: a misunderstanding that must not pass in silence.
void refuse_unused(const std::vector<Override>& overrides, const std::vector<std::uint64_t>& used) {
    for (std::size_t i = 0; i < overrides.size(); ++i)
        if (used[i] == 0)
            throw UsageError("--set " + overrides[i].name() + ": no packet of this profile has such a header");
}

/// Sends all of it.
void play(const Options& options, const StageOptions& with, const Profile& profile, Scene& scene, Sink& sink,
          const std::function<void()>& told) {
    std::vector<Override> overrides;
    for (const auto& text : options.set) overrides.emplace_back(text);
    std::vector<std::uint64_t> used(overrides.size());
    Stage stage{scene, with, sink};
    if (const auto* mutation = mutation_of(options)) stage.mutate_by(mutation->change);
    if (!overrides.empty())
        stage.change_by([&](build::PacketBuilder& packet) {
            for (std::size_t i = 0; i < overrides.size(); ++i)
                used[i] += overrides[i].apply(packet, stage.random()) ? 1 : 0;
        });
    if (options.damage > 0)
        stage.damage_by([&, rate = options.damage](wire::MutableOctets frame) {
            if (std::uniform_real_distribution<>{}(stage.random()) >= rate) return;
            const auto bit = stage.any(frame.size() * 8);
            frame[bit / 8] = static_cast<std::uint8_t>(frame[bit / 8] ^ 0x80u >> bit % 8);
        });
    stage.is_stopped = [] { return fabric::Loop::stop_requested(); };
    stage.tell(told);
    play(profile, stage);
    sink.finish();
    refuse_unused(overrides, used);
}

/// Counts what passes.
class Counter : public Sink {
public:
    explicit Counter(Sink& sink) : sink_(sink) {}
    bool take(Time time, const Sender& sender, wire::Octets frame) override {
        if (!sink_.take(time, sender, frame)) return false;
        ++figures.packets;
        figures.octets += frame.size();
        return true;
    }
    Administrator* administrator() noexcept override { return sink_.administrator(); }
    void finish() override { sink_.finish(); }
    Figures figures;

private:
    Sink& sink_;
};

ReportOptions report_of(const Options& options, const StageOptions& stage, bool is_slow) {
    return {.is_json = options.stats == "json",
            .is_quiet = options.is_quiet,
            .interval = options.interval,
            .count = stage.count == StageOptions::no_bound ? 0 : stage.count,
            .duration = options.duration,
            .is_slow = is_slow};
}

int into_capture(const Options& options, const StageOptions& with, const Profile& profile) {
    if (!options.to.empty() || !options.ipv4.empty() || !options.listen.empty())
        throw UsageError("--to, --ip and --listen are for fabrics");
    const auto link_type = find_link_type(options.link_type);
    if (!link_type) throw UsageError("--link-type " + options.link_type + ": erf, infiniband, ipoib, sll or sll2");
    auto scene_options = scene_of(options);
    auto stage = with;
    take_size(options.size, profile, scene_options.link.mtu, stage);
    Scene scene{scene_options};
    auto capture = [&] {
        try {
            return CaptureSink{options.out, *link_type};
        } catch (const std::runtime_error& wrong) {
            throw UsageError(wrong.what());
        }
    }();
    Counter counter{capture};
    Reporter reporter{report_of(options, stage, false), [&] { return counter.figures; }};
    play(options, stage, profile, scene, counter, [&] { reporter.tick(); });
    reporter.finish(", to " + options.out);
    return exit_ok;
}

void refuse_impact(const Options& options, const Profile& profile) {
    if (!profile.no_fabric.empty())
        throw UsageError(fmt::format("the profile {} is for captures: {}", profile.name, profile.no_fabric));
    const auto allowed = fabric::find_impact(options.allow).value_or(fabric::usual_impact(options.out));
    if (profile.impact > allowed)
        throw UsageError(fmt::format("the profile {} may be noticed by others than whom it is for: --allow {}",
                                     profile.name, name(profile.impact)));
    if (options.out.starts_with("verbs:") && options.count == 0 && options.duration == 0)
        throw UsageError("--out " + options.out + " needs --count or --duration: nothing is sent without an end");
    if (options.partitions != 1) throw UsageError("--partitions: a port of a fabric is used on one of its partitions");
}

bool is_too_slow(const Options& options, const Figures& figures, double seconds) {
    if (options.least_rate.empty()) return false;
    const Rate least{options.least_rate};
    constexpr double bits = 8;
    const auto done =
        least.is_in_bits() ? bits * static_cast<double>(figures.octets) : static_cast<double>(figures.packets);
    if (done >= least.last() * seconds) return false;
    std::cerr << fmt::format("ipoib-gen: slower than --min-rate {}\n", options.least_rate);
    return true;
}

int onto_fabric(const Options& options, const StageOptions& with, const Profile& profile) {
    refuse_impact(options, profile);
    std::vector<wire::IpAddress> neighbours;
    for (const auto& text : options.to) {
        const auto address = wire::parse_ip(text);
        if (!address || address->is_multicast()) throw UsageError("--to " + text + ": the IP address of a neighbour");
        neighbours.push_back(*address);
    }
    FabricSink sink{{.words = options.out,
                     .scenario = options.scenario,
                     .listen = options.listen,
                     .seed = options.seed,
                     .hosts = options.hosts ? std::optional{options.hosts} : std::nullopt,
                     .ipv4 = ipv4_of(options.ipv4)},
                    neighbours};
    if (profile.needs_neighbour && sink.hosts() < 2)
        throw UsageError(fmt::format("the profile {} needs a neighbour: --to ADDRESS", profile.name));
    if (profile.name == "replay") sink.take_all();
    auto scene = sink.scene({.groups = options.groups});
    auto stage = with;
    take_size(options.size, profile, scene.net().link.mtu, stage);
    Counter counter{sink};
    Reporter reporter{
        report_of(options, stage, true), [&] {
            auto figures = counter.figures;
            figures.more = {{"received", sink.received()}, {"asked", sink.asked()}, {"refused", sink.refused()}};
            return figures;
        }};
    play(options, stage, profile, scene, counter, [&] { reporter.tick(); });
    const auto seconds = reporter.seconds();
    reporter.finish(", to " + options.out);
    if (!options.is_quiet && options.stats != "json") std::cerr << sink.judgement();
    return is_too_slow(options, counter.figures, seconds) ? exit_missed : exit_ok;
}

}  // namespace

int generate(const Options& options) {
    const auto& profile = profile_of(options, mutation_of(options));
    const auto stage = stage_of(options, profile);
    if (options.is_dry) {
        auto with = stage;
        auto scene_options = scene_of(options);
        take_size(options.size, profile, scene_options.link.mtu, with);
        Scene scene{scene_options};
        PrintSink sink;
        play(options, with, profile, scene, sink, {});
        return exit_ok;
    }
    if (options.out.empty()) throw UsageError("--out FILE says where to, '-' is standard output; or --dry-run");
    return names_fabric(options.out) ? onto_fabric(options, stage, profile) : into_capture(options, stage, profile);
}

}  // namespace ipoib::traffic
