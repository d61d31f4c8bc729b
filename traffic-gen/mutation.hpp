// SPDX-License-Identifier: GPL-2.0-or-later
// One wrong thing that a sender can do, by name, with all the requirements that it breaks.
#pragma once

#include "protocol/build/packet_builder.hpp"
#include "protocol/registry.hpp"
#include "protocol/requirements/catalogue.hpp"

#include <string_view>
#include <vector>

namespace ipoib::traffic {

struct Mutation {
    std::string_view name;  ///< "reserved-not-zero": for --mutate
    std::string_view what;  ///< the change in words
    /// The requirements that it breaks; what these are part of, or the same as, is broken too.
    std::vector<const requirements::Requirement*> breaks;
    std::string_view profile;  ///< whose packets it is about; --mutate takes it where no profile is named
    /// Changes a packet, if it is one of those.
    void (*change)(build::PacketBuilder& packet) = nullptr;
    /// Of what it breaks, what no capture can prove, since something off the wire may explain it: there the judge of
    /// captures says INCONC.
    std::vector<const requirements::Requirement*> unproven{};
    Registered<Mutation> registered{this};
};

/// All mutations, by name.
[[nodiscard]] std::vector<const Mutation*> all_mutations();
[[nodiscard]] const Mutation* find_mutation(std::string_view name);

}  // namespace ipoib::traffic
