// SPDX-License-Identifier: GPL-2.0-or-later
// From options to a target: what is not said follows from the profile and the fabric.
#include "conformance/command/target_options.hpp"

#include "conformance/command/report_options.hpp"
#include "conformance/command/usage.hpp"
#include "conformance/target/simulated_target.hpp"
#include "conformance/terminal/help.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ipoib::conformance {
namespace {

constexpr double least_scale = 0.1, most_scale = 1000;

/// The option takes no other names.
Impact impact_of(const TargetOptions& options) {
    return fabric::find_impact(options.allow).value_or(fabric_kinds().usual_impact(options.fabric));
}

std::string dut_of(const TargetOptions& options, const Profile& profile) {
    if (!options.dut.empty()) return options.dut;
    if (!profile.adapter.empty()) return "exec:" + profile.adapter;
    const auto* kind = fabric_kinds().find(options.fabric, FabricUse::run);
    if (kind && !kind->carries_data) return "sa";
    // What is no fabric at all is refused as such, later.
    if (options.listen.empty() && (!kind || kind->is_ours())) return "reference";
    throw UsageError("--dut is missing: exec:COMMAND for an adapter, sa, or none when nothing controls the DUT");
}

Profile profile_of(const std::string& path) {
    if (path.empty()) return {};
    auto loaded = load_profile(path);
    if (!loaded) throw UsageError(loaded.error);
    return std::move(*loaded);
}

std::optional<wire::IpNetwork> tester_ip_of(const std::string& text, const Profile& profile) {
    if (!text.empty()) {
        const auto network = wire::parse_network(text);
        if (!network) throw UsageError("'" + text + "' is no address with prefix length, such as 10.1.0.1/24");
        return network;
    }
    return profile.tester.empty() ? std::nullopt : std::optional{profile.tester.front()};
}

/// A comparison that also refuses what is no number.
void refuse_wrong_scale(double scale) {
    if (scale >= least_scale && scale <= most_scale) return;
    throw UsageError(fmt::format("--timeout-scale is {}; it may be from {} to {}", scale, least_scale, most_scale));
}

}  // namespace

void add_target_options(CLI::App& command, TargetOptions& options) {
    command.add_option("--fabric", options.fabric, "Where the DUT is: " + fabric_kinds().help(FabricUse::run))
        ->check(not_empty())
        ->type_name("FABRIC");
    command
        .add_option("--dut", options.dut,
                    "The implementation under test: reference (the default on simulated), mutant:NAME, sa (the "
                    "fabric's subnet administrator), exec:COMMAND (an adapter that controls it), none (nothing "
                    "controls it)")
        ->check(not_empty())
        ->type_name("DUT");
    command.add_option("--scenario", options.scenario, "How the link is set up: " + scenario_names())
        ->check(not_empty())
        ->type_name("NAME");
    command
        .add_option("--listen", options.listen,
                    "With simulated: open a raw port at this path, for a stack in another process")
        ->check(not_empty())
        ->type_name("PATH");
    command.add_option("--fabric-control", options.fabric_control, "A command that changes the fabric from outside")
        ->check(not_empty())
        ->type_name("COMMAND");
    command.add_option("--tester-ip", options.tester_ip, "The tester's own address; else a free one beside the DUT's")
        ->check(not_empty())
        ->type_name("ADDRESS/LENGTH");
    command
        .add_option("--timeout-scale", options.timeout_scale,
                    "Waits so many times as long (0.1 to 1000), for slow machines")
        ->type_name("X");
}

void add_permission_options(CLI::App& command, TargetOptions& options) {
    command.add_option("--profile", options.profile, "What the DUT is and how it is controlled")
        ->check(not_empty())
        ->type_name("DUT.toml");
    command
        .add_option("--allow", options.allow,
                    "Who may notice that a case runs: observe (nobody), dut, link (other nodes of the partition), "
                    "fabric (anybody; the default on " +
                        fabric_kinds().schemes(FabricUse::run, Impact::fabric) +
                        "; elsewhere it is dut); what is not allowed is NA")
        ->check(one_of({"observe", "dut", "link", "fabric"}))
        ->type_name("IMPACT");
    command.add_flag("--allow-long", options.allows_long,
                     "Waits for times that the profile states though they are minutes; in virtual time always");
}

Aim aim(const TargetOptions& options, std::uint64_t seed) {
    refuse_wrong_scale(options.timeout_scale);
    const auto* kind = fabric_kinds().with_scheme_of(options.fabric);
    if (!options.listen.empty() && (!kind || !kind->is_ours()))
        throw UsageError("--listen is for the simulated fabric; " + options.fabric + " is another");
    auto profile = profile_of(options.profile);
    Aim aim{.target = {.fabric = options.fabric,
                       .dut = dut_of(options, profile),
                       .scenario = options.scenario,
                       .listen = options.listen,
                       .fabric_control = options.fabric_control,
                       .session = {.interface = profile.interface,
                                   .tester_ip = tester_ip_of(options.tester_ip, profile),
                                   .dut_addresses = profile.addresses,
                                   .timeout_scale = options.timeout_scale,
                                   .seed = seed,
                                   .allows_long = options.allows_long}},
            .run = {}};
    aim.target.session.allows_long |= aim.target.is_ours() && aim.target.listen.empty();
    aim.run.judges_sa = aim.target.judges_sa();
    aim.run.has_control = aim.target.has_control();
    aim.run.allow = impact_of(options);
    aim.run.seed = seed;
    const bool is_known = options.profile.empty() && aim.target.is_ours();
    aim.run.profile = is_known ? reference_profile(aim.target) : std::move(profile);
    return aim;
}

std::unique_ptr<Rig> rig_for(const Target& target) {
    return told_apart([&] { return make_rig(target); });
}

fabric::Abilities abilities_at(const Target& target) {
    return told_apart([&] { return abilities_of(target); });
}

std::vector<std::string> words_of(const TargetOptions& options) {
    const TargetOptions usual;
    std::vector<std::string> words;
    const auto add = [&](const char* name, const std::string& value, const std::string& otherwise = {}) {
        if (value != otherwise) words.insert(words.end(), {name, value});
    };
    add("--fabric", options.fabric, usual.fabric);
    add("--dut", options.dut);
    add("--scenario", options.scenario, usual.scenario);
    add("--listen", options.listen);
    add("--fabric-control", options.fabric_control);
    add("--tester-ip", options.tester_ip);
    add("--timeout-scale", fmt::format("{}", options.timeout_scale), fmt::format("{}", usual.timeout_scale));
    add("--profile", options.profile);
    add("--allow", options.allow);
    if (options.allows_long) words.emplace_back("--allow-long");
    return words;
}

}  // namespace ipoib::conformance
