// SPDX-License-Identifier: GPL-2.0-or-later
#include "catch2.hpp"
#include "conformance/target/fabrics/socket.hpp"
#include "conformance/target/hca.hpp"

#include <stdexcept>

namespace ipoib::conformance {
namespace {

TEST_CASE("Fabric options: a device with its port, and what is said of its fabric") {
    const auto bare = umad_target("");
    CHECK(bare.port.device.empty());
    CHECK(bare.port.number == 0);
    CHECK(bare.p_key == 0);
    CHECK(umad_target("mlx5_0").port.device == "mlx5_0");
    const auto full = umad_target("mlx5_0/2,pkey=0x8001,sm-key=77,issm");
    CHECK(full.port.device == "mlx5_0");
    CHECK(full.port.number == 2);
    CHECK(full.p_key == 0x8001);
    CHECK(full.sm_key == 77);
    CHECK(full.raises_issm);
    CHECK_FALSE(umad_target(",sm-key=0x10").raises_issm);
    CHECK(umad_target(",sm-key=0x10").sm_key == 0x10);
}

TEST_CASE("Fabric options: what is no device, port or key is refused") {
    for (const auto* list : {"mlx5_0/", "mlx5_0/one", "mlx5_0/256", "mlx5_0/-1", "mlx5_0,", "mlx5_0,mlx5_1",
                             "mlx5_0,pkey=", "mlx5_0,pkey=0x10000", "mlx5_0,pkey=0x8000", "mlx5_0,sm-key=one"})
        CHECK_THROWS_AS(umad_target(list), std::invalid_argument);
    CHECK_THROWS_AS(umad_target("mlx5_0,gid=1"), std::invalid_argument);
    for (const auto* list : {"mlx5_0,issm", "mlx5_0,gid=", "mlx5_0,gid=65536", "mlx5_0,second=a/256", "mlx5_0,tap=/t"})
        CHECK_THROWS_AS(verbs_target(list), std::invalid_argument);
}

TEST_CASE("Fabric options: a port of verbs, with a second one") {
    const auto target = verbs_target("mlx5_0/1,gid=3,pkey=0x8001,second=mlx5_1/2,sm-key=1");
    CHECK(target.port.device == "mlx5_0");
    CHECK(target.gid_index == 3);
    CHECK(target.p_key == 0x8001);
    REQUIRE(target.second);
    CHECK(target.second->device == "mlx5_1");
    CHECK(target.second->number == 2);
    CHECK_FALSE(verbs_target("").second);
}

TEST_CASE("Fabric options: raw ports, a tap and a key") {
    const auto options = socket_options("/a,tap=/t,/b,sm-key=0x10");
    CHECK(options.paths == std::vector<std::string>{"/a", "/b"});
    CHECK(options.tap == "/t");
    CHECK(options.sm_key == 0x10);
    for (const auto* list : {"", "/a,", "/a,tap=", "tap=/t", "/a,sm-key=x"})
        CHECK_THROWS_AS(socket_options(list), std::invalid_argument);
}

}  // namespace
}  // namespace ipoib::conformance
