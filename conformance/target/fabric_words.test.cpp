// SPDX-License-Identifier: GPL-2.0-or-later
#include "catch2.hpp"
#include "conformance/target/fabrics/socket.hpp"
#include "conformance/target/hca.hpp"

#include <stdexcept>

namespace ipoib::conformance {
namespace {

HcaTarget umad_words(const std::string& list) { return umad_target({.fabric = "umad:" + list}); }
HcaTarget verbs_words(const std::string& list) { return verbs_target({.fabric = "verbs:" + list}); }
fabric::SocketOptions socket_words(const std::string& list) { return socket_options({.fabric = "socket:" + list}); }

/// As ipoib-gen names it.
std::string why_not(std::string_view fabric) {
    try {
        (void)fabric_kinds().find(fabric, FabricUse::traffic)->open({.fabric = fabric, .option = "--out"});
    } catch (const std::invalid_argument& why) {
        return why.what();
    }
    return {};
}

TEST_CASE("Fabric options: a device with its port, and what is said of its fabric") {
    const auto bare = umad_words("");
    CHECK(bare.port.device.empty());
    CHECK(bare.port.number == 0);
    CHECK(bare.p_key == 0);
    CHECK(umad_words("mlx5_0").port.device == "mlx5_0");
    const auto full = umad_words("mlx5_0/2,pkey=0x8001,sm-key=77,issm");
    CHECK(full.port.device == "mlx5_0");
    CHECK(full.port.number == 2);
    CHECK(full.p_key == 0x8001);
    CHECK(full.sm_key == 77);
    CHECK(full.raises_issm);
    CHECK_FALSE(umad_words(",sm-key=0x10").raises_issm);
    CHECK(umad_words(",sm-key=0x10").sm_key == 0x10);
}

TEST_CASE("Fabric options: what is no device, port or key is refused") {
    for (const auto* list : {"mlx5_0/", "mlx5_0/one", "mlx5_0/256", "mlx5_0/-1", "mlx5_0,", "mlx5_0,mlx5_1",
                             "mlx5_0,pkey=", "mlx5_0,pkey=0x10000", "mlx5_0,pkey=0x8000", "mlx5_0,sm-key=one"})
        CHECK_THROWS_AS(umad_words(list), std::invalid_argument);
    CHECK_THROWS_AS(umad_words("mlx5_0,gid=1"), std::invalid_argument);
    for (const auto* list : {"mlx5_0,issm", "mlx5_0,gid=", "mlx5_0,gid=65536", "mlx5_0,second=a/256", "mlx5_0,tap=/t"})
        CHECK_THROWS_AS(verbs_words(list), std::invalid_argument);
}

TEST_CASE("Fabric options: a port of verbs, with a second one") {
    const auto target = verbs_words("mlx5_0/1,gid=3,pkey=0x8001,second=mlx5_1/2,sm-key=1");
    CHECK(target.port.device == "mlx5_0");
    CHECK(target.gid_index == 3);
    CHECK(target.p_key == 0x8001);
    REQUIRE(target.second);
    CHECK(target.second->device == "mlx5_1");
    CHECK(target.second->number == 2);
    CHECK_FALSE(verbs_words("").second);
}

TEST_CASE("Fabric options: raw ports, a tap and a key") {
    const auto options = socket_words("/a,tap=/t,/b,sm-key=0x10");
    CHECK(options.paths == std::vector<std::string>{"/a", "/b"});
    CHECK(options.tap == "/t");
    CHECK(options.sm_key == 0x10);
    for (const auto* list : {"", "/a,", "/a,tap=", "tap=/t", "/a,sm-key=x"})
        CHECK_THROWS_AS(socket_words(list), std::invalid_argument);
}

TEST_CASE("Fabric options: a message names the option that names the fabric") {
    CHECK(why_not("socket:") == "--out socket: needs a path, or paths with commas between");
    CHECK(why_not("socket:tap=/t") == "--out socket: needs a path of a raw port");
    CHECK(why_not("verbs:x,foo").starts_with("--out verbs: "));
    CHECK(Opening{.fabric = "umad:x"}.named() == "--fabric umad:");
}

}  // namespace
}  // namespace ipoib::conformance
