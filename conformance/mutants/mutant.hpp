// SPDX-License-Identifier: GPL-2.0-or-later
// An implementation changed on purpose: one small change of the reference stack, the simulated SA or the simulated HCA.
#pragma once

#include "fabric/simulated/subnet.hpp"
#include "fabric/simulated/subnet_administrator.hpp"
#include "protocol/registry.hpp"
#include "protocol/requirements/catalogue.hpp"
#include "stack/node.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace ipoib::conformance {

/// Something that a stack does now and then, unasked.
struct Habit {
    std::chrono::milliseconds every{};
    void (*act)(stack::Node& node) = nullptr;
};

using Broken = std::vector<const requirements::Requirement*>;
using Spared = std::vector<std::string_view>;

/// The same change of a stack, in what it decides about IPv6 only: a mutant of its own, "NAME-ipv6". What is not said
/// here is as it is said of the mutant.
struct Twin {
    std::optional<Broken> breaks{}, sometimes{};
    std::optional<Spared> spares{};
};

/// One mutant. It is defined once, at namespace scope, and is known by that.
struct Mutant {
    std::string_view name;  ///< "reserved-not-zero": for --dut mutant:NAME, or simulated:sa-mutant=NAME
    std::string_view what;  ///< the change in words
    /// The requirements that it breaks; what these are part of, or the same as, is broken too. None: what it does is
    /// permitted, and whoever finds fault with it is wrong.
    Broken breaks;
    void (*stack)(stack::Policy& policy) = nullptr;
    void (*hca)(fabric::HcaBehaviour& behaviour) = nullptr;
    void (*sa)(fabric::SaBehaviour& behaviour) = nullptr;
    /// Of the stack: what it asks the subnet administrator by.
    void (*client)(fabric::SaClient& client) = nullptr;
    /// Of the DUT's port: delays, duplicates.
    void (*cable)(fabric::LinkFaults& faults) = nullptr;
    /// Permitted, but it may come between question and answer: cases may be INCONC.
    bool may_doubt = false;
    Habit habit{};
    /// How long its adapter takes to do what it is asked, and once more to say so.
    std::chrono::milliseconds adapter_delay{};
    /// The scenario in which it shows; empty: in every one.
    std::string_view scenario{};
    /// Broken as well, but by frames that not every one of its cases brings about.
    Broken sometimes{};
    /// Cases that judge one of `breaks` and do not find it, since they take a way that the change does not touch, or
    /// cannot get that far.
    Spared spares{};
    /// It receives nothing any more after what it breaks. With one DUT for the whole suite, whatever is found later is
    /// true of who does not live any more.
    bool does_not_live_on = false;
    /// That of a change which IPv6 alone can have, too: of packets, groups or neighbours of both families.
    std::optional<Twin> twin{};
    /// Whether it is a twin: `stack` changes the policy for IPv6 only.
    bool is_of_ipv6 = false;
    Registered<Mutant> registered{this};
};

/// What was changed: "stack", "HCA" or "SA"; "permitted" where whatever it does is right.
[[nodiscard]] std::string_view kind(const Mutant&) noexcept;

/// What decides in the stack that the mutant is; the reference's for one that is no wrong stack.
[[nodiscard]] stack::Policies policies_of(const Mutant&);

/// All mutants and their twins, by name.
[[nodiscard]] const std::vector<const Mutant*>& all_mutants();
[[nodiscard]] const Mutant* find_mutant(std::string_view name);

}  // namespace ipoib::conformance
