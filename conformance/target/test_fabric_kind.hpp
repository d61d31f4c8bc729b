// SPDX-License-Identifier: GPL-2.0-or-later
// A kind of fabric as docs/adding-a-fabric.md tells how to write one; behind it is a simulated one in virtual time.
#pragma once

#include "conformance/target/fabric_kind.hpp"
#include "fabric/simulated/fabric.hpp"

#include <array>
#include <stdexcept>

namespace ipoib::conformance::toy {

inline constexpr std::array forms{FabricForm{FabricUse::run, "toy:BOX[,lid=N]", "a box of toys"},
                                  FabricForm{FabricUse::traffic, "toy:BOX", "a box of toys"},
                                  FabricForm{FabricUse::audit, "toy:BOX", "toys that are looked at"}};

inline OpenedFabric open(const Opening& opening) {
    if (opening.words() != "box") throw std::invalid_argument(opening.named() + " there is a box only");
    return {std::make_unique<fabric::SimulatedFabric>(
                fabric::SimulatedOptions{.seed = opening.seed, .tester_ports = opening.hosts.value_or(2)}),
            0xffff};
}

inline std::unique_ptr<fabric::Fabric> look(const Opening& opening) { return open(opening).fabric; }

inline fabric::Abilities abilities(const Opening&) { return fabric::Ability::reports; }

inline const FabricKind kind{.scheme = "toy",
                             .owner = Owner::program,
                             .usual_impact = fabric::Impact::link,
                             .forms = forms,
                             .hosts = "boxes",
                             .open = open,
                             .look = look,
                             .abilities = abilities};
inline const FabricKind* const list[]{&kind};
/// Of a program that knows no other.
inline const FabricKinds kinds{list};

}  // namespace ipoib::conformance::toy
