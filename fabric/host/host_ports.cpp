// SPDX-License-Identifier: GPL-2.0-or-later
// /sys/class/infiniband, and the files in /dev by which its ports are used.
#include "fabric/host/host_ports.hpp"

#include "fabric/host/sysfs.hpp"
#include "protocol/wire/mgid.hpp"
#include "protocol/wire/text.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <limits>
#include <utility>

namespace ipoib::fabric {
using namespace wire;
namespace files = std::filesystem;

namespace {

/// What a queue pair of fabric/verbs locks, rounded up.
constexpr std::uint64_t memory_needed = std::uint64_t{4} << 20;

std::vector<std::string> names_in(const std::string& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (const auto& entry : files::directory_iterator{folder, error}) names.push_back(entry.path().filename());
    std::ranges::sort(names, [](const std::string& a, const std::string& b) {
        return a.size() != b.size() && parse_number(a) && parse_number(b) ? a.size() < b.size() : a < b;
    });
    return names;
}

/// "4: ACTIVE" without its number.
std::string behind_colon(const std::string& line) {
    const auto colon = line.find(": ");
    return colon == std::string::npos ? line : line.substr(colon + 2);
}

std::uint16_t short_in(const std::string& line) {
    const auto number = parse_number(line).value_or(0);
    return number <= 0xffff ? static_cast<std::uint16_t>(number) : std::uint16_t{0};
}

/// The character device of a class ("infiniband_mad/umad") that belongs to a device, and to a port where it says so.
std::string device_file(const std::string& root, const std::string& folder, const std::string& prefix,
                        const HostPort& port) {
    const auto path = root + "/sys/class/" + folder + '/';
    for (const auto& name : names_in(path)) {
        if (!name.starts_with(prefix) || line_of(path + name + "/ibdev") != port.device) continue;
        const auto number = line_of(path + name + "/port");
        if (number.empty() || parse_number(number) == port.number) return "/dev/infiniband/" + name;
    }
    return {};
}

void check_file(const std::string& root, const std::string& file, const std::string& module, HostPort& port) {
    if (file.empty()) {
        port.obstacles.push_back("no program can reach it: the module " + module + " is not loaded (modprobe " +
                                 module + ")");
        return;
    }
    std::error_code error;
    if (!files::exists(root + file, error))
        port.obstacles.push_back(file + " is missing: udev makes it, a container needs it handed in");
    else if (::access((root + file).c_str(), R_OK | W_OK) != 0)
        port.obstacles.push_back(file +
                                 " is not readable and writable for you: be root, or have a udev rule give it to " +
                                 "a group of yours (ls -l " + file + ")");
}

void check_state(HostPort& port) {
    if (port.state == "DOWN")
        port.obstacles.emplace_back("it is down: no cable, or nothing at its other end");
    else if (port.state != "ACTIVE")
        port.obstacles.push_back("it is " + port.state +
                                 ": no subnet manager has made it active (opensm, or the switch's)");
    else if (port.sm_lid == 0)
        port.obstacles.emplace_back("it knows no subnet manager");
}

HostPort port_at(const std::string& root, std::string device, const std::string& number, const HostRights& rights) {
    const auto folder = root + "/sys/class/infiniband/" + device + "/ports/" + number + '/';
    HostPort port{.device = std::move(device),
                  .number = static_cast<unsigned>(parse_number(number).value_or(0)),
                  .link_layer = line_of(folder + "link_layer"),
                  .state = behind_colon(line_of(folder + "state")),
                  .rate = line_of(folder + "rate"),
                  .lid = short_in(line_of(folder + "lid")),
                  .sm_lid = short_in(line_of(folder + "sm_lid")),
                  .gid = parse_gid(line_of(folder + "gids/0")).value_or(Gid{})};
    const auto p_keys = folder + "pkeys/";
    for (const auto& index : names_in(p_keys))
        if (const auto p_key = short_in(line_of(p_keys + index))) port.p_keys.push_back(p_key);
    if (port.link_layer != "InfiniBand") {
        port.obstacles.push_back("its link layer is " + (port.link_layer.empty() ? "unknown" : port.link_layer) +
                                 (port.link_layer == "Ethernet" ? " (RoCE or iWARP)" : "") +
                                 ": IPoIB needs InfiniBand");
        return port;
    }
    for (auto& interface : ipoib_interfaces(root + "/sys/class/net"))
        if (interface.port_guid == port.gid.interface_id()) port.interfaces.push_back(std::move(interface));
    check_state(port);
    check_file(root, device_file(root, "infiniband_mad", "umad", port), "ib_umad", port);
    check_file(root, device_file(root, "infiniband_verbs", "uverbs", port), "ib_uverbs", port);
    if (std::ranges::none_of(port.p_keys, is_full_member))
        port.obstacles.emplace_back(
            "it is a full member of no partition: the subnet manager says which (partitions.conf)");
    if (rights.lockable < memory_needed)
        port.obstacles.push_back("only " + std::to_string(rights.lockable / 1024) +
                                 " KiB of memory can be locked for the adapter: ulimit -l " +
                                 std::to_string(memory_needed / 1024));
    return port;
}

}  // namespace

HostRights HostRights::mine() {
    HostRights rights;
    rlimit limit{};
    const bool is_limited = ::getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    std::ifstream status{"/proc/self/status"};
    std::uint64_t capabilities = 0;
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("CapEff:\t")) capabilities = parse_number("0x" + line.substr(8)).value_or(0);
    constexpr unsigned net_raw = 13, ipc_lock = 14;
    rights.has_raw_network = (capabilities >> net_raw & 1) != 0;
    const bool locks_any = !is_limited || (capabilities >> ipc_lock & 1) != 0;
    rights.lockable = locks_any ? std::numeric_limits<std::uint64_t>::max() : std::uint64_t{limit.rlim_cur};
    return rights;
}

std::vector<HostPort> host_ports(const std::string& root, const HostRights& rights) {
    std::vector<HostPort> ports;
    const auto folder = root + "/sys/class/infiniband/";
    for (const auto& device : names_in(folder))
        for (const auto& number : names_in(folder + device + "/ports"))
            ports.push_back(port_at(root, device, number, rights));
    return ports;
}

std::string why_no_ports(const std::string& root) {
    std::error_code error;
    if (!files::exists(root + "/sys/class/infiniband", error))
        return "this host has no RDMA device: the kernel's module ib_core is not loaded";
    return "this host has no RDMA device: there is no adapter, or no driver for it is loaded (lspci -k)";
}

}  // namespace ipoib::fabric
