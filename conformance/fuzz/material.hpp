// SPDX-License-Identifier: GPL-2.0-or-later
// Right packets by name, for lies to begin with: datagrams, what managers and administrators say, messages of
// connection management, and what goes over connections.
#pragma once

#include "conformance/fuzz/operation.hpp"
#include "conformance/fuzz/scene.hpp"

namespace ipoib::conformance::fuzz {

struct Material {
    std::string_view name;
    Area area;
    build::PacketBuilder (*make)(Scene& scene);
};

[[nodiscard]] std::span<const Material> all_materials();
/// Null for a name that is none.
[[nodiscard]] const Material* find_material(std::string_view name);

}  // namespace ipoib::conformance::fuzz
