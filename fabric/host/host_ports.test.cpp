// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/host/host_ports.hpp"

#include "catch2.hpp"
#include "temporary_folder.hpp"

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>

namespace ipoib::fabric {
namespace {

constexpr HostRights all_rights{.lockable = ~std::uint64_t{0}, .has_raw_network = true};

/// A host's /sys and /dev, with one port that lacks nothing.
struct Host {
    Host() {
        port("mlx5_0", "1");
        write("sys/class/infiniband_mad/umad0/ibdev", "mlx5_0\n");
        write("sys/class/infiniband_mad/umad0/port", "1\n");
        write("sys/class/infiniband_mad/issm0/ibdev", "mlx5_0\n");
        write("sys/class/infiniband_verbs/uverbs0/ibdev", "mlx5_0\n");
        write("dev/infiniband/umad0", "");
        write("dev/infiniband/uverbs0", "");
    }
    void write(const std::string& path, const std::string& text) const {
        const std::filesystem::path whole{directory / path};
        std::filesystem::create_directories(whole.parent_path());
        std::ofstream{whole} << text;
    }
    void remove(const std::string& path) const { std::filesystem::remove_all(directory / path); }
    void port(const std::string& device, const std::string& number) const {
        const auto folder = "sys/class/infiniband/" + device + "/ports/" + number + '/';
        write(folder + "link_layer", "InfiniBand\n");
        write(folder + "state", "4: ACTIVE\n");
        write(folder + "rate", "100 Gb/sec (4X EDR)\n");
        write(folder + "lid", "0x3\n");
        write(folder + "sm_lid", "0x1\n");
        write(folder + "gids/0", "fe80:0000:0000:0000:0002:c903:0008:f735\n");
        for (const auto* index : {"0", "1", "2", "10"}) write(folder + "pkeys/" + index, "0x0000\n");
        write(folder + "pkeys/0", "0xffff\n");
        write(folder + "pkeys/10", "0x8001\n");
        write(folder + "pkeys/2", "0x0002\n");
    }
    [[nodiscard]] HostPort one(const HostRights& rights = all_rights) const {
        const auto ports = host_ports(directory / "", rights);
        REQUIRE(ports.size() == 1);
        return ports[0];
    }
    /// The only thing that is in the way.
    [[nodiscard]] std::string obstacle(const HostRights& rights = all_rights) const {
        const auto port = one(rights);
        REQUIRE(port.obstacles.size() == 1);
        return port.obstacles[0];
    }
    TemporaryFolder directory;
};
constexpr const char* folder = "sys/class/infiniband/mlx5_0/ports/1/";

/// Whether it holds for a user who owns nothing; root may do anything.
bool as_nobody(const std::function<bool()>& holds) {
    const auto child = ::fork();
    if (child == 0) {
        constexpr uid_t nobody = 65534;
        const bool is_nobody = ::geteuid() != 0 || ::setuid(nobody) == 0;
        ::_exit(is_nobody && holds() ? 0 : 1);
    }
    int status = 0;
    return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST_CASE("Host's ports: a port that can be used, as the kernel tells it") {
    const Host host;
    host.write("sys/class/net/ib0/address", "80:00:02:08:fe:80:00:00:00:00:00:00:00:02:c9:03:00:08:f7:35\n");
    host.write("sys/class/net/eth0/address", "00:01:02:03:04:05\n");
    const auto port = host.one();
    CHECK(port.name() == "mlx5_0/1");
    CHECK(port.state == "ACTIVE");
    CHECK(port.rate == "100 Gb/sec (4X EDR)");
    CHECK(port.lid == 3);
    CHECK(port.sm_lid == 1);
    CHECK(port.gid.interface_id() == 0x0002c9030008f735);
    CHECK(port.p_keys == std::vector<std::uint16_t>{0xffff, 0x0002, 0x8001});
    REQUIRE(port.interfaces.size() == 1);
    CHECK(port.interfaces[0].name == "ib0");
    CHECK(port.obstacles.empty());
}

TEST_CASE("Host's ports: each thing that is missing has its words") {
    const Host host;
    SECTION("RoCE") {
        host.write(std::string(folder) + "link_layer", "Ethernet\n");
        CHECK_THAT(host.obstacle(), ContainsSubstring("its link layer is Ethernet (RoCE or iWARP)"));
    }
    SECTION("no cable") {
        host.write(std::string(folder) + "state", "1: DOWN\n");
        CHECK_THAT(host.obstacle(), ContainsSubstring("no cable"));
    }
    SECTION("no subnet manager") {
        host.write(std::string(folder) + "state", "2: INIT\n");
        CHECK_THAT(host.obstacle(), ContainsSubstring("it is INIT: no subnet manager"));
    }
    SECTION("a subnet manager that is gone") {
        host.write(std::string(folder) + "sm_lid", "0x0\n");
        CHECK_THAT(host.obstacle(), ContainsSubstring("knows no subnet manager"));
    }
    SECTION("no module for MADs") {
        host.remove("sys/class/infiniband_mad");
        CHECK_THAT(host.obstacle(), ContainsSubstring("modprobe ib_umad"));
    }
    SECTION("no module for verbs") {
        host.remove("sys/class/infiniband_verbs");
        CHECK_THAT(host.obstacle(), ContainsSubstring("modprobe ib_uverbs"));
    }
    SECTION("no device file") {
        host.remove("dev/infiniband/umad0");
        CHECK_THAT(host.obstacle(), ContainsSubstring("/dev/infiniband/umad0 is missing"));
    }
    SECTION("no permission") {
        REQUIRE(::chmod((host.directory / "dev/infiniband/uverbs0").c_str(), 0) == 0);
        REQUIRE(::chmod((host.directory / "").c_str(), 0755) == 0);
        CHECK(as_nobody([&] {
            const auto ports = host_ports(host.directory / "", all_rights);
            const auto tells = [](const std::string& obstacle) {
                return obstacle.find("uverbs0 is not readable and writable") != std::string::npos;
            };
            return ports.size() == 1 && std::ranges::any_of(ports[0].obstacles, tells);
        }));
    }
    SECTION("a limited member") {
        for (const auto* index : {"0", "10"}) host.write(std::string(folder) + "pkeys/" + index, "0x7fff\n");
        CHECK_THAT(host.obstacle(), ContainsSubstring("full member of no partition"));
    }
    SECTION("no memory") { CHECK_THAT(host.obstacle({.lockable = 65536}), ContainsSubstring("only 64 KiB")); }
}

TEST_CASE("Host's ports: another device's files are not a port's") {
    const Host host;
    host.port("mlx5_1", "1");
    const auto ports = host_ports(host.directory / "", all_rights);
    REQUIRE(ports.size() == 2);
    CHECK(ports[0].obstacles.empty());
    CHECK(ports[1].obstacles.size() == 2);
}

TEST_CASE("Host's ports: what is damaged, or not there, is no port that can be used") {
    const Host host;
    for (const auto* file : {"lid", "sm_lid", "state", "gids/0", "pkeys/0", "rate"})
        host.write(std::string(folder) + file, std::string(5000, 'x'));
    CHECK_FALSE(host.one().obstacles.empty());
    const TemporaryFolder nothing;
    CHECK(host_ports(nothing / "", all_rights).empty());
    CHECK_THAT(why_no_ports(nothing / ""), ContainsSubstring("ib_core is not loaded"));
    std::filesystem::create_directories(nothing / "sys/class/infiniband");
    CHECK_THAT(why_no_ports(nothing / ""), ContainsSubstring("no adapter"));
}

}  // namespace
}  // namespace ipoib::fabric
