// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/dut/linux/facts.hpp"

#include "conformance/dut/linux/changed_files.hpp"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/utsname.h>

#include <algorithm>
#include <filesystem>

namespace ipoib::host {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t link_address_length = 59;  ///< of 20 octets in hex, with colons

/// As far as the field of the kernel is filled.
template <std::size_t N>
std::string string_in(const char (&field)[N]) {
    return {field, std::find(field, field + N, '\0')};
}

std::optional<ethtool_drvinfo> driver_of(const std::string& interface) {
    const Descriptor socket{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    ethtool_drvinfo info{};
    info.cmd = ETHTOOL_GDRVINFO;
    ifreq request{};
    interface.copy(request.ifr_name, IFNAMSIZ - 1);
    request.ifr_data = reinterpret_cast<char*>(&info);
    if (!socket || ::ioctl(socket.value(), SIOCETHTOOL, &request) != 0) return {};
    return info;
}

/// The adapter that has a port with this GUID.
fs::path device_with(const std::string& guid) {
    std::error_code error;
    for (const auto& device : fs::directory_iterator("/sys/class/infiniband", error))
        for (const auto& port : fs::directory_iterator(device.path() / "ports", error)) {
            auto gid = read_text((port.path() / "gids/0").string()).value_or("");
            std::erase(gid, ':');
            if (gid.size() == 32 && "0x" + gid.substr(16) == guid) return device.path();
        }
    return {};
}

}  // namespace

std::string kernel_release() {
    utsname names{};
    return ::uname(&names) == 0 ? names.release : std::string{};
}

bool lacks_connected_mode(const std::string& link_address) {
    // The first bit of the flags is RC.
    return link_address.size() == link_address_length && link_address[0] >= '0' && link_address[0] < '8';
}

std::string guid_in(const std::string& link_address) {
    constexpr std::size_t guid_at = 36;
    if (link_address.size() != link_address_length) return {};
    auto guid = link_address.substr(guid_at);
    std::erase(guid, ':');
    return "0x" + guid;
}

Json facts_of(const std::string& interface, const std::string& link_address) {
    Json facts{{"kernel", kernel_release()}};
    std::string firmware;
    if (const auto driver = driver_of(interface)) {
        facts["driver"] = string_in(driver->driver);
        firmware = string_in(driver->fw_version);
    }
    const auto guid = guid_in(link_address);
    if (!guid.empty()) facts["guid"] = guid;
    if (const auto device = guid.empty() ? fs::path{} : device_with(guid); !device.empty()) {
        facts["device"] = device.filename().string();
        for (const auto& [file, name] : {std::pair{"hca_type", "hardware"}, std::pair{"node_desc", "node"}})
            if (const auto text = read_text((device / file).string()); text && !text->empty()) facts[name] = *text;
        if (firmware.empty() || firmware == "N/A") firmware = read_text((device / "fw_ver").string()).value_or("");
    }
    if (!firmware.empty() && firmware != "N/A") facts["firmware"] = firmware;
    return facts;
}

}  // namespace ipoib::host
