// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/umad/device.hpp"

#include "catch2.hpp"

#include <stdexcept>

namespace ipoib::fabric {
namespace {

TEST_CASE("MAD device: a port that the host does not have is refused by name") {
    CHECK_THROWS_AS(UmadDevice({.device = "no-such-device"}), std::invalid_argument);
    CHECK_THROWS_WITH(UmadDevice({.device = "no-such-device"}), ContainsSubstring("'no-such-device'"));
}

TEST_CASE("MAD device: rates as the host writes them") {
    CHECK(rate_code(2) == 2);  // 2.5
    CHECK(rate_code(10) == 3);
    CHECK(rate_code(40) == 7);
    CHECK(rate_code(14) == 11);
    CHECK(rate_code(100) == 16);
    CHECK(rate_code(400) == 21);
    CHECK(rate_code(0) == 0);
    CHECK(rate_code(41) == 0);
}

}  // namespace
}  // namespace ipoib::fabric
