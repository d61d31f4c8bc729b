// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-gen PROFILE: from options to packets.
#include "base/complain.hpp"
#include "base/nearest.hpp"
#include "fabric/capture/reader.hpp"
#include "fabric/simulated/scenario.hpp"
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
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <random>

namespace ipoib::traffic {
namespace {

constexpr std::uint64_t usual_count = 1000;

/// Not a file.
bool names_fabric(const Options& options) { return conformance::fabric_kinds().with_scheme_of(options.out) != nullptr; }
/// The kind that --out names; null where no traffic goes.
const conformance::FabricKind* kind_of(const Options& options) {
    return conformance::fabric_kinds().find(options.out, conformance::FabricUse::traffic);
}
bool is_ours(const Options& options) { return kind_of(options) && kind_of(options)->is_ours(); }
bool is_somebodys(const Options& options) { return kind_of(options) && kind_of(options)->is_somebodys(); }

const Mutation* mutation_of(const Options& options) {
    if (options.mutate.empty()) return nullptr;
    if (const auto* mutation = find_mutation(options.mutate)) return mutation;
    throw UsageError("there is no mutation '" + options.mutate + "'" +
                     did_you_mean(options.mutate, all_mutations(), [](const Mutation* one) { return one->name; }) +
                     " (ipoib-gen --list-mutations)");
}

const Profile& profile_of(const Options& options, const Mutation* mutation) {
    const std::string_view name = options.profile.empty() && mutation ? mutation->profile : options.profile;
    if (name.empty()) throw UsageError("no profile is named (ipoib-gen --list)");
    if (const auto* profile = find_profile(name)) return *profile;
    throw UsageError("there is no profile '" + std::string(name) + "'" +
                     did_you_mean(name, all_profiles(), [](const Profile* one) { return one->name; }) +
                     " (ipoib-gen --list)");
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
    constexpr double least = 1e-6, most = 1e6;
    if (*end || !(speed >= least) || speed > most)
        throw UsageError("--timing " + options.timing + ": recorded, max, or how many times as fast");
    return speed;
}

StageOptions stage_of(const Options& options, const Profile& profile) {
    StageOptions stage{.count = options.count, .seed = options.seed.value_or(1), .rate = Rate{options.rate}};
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

/// What is to be played, told apart from where to; all of it is looked at before anything is written.
struct Play {
    const Profile& profile;
    const Mutation* mutation;
    std::vector<Override> overrides;
    StageOptions stage;
    std::function<void()> told{};
    std::function<void()> at_end{};  ///< also where it ends with an error
};

/// Sends all of it.
void play(const Options& options, Play& what, Scene& scene, Sink& sink) {
    auto& overrides = what.overrides;
    std::vector<std::uint64_t> used(overrides.size());
    Stage stage{scene, what.stage, sink};
    if (what.mutation) stage.mutate_by(what.mutation->change);
    if (!overrides.empty())
        stage.change_by([&](build::PacketBuilder& packet) {
            for (std::size_t i = 0; i < overrides.size(); ++i)
                used[i] += overrides[i].apply(packet, stage.random()) ? 1 : 0;
        });
    if (options.damage > 0)
        stage.damage_by([&, rate = options.damage](wire::MutableOctets frame) {
            if (frame.empty() || std::uniform_real_distribution<>{}(stage.random()) >= rate) return;
            const auto bit = stage.any(frame.size() * 8);
            frame[bit / 8] = static_cast<std::uint8_t>(frame[bit / 8] ^ 0x80u >> bit % 8);
        });
    stage.is_stopped = [] { return fabric::Loop::stop_requested(); };
    stage.tell(what.told);
    try {
        play(what.profile, stage);
        sink.finish();
    } catch (...) {
        if (what.at_end) what.at_end();
        throw;
    }
    if (what.at_end) what.at_end();
    if (fabric::Loop::stop_requested()) return;
    refuse_unused(overrides, used);
    if (what.mutation && stage.mutated() == 0)
        throw UsageError(fmt::format("--mutate {}: the profile {} has no packet that it is about; take {}",
                                     what.mutation->name, what.profile.name, what.mutation->profile));
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
    Time elapsed() override { return sink_.elapsed(); }
    [[nodiscard]] bool has_adapters() const noexcept override { return sink_.has_adapters(); }
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

/// "erf, infiniband or sll".
std::string link_type_choice() {
    auto names = link_type_names(true);
    for (auto& name : link_type_names(false)) names.push_back(std::move(name));
    const auto last = names.back();
    names.pop_back();
    return fmt::format("{} or {}", fmt::join(names, ", "), last);
}

int into_capture(const Options& options, Play& what) {
    if (!options.to.empty() || !options.ipv4.empty() || !options.listen.empty() || !options.least_rate.empty())
        throw UsageError("--to, --ip, --listen and --min-rate are for fabrics");
    const auto link_type = find_link_type(options.link_type);
    if (!link_type) throw UsageError("--link-type " + options.link_type + ": " + link_type_choice());
    std::error_code none;
    if (!options.input.empty() && std::filesystem::equivalent(options.input, options.out, none))
        throw UsageError(options.out + " would be overwritten while it is read");
    Scene scene{scene_of(options)};
    auto capture = [&] {
        try {
            return CaptureSink{options.out, *link_type};
        } catch (const std::runtime_error& wrong) {
            throw UsageError(wrong.what());
        }
    }();
    Counter counter{capture};
    Reporter reporter{report_of(options, what.stage, false), [&] { return counter.figures; }};
    what.told = [&] { reporter.tick(); };
    what.at_end = [&] { reporter.finish(", to " + options.out); };
    play(options, what, scene, counter);
    return exit_ok;
}

void refuse_impact(const Options& options, const Profile& profile) {
    if (!profile.no_fabric.empty())
        throw UsageError(fmt::format("the profile {} is for captures: {}", profile.name, profile.no_fabric));
    const auto allowed =
        fabric::find_impact(options.allow).value_or(conformance::fabric_kinds().usual_impact(options.out));
    if (profile.impact > allowed)
        throw UsageError(fmt::format("the profile {} may be noticed by others than whom it is for: --allow {}",
                                     profile.name, name(profile.impact)));
    if (is_somebodys(options) && options.count == 0 && options.duration == 0)
        throw UsageError("--out " + options.out + " needs --count or --duration: nothing is sent without an end");
    if (options.partitions != 1) throw UsageError("--partitions: a port of a fabric is used on one of its partitions");
}

bool is_too_slow(const Options& options, const Figures& figures, double seconds) {
    if (options.least_rate.empty()) return false;
    const Rate least{options.least_rate, "--min-rate"};
    constexpr double bits = 8;
    const auto done =
        least.is_in_bits() ? bits * static_cast<double>(figures.octets) : static_cast<double>(figures.packets);
    if (done >= least.last() * seconds) return false;
    complain("ipoib-gen", fmt::format("slower than --min-rate {}", options.least_rate));
    return true;
}

std::vector<wire::IpAddress> neighbours_of(const Options& options, const Profile& profile) {
    std::vector<wire::IpAddress> neighbours;
    for (const auto& text : options.to) {
        const auto address = wire::parse_ip(text);
        if (!address || address->is_multicast()) throw UsageError("--to " + text + ": the IP address of a neighbour");
        if (profile.families == Families::both)
            throw UsageError(fmt::format("--to: the profile {} speaks both IPv4 and IPv6, so all of its hosts are ours",
                                         profile.name));
        if (address->is_v4() != (profile.families == Families::ipv4))
            throw UsageError(fmt::format("--to {}: the profile {} speaks {} with a neighbour", text, profile.name,
                                         address->is_v4() ? "IPv6" : "IPv4"));
        neighbours.push_back(*address);
    }
    return neighbours;
}

int onto_fabric(const Options& options, Play& what) {
    const auto& profile = what.profile;
    refuse_impact(options, profile);
    if (!options.least_rate.empty()) {
        const Rate least{options.least_rate, "--min-rate"};
        if (least.is_ramp() || least.last() == 0) throw UsageError("--min-rate: one rate, such as 1000 or 10Mbit");
    }
    const bool is_real = !is_ours(options) || !options.listen.empty();
    if (is_real) what.stage.run = std::random_device{}() | 1u;
    // Where no seed is said, runs on a real fabric have groups of their own; a receiver of groups is told one.
    const bool has_own_groups = is_somebodys(options) && !options.seed;
    FabricSink sink{{.words = options.out,
                     .scenario = options.scenario,
                     .listen = options.listen,
                     .seed = has_own_groups ? std::random_device{}() : options.seed.value_or(1),
                     .hosts = options.hosts ? std::optional{options.hosts} : std::nullopt,
                     .ipv4 = ipv4_of(options.ipv4)},
                    neighbours_of(options, profile)};
    if (profile.needs_neighbour && sink.hosts() < 2)
        throw UsageError(fmt::format("the profile {} needs a neighbour: --to ADDRESS", profile.name));
    if (profile.name == "replay") sink.take_all();
    auto scene = sink.scene({.groups = options.groups});
    take_size(options.size, profile, scene.net().link.mtu, what.stage);
    Counter counter{sink};
    Reporter reporter{
        report_of(options, what.stage, true), [&] {
            auto figures = counter.figures;
            figures.more = {{"received", sink.received()}, {"asked", sink.asked()}, {"refused", sink.refused()}};
            if (!is_real) figures.more.emplace_back("broken rules", sink.broken_rules());
            return figures;
        }};
    double seconds = 0;
    what.told = [&] { reporter.tick(); };
    what.at_end = [&] {
        seconds = reporter.seconds();
        reporter.finish(", to " + options.out);
        if (!options.is_quiet && options.stats != "json") complain(sink.judgement());
    };
    play(options, what, scene, counter);
    return is_too_slow(options, counter.figures, seconds) ? exit_missed : exit_ok;
}

/// A capture that cannot be read is told before the output is begun.
void refuse_input(const Options& options) {
    if (options.input.empty() || options.input == "-") return;
    auto reader = capture::Reader::open(options.input);
    capture::Frame frame;
    if (const auto status = reader.next(frame); status == capture::Status::corrupt) throw UsageError(reader.error());
    if (frame.number == 0) throw UsageError(options.input + " holds no frame");
}

/// What ends nothing where there is no clock but that of the packets.
void refuse_endless(const Options& options, const StageOptions& stage) {
    const bool has_clock = names_fabric(options) && (!is_ours(options) || !options.listen.empty());
    if (!has_clock && options.rate == "max" && options.duration > 0 && stage.count == StageOptions::no_bound)
        throw UsageError("--duration with --rate max: without pauses no time passes here; say --count");
}

}  // namespace

int generate(const Options& options) {
    const auto* mutation = mutation_of(options);
    const auto& profile = profile_of(options, mutation);
    if (mutation && profile.name == "malformed")
        throw UsageError("malformed has all mutations: --mutate is for others");
    Play what{.profile = profile, .mutation = mutation, .overrides = {}, .stage = stage_of(options, profile)};
    for (const auto& text : options.set) what.overrides.emplace_back(text);
    take_size(options.size, profile, fabric::scenario_named(options.scenario).link.mtu, what.stage);
    refuse_input(options);
    refuse_endless(options, what.stage);
    if (options.is_dry) {
        Scene scene{scene_of(options)};
        PrintSink sink;
        play(options, what, scene, sink);
        return exit_ok;
    }
    if (options.out.empty()) throw UsageError("--out FILE says where to, '-' is standard output; or --dry-run");
    return names_fabric(options) ? onto_fabric(options, what) : into_capture(options, what);
}

}  // namespace ipoib::traffic
