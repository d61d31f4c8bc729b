// SPDX-License-Identifier: GPL-2.0-or-later
// The host's network interfaces, as Linux lists them.
#include "fabric/host/host_interfaces.hpp"

#include "fabric/host/sysfs.hpp"
#include "protocol/wire/link_address.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>
#include <filesystem>

namespace ipoib::fabric {
using namespace wire;

namespace {

/// Exactly as many octets as a link-layer address has; else none.
bool read_address(const std::filesystem::path& path, Bytes<LinkAddress>& address) {
    const auto octets = parse_octets(line_of(path));
    if (!octets || octets->size() != LinkAddress::size) return false;
    std::ranges::copy(*octets, address.octets.begin());
    return true;
}

}  // namespace

std::vector<HostInterface> ipoib_interfaces(const std::string& folder) {
    std::vector<HostInterface> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator{folder, error}) {
        Bytes<LinkAddress> address;
        if (!read_address(entry.path() / "address", address)) continue;
        const auto path = entry.path().string() + '/';
        constexpr std::uint64_t up = 1;
        found.push_back({.name = entry.path().filename(),
                         .port_guid = address[LinkAddress::gid].interface_id(),
                         .p_key = static_cast<std::uint16_t>(parse_number(line_of(path + "pkey")).value_or(0)),
                         .mode = line_of(path + "mode"),
                         .is_up = (parse_number(line_of(path + "flags")).value_or(0) & up) != 0});
    }
    std::ranges::sort(found, {}, &HostInterface::name);
    return found;
}

bool has_ipoib_interface(const std::string& folder, std::uint64_t port_guid) {
    return std::ranges::any_of(ipoib_interfaces(folder),
                               [&](const HostInterface& one) { return one.port_guid == port_guid; });
}

bool has_ipoib_driver(const std::string& folder) {
    std::error_code error;
    return std::filesystem::exists(folder + "/ib_ipoib", error);
}

}  // namespace ipoib::fabric
