// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-conform: the judge's command line.
#include "base/complain.hpp"
#include "conformance/command/commands.hpp"
#include "conformance/command/output.hpp"
#include "conformance/terminal/help.hpp"
#include "conformance/terminal/manual.hpp"
#include "generated/version.hpp"

#include <array>
#include <csignal>
#include <exception>
#include <system_error>

namespace ipoib::conformance {
namespace command {

// One row each; the object is defined in the file of its name.
extern const Command audit, baseline, check, decode, devices, diff, explain, explore, fuzz, links, list, matrix, merge,
    profile, requirements, run, selftest, shrink, verify, watch;

}  // namespace command

namespace {

/// In the order of the help.
constexpr std::array commands{&command::check,        &command::run,     &command::audit,    &command::selftest,
                              &command::explore,      &command::fuzz,    &command::profile,  &command::list,
                              &command::requirements, &command::explain, &command::links,    &command::watch,
                              &command::decode,       &command::shrink,  &command::verify,   &command::devices,
                              &command::diff,         &command::merge,   &command::baseline, &command::matrix};

constexpr std::string_view about =
    "Judges IP over InfiniBand stacks by RFC 4391, statement by statement, with the frames that prove it.";
constexpr std::string_view examples =
    "Examples:\n"
    "  ipoib-conform check ibdump.pcap                      judge a capture\n"
    "  ipoib-conform check ibdump.pcap rfc4391/6 tag:arp    only section 6 and what concerns ARP\n"
    "  ipoib-conform run                                    the suite against the reference stack, simulated\n"
    "  ipoib-conform run --profile DUT.toml --evidence DIR  against a stack of one's own, keeping the frames\n"
    "  tcpdump -i ib0 -U -w - | ipoib-conform check -       judge live traffic; Ctrl-C prints the verdicts\n"
    "  ipoib-conform merge n1=n1.json n2=n2.json            one report of many hosts\n"
    "  ipoib-conform links ibdump.pcap                      who is where, and why multicast does not arrive\n"
    "  ipoib-conform explain RFC4391-6-02                   what a requirement says and what checks it\n"
    "  ipoib-conform decode ibdump.pcap#7                   frame 7, field by field\n"
    "\n"
    "ipoib-conform help COMMAND tells more of each command.";

/// CLI11 would only say that a command is required.
void refuse_unknown_command(const CLI::App& program, int argc, char** argv) {
    if (argc < 2 || argv[1][0] == '-') return;
    const auto named = [&](const CLI::App* command) { return command->get_name() == argv[1]; };
    if (program.get_subcommands(named).empty())
        throw UsageError(no_command(program, argv[1]) + " (ipoib-conform help)");
}

}  // namespace
}  // namespace ipoib::conformance

int main(int argc, char** argv) {
    using namespace ipoib::conformance;
    // A reader that goes away (| head) must not kill the program before the reports are written.
    std::signal(SIGPIPE, SIG_IGN);
    // A limit on the size of files is a report that cannot be written, like a full disk.
    std::signal(SIGXFSZ, SIG_IGN);
    CLI::App program{std::string(about), "ipoib-conform"};
    program.set_version_flag("--version", std::string("ipoib-conform ") + ipoib::suite_version, "Print the version");
    program.require_subcommand(1);
    wrap_help(program);
    int exit_code = exit_ok;
    for (const auto* one : commands) {
        auto* added = program.add_subcommand(std::string(one->name), std::string(one->about));
        added->callback([action = one->set_up(*added, argv[0]), &exit_code] { exit_code = action(); });
    }
    add_manual(program, "judge IP over InfiniBand stacks by RFC 4391", "COMMAND [OPTION]...");
    add_help(program);
    // Set last: a subcommand would take it over.
    program.footer(std::string(examples));
    try {
        refuse_unknown_command(program, argc, argv);
        program.parse(argc, argv);
        flush_output();
    } catch (const CLI::ParseError& error) {
        return tell(program, error);
    } catch (const std::system_error& error) {
        if (error.code().value() == EPIPE) return exit_code;
        ipoib::complain("ipoib-conform", error.what());
        return exit_usage;
    } catch (const Fault& fault) {
        ipoib::complain("ipoib-conform", fault.what());
        return exit_fault;
    } catch (const std::exception& error) {
        ipoib::complain("ipoib-conform", error.what());
        return exit_usage;
    }
    return exit_code;
}
