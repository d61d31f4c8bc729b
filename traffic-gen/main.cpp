// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-gen: IPoIB traffic with every bit under control, into a capture.
#include "conformance/engine/notation.hpp"
#include "fabric/capture/writer.hpp"
#include "fabric/loop.hpp"
#include "fabric/simulated/scenario.hpp"
#include "generated/version.hpp"
#include "protocol/state/parameters.hpp"
#include "protocol/wire/text.hpp"
#include "traffic-gen/fields.hpp"
#include "traffic-gen/mutation.hpp"
#include "traffic-gen/profile.hpp"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <csignal>
#include <iostream>

namespace ipoib::traffic {
namespace {

constexpr int exit_ok = 0, exit_usage = 2, exit_fault = 3;

struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct Options {
    std::string profile, out, mutate, rate = "1000", size = "64", scenario = "default", stats = "human";
    std::vector<std::string> set;
    double duration = 0, damage = 0;
    bool is_dry = false, lists = false, lists_mutations = false, lists_fields = false, is_quiet = false;
    SceneOptions scene{};
    StageOptions stage{};
};

/// First packets are of this time, so that the same seed gives the same file.
constexpr std::int64_t begin_ns = 1'767'225'600'000'000'000;  // 2026-01-01 00:00:00 UTC

class CaptureSink : public Sink {
public:
    explicit CaptureSink(const std::string& path)
        : is_pcapng_(path.ends_with(".pcapng")),
          writer_(is_pcapng_ ? capture::Writer::pcapng(path) : capture::Writer::pcap(path, capture::LinkType::erf)) {
        if (is_pcapng_) (void)writer_.add_interface(capture::LinkType::erf, "ipoib-gen");
    }
    void take(Time time, wire::Octets frame) override {
        writer_.write(begin_ns + time.count(), frame);
        ++packets_;
        octets_ += frame.size();
    }
    void close() { writer_.close(); }
    [[nodiscard]] std::uint64_t packets() const noexcept { return packets_; }
    [[nodiscard]] std::uint64_t octets() const noexcept { return octets_; }

private:
    bool is_pcapng_;
    capture::Writer writer_;
    std::uint64_t packets_ = 0, octets_ = 0;
};

/// Tells what would be sent, in the notation of the reports.
class PrintSink : public Sink {
public:
    void take(Time time, wire::Octets frame) override {
        wire::Packet packet;
        wire::decode(frame, packet);
        fmt::print("{:>12.6f}  {}\n", std::chrono::duration<double>(time).count(), conformance::in_one_line(packet));
    }
};

/// "1000" packets a second, or "10Mbit".
Time spacing(const Options& options) {
    double number = 0;
    std::size_t end = 0;
    try {
        number = std::stod(options.rate, &end);
    } catch (const std::exception&) {
    }
    const auto unit = options.rate.substr(end);
    const double scale = unit == "kbit" ? 1e3 : unit == "Mbit" ? 1e6 : unit == "Gbit" ? 1e9 : unit.empty() ? 1 : 0;
    if (!(number > 0) || scale == 0 || number * scale > 1e12)
        throw UsageError("--rate " + options.rate + ": packets a second, or bits with kbit, Mbit or Gbit behind");
    constexpr double ns = 1e9, overhead = 66, bits = 8;
    const auto each = unit.empty() ? 1.0 : bits * (overhead + static_cast<double>(options.stage.most_size));
    return Time{static_cast<Time::rep>(ns * each / (number * scale))};
}

void take_size(Options& options) {
    const auto dots = options.size.find("..");
    const auto least = wire::parse_number(options.size.substr(0, dots));
    const auto most = dots == std::string::npos ? least : wire::parse_number(options.size.substr(dots + 2));
    // What the link carries less the headers of IPv6 and UDP, the larger ones.
    const auto limit =
        state::mtu_octets(options.scene.link.mtu) - wire::Encap::size - wire::Ipv6::size - wire::Udp::size;
    if (!least || !most || *most < *least) throw UsageError("--size " + options.size + ": octets, or LEAST..MOST");
    if (*most > limit)
        throw UsageError(
            fmt::format("--size {}: the link carries payloads of {} octets; a packet beyond its MTU is a "
                        "mutation (--mutate beyond-mtu)",
                        options.size, limit));
    options.stage.least_size = static_cast<std::size_t>(*least);
    options.stage.most_size = static_cast<std::size_t>(*most);
}

void take_scenario(Options& options) {
    const auto* scenario = fabric::find_scenario(options.scenario);
    if (!scenario) {
        std::string names;
        for (const auto& one : fabric::scenarios()) names += (names.empty() ? "" : ", ") + std::string(one.name);
        throw UsageError("there is no scenario '" + options.scenario + "'; there are " + names);
    }
    const auto& link = scenario->link;
    options.scene.link = {.p_key = link.p_key,
                          .q_key = link.q_key,
                          .sl = link.sl,
                          .traffic_class = link.traffic_class,
                          .hop_limit = link.hop_limit,
                          .scope = link.scope,
                          .flow_label = link.flow_label,
                          .mtu = link.mtu};
}

const Profile& profile_of(const Options& options, const Mutation* mutation) {
    const std::string_view name = options.profile.empty() && mutation ? mutation->profile : options.profile;
    if (name.empty()) throw UsageError("no profile is named (ipoib-gen --list)");
    if (const auto* profile = find_profile(name)) return *profile;
    throw UsageError("there is no profile '" + std::string(name) + "' (ipoib-gen --list)");
}

const Mutation* mutation_of(const Options& options) {
    if (options.mutate.empty()) return nullptr;
    if (const auto* mutation = find_mutation(options.mutate)) return mutation;
    throw UsageError("there is no mutation '" + options.mutate + "' (ipoib-gen --list-mutations)");
}

/// Ctrl-C ends the file where a record ends; a second one ends the program.
void stop_on_interrupt() {
    struct sigaction action {};
    action.sa_handler = [](int) { fabric::Loop::request_stop(); };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaction(signal, &action, nullptr);
}

int list() {
    for (const auto* profile : all_profiles())
        fmt::print("{:<14} {} (impact {})\n", profile->name, profile->what, name(profile->impact));
    return exit_ok;
}

int list_mutations() {
    for (const auto* mutation : all_mutations()) {
        fmt::print("{:<20} {}; on {}\n{:<20} breaks", mutation->name, mutation->what, mutation->profile, "");
        for (const auto* requirement : mutation->breaks) fmt::print(" {}", requirement->id);
        fmt::print("\n");
    }
    return exit_ok;
}

int list_fields() {
    for (const auto* header : headers())
        for (const auto& field : header->fields)
            fmt::print("{}.{:<28} {:>3} bits  {}\n", header->name, field.name, field.width, field.help);
    return exit_ok;
}

/// What of --set no packet had: a misunderstanding that must not pass in silence.
void refuse_unused(const std::vector<Override>& overrides, const std::vector<std::uint64_t>& used) {
    for (std::size_t i = 0; i < overrides.size(); ++i)
        if (used[i] == 0)
            throw UsageError("--set " + overrides[i].name() + ": no packet of this profile has such a header");
}

void generate(const Options& options, Sink& sink) {
    const auto* mutation = mutation_of(options);
    const auto& profile = profile_of(options, mutation);
    Scene scene{options.scene};
    Stage stage{scene, options.stage, sink};
    std::vector<Override> overrides;
    for (const auto& text : options.set) overrides.emplace_back(text);
    std::vector<std::uint64_t> used(overrides.size());
    if (mutation || !overrides.empty())
        stage.change = [&](build::PacketBuilder& packet) {
            if (mutation) mutation->change(packet);
            for (std::size_t i = 0; i < overrides.size(); ++i)
                used[i] += overrides[i].apply(packet, stage.random()) ? 1 : 0;
            return true;
        };
    if (options.damage > 0)
        stage.damage = [&, rate = options.damage](wire::MutableOctets frame) {
            if (std::uniform_real_distribution<>{}(stage.random()) >= rate) return;
            const auto bit = stage.any(frame.size() * 8);
            frame[bit / 8] = static_cast<std::uint8_t>(frame[bit / 8] ^ 0x80u >> bit % 8);
        };
    stage.is_stopped = [] { return fabric::Loop::stop_requested(); };
    play(profile, stage);
    refuse_unused(overrides, used);
}

int run(Options& options) {
    if (options.lists) return list();
    if (options.lists_mutations) return list_mutations();
    if (options.lists_fields) return list_fields();
    take_scenario(options);
    take_size(options);
    options.stage.spacing = spacing(options);
    if (options.duration > 0)
        options.stage.duration = std::chrono::duration_cast<Time>(std::chrono::duration<double>(options.duration));
    (void)profile_of(options, mutation_of(options));
    if (options.is_dry) {
        PrintSink sink;
        generate(options, sink);
        return exit_ok;
    }
    if (options.out.empty()) throw UsageError("--out FILE says where to, '-' is standard output; or --dry-run");
    for (const auto* kind : {"simulated", "socket:", "verbs:", "umad:"})
        if (options.out.starts_with(kind))
            throw UsageError("--out " + options.out + ": sending to a fabric is not built yet");
    auto sink = [&] {
        try {
            return CaptureSink{options.out};
        } catch (const std::runtime_error& wrong) {
            throw UsageError(wrong.what());
        }
    }();
    generate(options, sink);
    sink.close();
    const bool is_json = options.stats == "json";
    if (!options.is_quiet)
        std::cerr << (is_json
                          ? fmt::format("{{\"packets\": {}, \"octets\": {}}}\n", sink.packets(), sink.octets())
                          : fmt::format("{} packets, {} octets, to {}\n", sink.packets(), sink.octets(), options.out));
    return exit_ok;
}

void add_options(CLI::App& program, Options& options) {
    program.add_option("PROFILE", options.profile, "What kind of traffic (--list)")->type_name("PROFILE");
    program
        .add_option("--out", options.out, "A capture: pcapng by that suffix, else ERF in pcap; '-' is standard output")
        ->type_name("FILE");
    program
        .add_option("--set", options.set,
                    "HEADER.FIELD=VALUE, =A,B,C, =FIRST..LAST[/STEP], =random [FIRST..LAST]; again for more")
        ->type_name("FIELD=VALUE");
    program
        .add_option("--mutate", options.mutate, "One wrong thing in every packet that it is about (--list-mutations)")
        ->type_name("NAME");
    program.add_option("--count", options.stage.count, "Packets, beside those of the bring-up; 1000 unless it is said")
        ->type_name("N");
    program.add_option("--duration", options.duration, "Seconds at most")
        ->check(CLI::NonNegativeNumber)
        ->type_name("T");
    program.add_option("--rate", options.rate, "Packets a second (1000), or bits: 10Mbit")->type_name("R");
    program.add_option("--size", options.size, "Octets of payload, or LEAST..MOST")->type_name("S");
    program.add_option("--seed", options.stage.seed, "The same seed gives the same octets")->type_name("N");
    program
        .add_option("--damage", options.damage,
                    "This part of the packets (0 to 1) has one wrong bit anywhere, as on a bad cable")
        ->check(CLI::Range(0.0, 1.0))
        ->type_name("R");
    program.add_option("--stats", options.stats, "The summary: human or json")
        ->check(CLI::IsMember({"human", "json"}))
        ->type_name("FORM");
    program.add_flag("--keep-crc", options.stage.keeps_crc,
                     "The CRCs are those of the packet before --set and --mutate");
    program.add_option("--hosts", options.scene.hosts, "Hosts on the fabric")->type_name("N");
    program.add_option("--groups", options.scene.groups, "Multicast groups in use")->type_name("N");
    program.add_option("--partitions", options.scene.partitions, "Links, each a partition of all hosts")
        ->type_name("N");
    program.add_option("--scenario", options.scenario, "The link's parameters: default, controlled, scope5 ...")
        ->type_name("NAME");
    program.add_flag("--dry-run", options.is_dry, "Print each packet, write nothing");
    program.add_flag("--quiet", options.is_quiet, "No summary");
    program.add_flag("--list", options.lists, "Print the profiles");
    program.add_flag("--list-mutations", options.lists_mutations,
                     "Print the mutations, and the requirements that each breaks");
    program.add_flag("--list-fields", options.lists_fields, "Print the fields for --set");
    program.footer("Exit code: 0 done, 2 wrong usage, 3 the output could not be written to its end.");
}

}  // namespace
}  // namespace ipoib::traffic

int main(int argc, char** argv) {
    using namespace ipoib::traffic;
    std::signal(SIGPIPE, SIG_IGN);
    CLI::App program{"Generates IP over InfiniBand traffic with every bit under control.", "ipoib-gen"};
    program.set_version_flag("--version", std::string("ipoib-gen ") + ipoib::suite_version, "Print the version");
    Options options;
    add_options(program, options);
    try {
        program.parse(argc, argv);
        stop_on_interrupt();
        return run(options);
    } catch (const CLI::ParseError& error) {
        return program.exit(error) != 0 ? exit_usage : exit_ok;
    } catch (const UsageError& error) {
        std::cerr << "ipoib-gen: " << error.what() << '\n';
        return exit_usage;
    } catch (const std::invalid_argument& error) {
        std::cerr << "ipoib-gen: " << error.what() << '\n';
        return exit_usage;
    } catch (const std::exception& error) {
        std::cerr << "ipoib-gen: " << error.what() << '\n';
        return exit_fault;
    }
}
