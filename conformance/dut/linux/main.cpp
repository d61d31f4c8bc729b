// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-dut-linux: the DUT adapter for a Linux host. docs/porting.md has the protocol.
#include "base/json_object.hpp"
#include "conformance/dut/linux/host.hpp"
#include "conformance/dut/linux/host_state.hpp"

#include <cstdio>
#include <exception>
#include <string_view>
#include <utility>

namespace {

using namespace ipoib::host;

constexpr const char* usage =
    "usage: ipoib-dut-linux [--mode datagram|connected] [--router] [--dhcp-client PROGRAM] [--dhcp-server PROGRAM]\n"
    "                       [--coverage FILE] [INTERFACE]\n"
    "       ipoib-dut-linux state [INTERFACE...]\n"
    "The DUT adapter for this Linux host: requests of ipoib-conform on standard input, answers on standard output.\n"
    "INTERFACE is ib0 if it is not given. Needs root. Everything that was changed is put back at the end.\n"
    "The PROGRAM of a DHCP client or server is called with the interface's name, stays until SIGTERM, and takes back\n"
    "then what it has set up. Without one the host does not do DHCP.\n"
    "The FILE of --coverage gives a line for each block of the kernel's code that ran, once: scripts/lab fuzz.\n"
    "state writes what Linux shows of the interfaces, or of all IPoIB interfaces, as JSON, for --host-state of\n"
    "ipoib-conform links and audit. It changes nothing; what only root may read is named where it is not run as "
    "root.\n";

struct Options {
    std::string interface = "ib0";
    Host::Role role;
    bool is_wrong = false, is_help = false;
};

Options read_options(int count, char** words) {
    Options options;
    bool has_interface = false;
    for (int i = 1; i < count; ++i) {
        const std::string_view word = words[i];
        if (word == "--help" || word == "-h") {
            options.is_help = true;
        } else if (word == "--router") {
            options.role.is_router = true;
        } else if (word == "--mode" && i + 1 < count) {
            options.role.mode = words[++i];
            options.is_wrong |= options.role.mode != "datagram" && options.role.mode != "connected";
        } else if (word == "--dhcp-client" && i + 1 < count) {
            options.role.dhcp_client = words[++i];
        } else if (word == "--dhcp-server" && i + 1 < count) {
            options.role.dhcp_server = words[++i];
        } else if (word == "--coverage" && i + 1 < count) {
            options.role.coverage = words[++i];
        } else if (!word.starts_with('-') && !word.empty() && !std::exchange(has_interface, true)) {
            options.interface = word;
        } else {
            options.is_wrong = true;
        }
    }
    return options;
}

int complain_of_usage() {
    std::fputs(usage, stderr);
    return 2;
}

int complain(const std::string& what) {
    std::fprintf(stderr, "ipoib-dut-linux: %s\n", what.c_str());
    return 1;
}

/// A line, so that those of many hosts may stand one after the other in a file.
int tell_state(int count, char** words) {
    std::vector<std::string> interfaces(words, words + count);
    for (const auto& name : interfaces)
        if (name.empty() || name.starts_with('-')) return complain_of_usage();
    if (interfaces.empty()) interfaces = ipoib_interfaces();
    if (interfaces.empty()) return complain("this host has no IPoIB interface in this network namespace");
    const auto text = ipoib::json_line(state_of(interfaces)) + '\n';
    const bool is_written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0;
    return is_written ? 0 : complain("standard output cannot be written");
}

}  // namespace

int main(int count, char** words) try {
    if (count > 1 && std::string_view{words[1]} == "state") return tell_state(count - 2, words + 2);
    const auto options = read_options(count, words);
    if (options.is_help || options.is_wrong) {
        std::fputs(usage, options.is_help ? stdout : stderr);
        return options.is_help ? 0 : 2;
    }
    const Interruption interruption;
    Host host(options.interface, options.role, interruption);
    host.begin();
    serve(host.handlers(), interruption);
    return 0;
} catch (const Refusal& refused) {
    return complain(refused.message);
} catch (const std::exception& error) {
    return complain(error.what());
}
