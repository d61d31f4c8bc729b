// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/engine/fabric_options.hpp"

#include "catch2.hpp"

#include <stdexcept>

namespace ipoib::conformance {
namespace {

TEST_CASE("Fabric options: a device with its port, and what is said of its fabric") {
    const auto bare = umad_target("");
    CHECK(bare.device.empty());
    CHECK(bare.port == 0);
    CHECK(bare.p_key == 0);
    CHECK(umad_target("mlx5_0").device == "mlx5_0");
    const auto full = umad_target("mlx5_0/2,pkey=0x8001,sm-key=77,issm");
    CHECK(full.device == "mlx5_0");
    CHECK(full.port == 2);
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
