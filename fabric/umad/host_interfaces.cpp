// SPDX-License-Identifier: GPL-2.0-or-later
// The host's network interfaces, as Linux lists them.
#include "fabric/umad/host_interfaces.hpp"

#include "protocol/wire/link_address.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>

namespace ipoib::fabric {
using namespace wire;

namespace {

/// Octets in hex with colons between, exactly as many as a link-layer address has; else none.
bool read_address(const std::filesystem::path& path, Bytes<LinkAddress>& address) {
    std::ifstream file{path};
    std::size_t count = 0;
    for (std::string octet; std::getline(file, octet, ':'); ++count) {
        std::istringstream digits{octet};
        unsigned value = 0;
        if (count >= LinkAddress::size || !(digits >> std::hex >> value) || value > 0xff) return false;
        address.octets[count] = static_cast<std::uint8_t>(value);
    }
    return count == LinkAddress::size;
}

}  // namespace

bool has_ipoib_interface(const std::string& folder, std::uint64_t port_guid) {
    std::error_code error;
    for (const auto& interface : std::filesystem::directory_iterator{folder, error}) {
        Bytes<LinkAddress> address;
        if (read_address(interface.path() / "address", address) &&
            address[LinkAddress::gid].interface_id() == port_guid)
            return true;
    }
    return false;
}

bool has_ipoib_driver(const std::string& folder) {
    std::error_code error;
    return std::filesystem::exists(folder + "/ib_ipoib", error);
}

}  // namespace ipoib::fabric
