// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-dut-linux: the DUT adapter for a Linux host. docs/porting.md has the protocol.
#include "conformance/dut/linux/host.hpp"

#include <cstdio>
#include <exception>
#include <string_view>
#include <utility>

namespace {

using namespace ipoib::host;

constexpr const char* usage =
    "usage: ipoib-dut-linux [--mode datagram|connected] [--router] [--dhcp-client PROGRAM] [--dhcp-server PROGRAM]\n"
    "                       [INTERFACE]\n"
    "The DUT adapter for this Linux host: requests of ipoib-conform on standard input, answers on standard output.\n"
    "INTERFACE is ib0 if it is not given. Needs root. Everything that was changed is put back at the end.\n"
    "The PROGRAM of a DHCP client or server is called with the interface's name, stays until SIGTERM, and takes back\n"
    "then what it has set up. Without one the host does not do DHCP.\n";

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
        } else if (!word.starts_with('-') && !word.empty() && !std::exchange(has_interface, true)) {
            options.interface = word;
        } else {
            options.is_wrong = true;
        }
    }
    return options;
}

int complain(const std::string& what) {
    std::fprintf(stderr, "ipoib-dut-linux: %s\n", what.c_str());
    return 1;
}

}  // namespace

int main(int count, char** words) try {
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
