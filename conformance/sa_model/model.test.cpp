// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/sa_model/model.hpp"

#include "catch2.hpp"

namespace ipoib::conformance::sa_model {
namespace {

TEST_CASE("A model without groups refuses leaves") {
    const Model model{{.ports = {{.gid = wire::Gid::of(wire::default_subnet_prefix, 1), .p_keys = {0xffff}}}, .administrative = {}}};
    CHECK(model.groups().empty());
}

}  // namespace
}  // namespace ipoib::conformance::sa_model
