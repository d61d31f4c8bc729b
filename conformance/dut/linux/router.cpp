// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/dut/linux/router.hpp"

#include "conformance/dut/linux/line_protocol.hpp"

#include <poll.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace ipoib::host {
namespace {

constexpr milliseconds ip_limit{3000}, daemon_patience{1000};

void ip(const Arguments& arguments) {
    Arguments all{"ip"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    if (const auto outcome = run(all, ip_limit); !outcome.is_ok()) fail(outcome.errors);
}

}  // namespace

std::string router_configuration(const std::string& interface) {
    std::string text = "phyint " + interface + " enable\nphyint " + Router::far_side + " enable\n";
    for (const auto& [from, to] : {std::pair<std::string, std::string>{interface, Router::far_side},
                                   std::pair<std::string, std::string>{Router::far_side, interface}})
        for (const auto* const groups : {"225.0.0.0/8", "232.0.0.0/8", "239.0.0.0/8", "ff05::/16", "ff08::/16",
                                         "ff0e::/16", "ff15::/16", "ff18::/16", "ff1e::/16"})
            text.append("mroute from ")
                .append(from)
                .append(" group ")
                .append(groups)
                .append(" to ")
                .append(to)
                .append("\n");
    return text;
}

void Router::enable(const std::string& interface) {
    if (is_enabled_) return;
    if (!run({"smcrouted", "-v"}, ip_limit).is_ok())
        refuse_as_unsupported("multicast routing needs smcrouted (package smcroute)");
    is_enabled_ = true;
    try {
        start(interface);
    } catch (...) {
        disable();
        throw;
    }
}

void Router::start(const std::string& interface) {
    ip({"link", "add", far_side, "type", "dummy"});
    ip({"link", "set", "dev", far_side, "multicast", "on", "up"});
    // Of these interfaces only: the settings for all would change every other one, and not back again.
    for (const auto& name : {interface, std::string(far_side)})
        for (const auto* const version : {"ipv4", "ipv6"}) {
            const auto file = std::string("/proc/sys/net/") + version + "/conf/" + name + "/forwarding";
            if (!read_text(file)) continue;  // a kernel without IPv6
            if (const auto reason = settings_.change(file, "1"); !reason.empty()) fail(reason);
        }
    std::string folder = (std::filesystem::temp_directory_path() / "ipoib-dut-router-XXXXXX").string();
    if (!::mkdtemp(folder.data())) fail("no folder for the router: " + error_text(errno));
    folder_ = folder;
    std::ofstream(folder_ + "/smcroute.conf") << router_configuration(interface);
    daemon_ = Background(
        {"smcrouted", "-n", "-N", "-f", folder_ + "/smcroute.conf", "-P", folder_ + "/pid", "-u", folder_ + "/socket"});
    // It says that it is ready by its socket.
    constexpr int pause = 20, rounds = 150;
    for (int i = 0; i < rounds && daemon_.is_running(); ++i) {
        if (std::filesystem::exists(folder_ + "/socket")) return;
        ::poll(nullptr, 0, pause);
    }
    fail("smcrouted does not start");
}

void Router::disable() noexcept {
    if (!std::exchange(is_enabled_, false)) return;
    daemon_.end(daemon_patience);
    settings_.restore();
    static_cast<void>(run({"ip", "link", "del", "dev", far_side}, ip_limit));
    std::error_code error;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, error);
    folder_.clear();
}

}  // namespace ipoib::host
