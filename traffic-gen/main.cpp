// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-gen: IPoIB traffic with every bit under control, into captures and onto fabrics.
#include "base/complain.hpp"
#include "conformance/terminal/help.hpp"
#include "conformance/terminal/manual.hpp"
#include "conformance/terminal/terminal.hpp"
#include "generated/version.hpp"
#include "protocol/wire/registry.hpp"
#include "traffic-gen/fabric_sink.hpp"
#include "traffic-gen/fields.hpp"
#include "traffic-gen/mutation.hpp"
#include "traffic-gen/options.hpp"
#include "traffic-gen/profile.hpp"

#include <fmt/format.h>

#include <csignal>
#include <string>
#include <utility>

namespace ipoib::traffic {
namespace {

using conformance::for_terminal;

int list() {
    std::string text;
    for (const auto* profile : all_profiles())
        text += fmt::format("{:<21}  {} (impact {})\n", profile->name, profile->what, name(profile->impact));
    fmt::print("{}", for_terminal(std::move(text)));
    return exit_ok;
}

int list_mutations() {
    std::string text;
    for (const auto* mutation : all_mutations()) {
        text += fmt::format("{:<20}  {}; on {}\n{:<20}  breaks", mutation->name, mutation->what, mutation->profile, "");
        for (const auto* requirement : mutation->breaks) text += fmt::format(" {}", requirement->id);
        text += '\n';
    }
    fmt::print("{}", for_terminal(std::move(text)));
    return exit_ok;
}

int list_fields() {
    std::string text;
    for (const auto& row : wire::registry())
        for (const auto& field : row.header->fields)
            text += fmt::format("{}.{:<28} {:>3} bits  {}\n", row.header->name, field.name, field.width, field.help);
    fmt::print("{}", for_terminal(std::move(text)));
    return exit_ok;
}

int run(const Options& options) {
    if (options.lists) return list();
    if (options.lists_mutations) return list_mutations();
    if (options.lists_fields) return list_fields();
    return generate(options);
}

int say(const std::exception& error, int code) {
    complain("ipoib-gen", error.what());
    return code;
}

}  // namespace
}  // namespace ipoib::traffic

int main(int argc, char** argv) {
    using namespace ipoib::traffic;
    std::signal(SIGPIPE, SIG_IGN);
    std::signal(SIGXFSZ, SIG_IGN);
    CLI::App program{"Generates IP over InfiniBand traffic with every bit under control.", "ipoib-gen"};
    program.set_version_flag("--version", std::string("ipoib-gen ") + ipoib::suite_version, "Print the version");
    ipoib::conformance::wrap_help(program);
    Options options;
    ReceiveOptions wanted;
    add_options(program, options);
    auto* const receiver = program.add_subcommand("receive", "Count what another ipoib-gen sends, by its numbers");
    add_receive_options(*receiver, wanted);
    ipoib::conformance::add_manual(program, "generate IP over InfiniBand traffic with every bit under control",
                                   "PROFILE [OPTION]...");
    ipoib::conformance::add_help(program);
    try {
        program.parse(argc, argv);
        ipoib::conformance::stop_on_interrupt();
        if (*receiver && !(options.profile.empty() && options.out.empty()))
            throw UsageError("receive has options of its own: nothing of sending goes before it");
        if (*receiver) return receive(wanted);
        // The others have told what they have to tell.
        return program.get_subcommands().empty() ? run(options) : exit_ok;
    } catch (const CLI::ParseError& error) {
        return ipoib::conformance::tell(program, error);
    } catch (const UsageError& error) {
        return say(error, exit_usage);
    } catch (const Refused& error) {
        return say(error, exit_usage);
    } catch (const std::invalid_argument& error) {
        return say(error, exit_usage);
    } catch (const std::exception& error) {
        return say(error, exit_fault);
    }
}
