// SPDX-License-Identifier: GPL-2.0-or-later
// Options and their help.
#include "traffic-gen/options.hpp"

#include "conformance/terminal/help.hpp"
#include "conformance/terminal/numbers.hpp"
#include "fabric/simulated/scenario.hpp"
#include "protocol/wire/text.hpp"
#include "traffic-gen/capture_sink.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdlib>

namespace ipoib::traffic {
namespace {

const auto& kinds = conformance::fabric_kinds();
using conformance::FabricUse;
using conformance::positive;

/// Seconds that a clock can count.
CLI::Validator seconds() {
    return {[](std::string& text) {
                constexpr double least = 1e-3, most = 1e8;
                char* end = nullptr;
                const double number = std::strtod(text.c_str(), &end);
                return *end == '\0' && number >= least && number <= most
                           ? std::string()
                           : "'" + text + "' is no time from 0.001 to 100000000 seconds";
            },
            ""};
}

/// What every JSON reader keeps: up to 2^53.
CLI::Validator counting() {
    return {[](std::string& text) {
                const auto number = wire::parse_number(text);
                return number && *number <= std::uint64_t{1} << 53 ? std::string()
                                                                   : "'" + text + "' is no number from 0 to 2^53";
            },
            ""};
}

/// What both commands have.
template <class Both>
void add_common(CLI::App& command, Both& options) {
    command.add_option("--count", options.count, "Packets; without it 1000, or as many as --duration takes")
        ->check(positive())
        ->check(counting())
        ->type_name("N");
    command.add_option("--duration", options.duration, "Seconds at most")->check(seconds())->type_name("T");
    command.add_option("--groups", options.groups, "Multicast groups; by --seed it is known which")->type_name("N");
    command.add_option("--seed", options.seed, "The same seed gives the same octets")
        ->check(counting())
        ->type_name("N");
    command.add_option("--ip", options.ipv4, "On a fabric: the IPv4 address of our first host; the others count on")
        ->type_name("ADDRESS");
    command.add_option("--scenario", options.scenario, "The link's parameters: " + fabric::scenario_names())
        ->type_name("NAME");
    command
        .add_option("--listen", options.listen,
                    "On the simulated fabric: a raw port for nodes in other processes, such as another ipoib-gen")
        ->type_name("PATH");
    command.add_option("--stats", options.stats, "The summary: human or json")
        ->check(conformance::one_of({"human", "json"}))
        ->type_name("FORM");
    command.add_option("--interval", options.interval, "Tell what was counted every T seconds")
        ->check(seconds())
        ->type_name("T");
    command
        .add_option("--allow", options.allow,
                    "Who may notice: observe, dut (whom the packets are for), link (the partition), fabric (anybody; "
                    "the default but on " +
                        kinds.schemes(FabricUse::traffic, fabric::Impact::dut) + ", where it is dut)")
        ->check(conformance::one_of({"observe", "dut", "link", "fabric"}))
        ->type_name("IMPACT");
    command.add_flag("--quiet", options.is_quiet, "No summary");
}

void add_traffic(CLI::App& program, Options& options) {
    program.add_option("PROFILE", options.profile, "What kind of traffic (--list)")->type_name("PROFILE");
    program
        .add_option("--out", options.out,
                    "A capture: pcapng by that suffix, else pcap; '-' is standard output. Or a fabric: " +
                        kinds.help(FabricUse::traffic))
        ->type_name("FILE|FABRIC");
    program.add_option("--in", options.input, "The capture that the profile replay sends")->type_name("CAPTURE");
    program
        .add_option("--timing", options.timing,
                    "Of a replay: recorded, max (without pauses), or how many times as fast (2, 0.5)")
        ->type_name("HOW");
    program
        .add_option("--rate", options.rate,
                    "Packets a second (1000), or bits (10Mbit); FIRST..LAST rises over the run; max: no pauses")
        ->type_name("R");
    program.add_option("--size", options.size, "Octets of payload, or LEAST..MOST")->type_name("S");
    program.add_option("--hosts", options.hosts, "Hosts on the fabric" + kinds.help_on_hosts())
        ->check(positive())
        ->type_name("N");
    program.add_option("--partitions", options.partitions, "Links, each a partition of all hosts")
        ->check(positive())
        ->type_name("N");
    program.add_option("--to", options.to, "On a fabric: a neighbour to send to, by its address; again for more")
        ->type_name("ADDRESS");
    program
        .add_option("--link-type", options.link_type,
                    fmt::format("Of a capture: {} (whole frames); {} (as an IP network device shows it)",
                                fmt::join(link_type_names(true), ", "), fmt::join(link_type_names(false), ", ")))
        ->type_name("NAME");
}

void add_control(CLI::App& program, Options& options) {
    program
        .add_option("--set", options.set,
                    "HEADER.FIELD=VALUE, =A,B,C, =FIRST..LAST[/STEP], =random [FIRST..LAST]; again for more")
        ->type_name("FIELD=VALUE");
    program
        .add_option("--mutate", options.mutate, "One wrong thing in every packet that it is about (--list-mutations)")
        ->type_name("NAME");
    program
        .add_option("--damage", options.damage,
                    "This part of the packets (0 to 1) has one wrong bit anywhere, as on a bad cable")
        ->check(conformance::from_to(0.0, 1.0))
        ->type_name("R");
    program.add_flag("--keep-crc", options.keeps_crc, "The CRCs are those of the packet before --set and --mutate");
    program.add_option("--min-rate", options.least_rate, "Exit code 1 when it was slower than this, as --rate has it")
        ->type_name("R");
    program.add_flag("--dry-run", options.is_dry, "Print each packet, write nothing");
    program.add_flag("--list", options.lists, "Print the profiles");
    program.add_flag("--list-mutations", options.lists_mutations,
                     "Print the mutations, and the requirements that each breaks");
    program.add_flag("--list-fields", options.lists_fields, "Print the fields for --set");
}

}  // namespace

void add_options(CLI::App& program, Options& options) {
    add_traffic(program, options);
    add_common(program, options);
    add_control(program, options);
    program.footer(
        "Exit code: 0 done, 1 --min-rate or a bound of receive was not kept, 2 wrong usage, or a packet that the "
        "fabric "
        "cannot send, 3 the output could not be written to its end, or the fabric is gone.");
}

void add_receive_options(CLI::App& command, ReceiveOptions& options) {
    command.add_option("--from", options.from, "Where they come from: " + kinds.help(FabricUse::traffic))
        ->required()
        ->type_name("FABRIC");
    add_common(command, options);
    command
        .add_option("--patience", options.patience,
                    "Seconds: where fewer than --count come, wait no longer for the next")
        ->check(seconds())
        ->type_name("T");
    command.add_option("--max-loss", options.most_loss, "Exit code 1 when more percent of the packets were lost")
        ->check(conformance::from_to(0.0, 100.0))
        ->type_name("PERCENT");
    command.add_option("--max-duplicates", options.most_doubled, "Exit code 1 when more came twice")
        ->check(counting())
        ->type_name("N");
    command.add_option("--max-reordered", options.most_overtaken, "Exit code 1 when more came late")
        ->check(counting())
        ->type_name("N");
}

std::optional<std::uint32_t> ipv4_of(const std::string& text) {
    if (text.empty()) return std::nullopt;
    const auto address = wire::parse_ipv4(text);
    constexpr std::uint32_t first_group = 0xe0000000;
    if (!address || *address == 0 || *address >= first_group)
        throw UsageError("--ip " + text + ": an address such as 10.1.0.1");
    return address;
}

}  // namespace ipoib::traffic
