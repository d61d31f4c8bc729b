// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/host/host_interfaces.hpp"

#include "temporary_folder.hpp"

#include "catch2.hpp"

#include <filesystem>
#include <fstream>

namespace ipoib::fabric {
namespace {

constexpr std::uint64_t guid = 0x0002c9030008f735;

struct Interfaces {
    void add(const std::string& name, const std::string& address) const {
        std::filesystem::create_directory(folder / name);
        std::ofstream{folder / (name + "/address")} << address;
    }
    [[nodiscard]] bool have(std::uint64_t port_guid) const { return has_ipoib_interface(folder / "", port_guid); }
    TemporaryFolder folder;
};

TEST_CASE("Host's interfaces: an IPoIB interface is known by the port GUID in its link-layer address") {
    Interfaces interfaces;
    interfaces.add("lo", "00:00:00:00:00:00\n");
    CHECK_FALSE(interfaces.have(guid));
    interfaces.add("ib0", "80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:08:f7:35\n");
    CHECK(interfaces.have(guid));
    CHECK_FALSE(interfaces.have(guid + 1));
}

TEST_CASE("Host's interfaces: each with its partition, mode and state") {
    Interfaces interfaces;
    interfaces.add("ib1", "80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:08:f7:35\n");
    interfaces.add("ib0", "80:00:02:09:fe:80:00:00:00:00:00:00:00:02:c9:03:00:08:f7:35\n");
    std::ofstream{interfaces.folder / "ib1/pkey"} << "0x8001\n";
    std::ofstream{interfaces.folder / "ib1/mode"} << "connected\n";
    std::ofstream{interfaces.folder / "ib1/flags"} << "0x1003\n";
    const auto found = ipoib_interfaces(interfaces.folder / "");
    REQUIRE(found.size() == 2);
    CHECK(found[0].name == "ib0");
    CHECK(found[0].p_key == 0);
    CHECK_FALSE(found[0].is_up);
    CHECK(found[1].p_key == 0x8001);
    CHECK(found[1].mode == "connected");
    CHECK(found[1].is_up);
}

TEST_CASE("Host's interfaces: what is no link-layer address of IPoIB is none") {
    Interfaces interfaces;
    interfaces.add("short", "80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:08:f7\n");
    interfaces.add("long", "80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:08:f7:35:00\n");
    interfaces.add("words", "80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:08:f7:port\n");
    interfaces.add("large", "80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:08:f7:135\n");
    std::filesystem::create_directory(interfaces.folder / "mute");
    CHECK_FALSE(interfaces.have(guid));
    // As if the octet that is missing were zero.
    CHECK_FALSE(interfaces.have(guid & ~std::uint64_t{0xff}));
    CHECK_FALSE(has_ipoib_interface(interfaces.folder / "no-such-folder", guid));
}

TEST_CASE("Host's interfaces: where the driver is, an interface may be out of sight") {
    const TemporaryFolder folder;
    CHECK_FALSE(has_ipoib_driver(folder / ""));
    std::filesystem::create_directory(folder / "ib_ipoib");
    CHECK(has_ipoib_driver(folder / ""));
}

}  // namespace
}  // namespace ipoib::fabric
