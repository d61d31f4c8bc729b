// SPDX-License-Identifier: GPL-2.0-or-later
// An implementation changed on purpose: one small change of the reference stack, the simulated SA or the simulated HCA.
#pragma once

#include "fabric/simulated/subnet.hpp"
#include "fabric/simulated/subnet_administrator.hpp"
#include "protocol/registry.hpp"
#include "protocol/requirements/catalogue.hpp"
#include "stack/node.hpp"

#include <string_view>
#include <vector>

namespace ipoib::conformance {

/// Something that a stack does now and then, unasked.
struct Habit {
    std::chrono::milliseconds every{};
    void (*act)(stack::Node& node) = nullptr;
};

/// One mutant. It is defined once, at namespace scope, and is known by that.
struct Mutant {
    std::string_view name;  ///< "reserved-not-zero": for --dut mutant:NAME, or simulated:sa-mutant=NAME
    std::string_view what;  ///< the change in words
    /// The requirements that it breaks; what these are part of, or the same as, is broken too. None: what it does is
    /// permitted, and whoever finds fault with it is wrong.
    std::vector<const requirements::Requirement*> breaks;
    void (*stack)(stack::Policy& policy) = nullptr;
    void (*hca)(fabric::HcaBehaviour& behaviour) = nullptr;
    void (*sa)(fabric::SaBehaviour& behaviour) = nullptr;
    /// Of the DUT's port: delays, duplicates.
    void (*cable)(fabric::LinkFaults& faults) = nullptr;
    /// Permitted, but it may come between question and answer: cases may be INCONC.
    bool may_doubt = false;
    Habit habit{};
    /// The scenario in which it shows; empty: in every one.
    std::string_view scenario{};
    /// Broken as well, but by frames that not every one of its cases brings about.
    std::vector<const requirements::Requirement*> sometimes{};
    /// Cases that judge one of `breaks` and do not find it, since they take a way that the change does not touch, or
    /// cannot get that far.
    std::vector<std::string_view> spares{};
    Registered<Mutant> registered{this};
};

/// What was changed: "stack", "HCA" or "SA"; "permitted" where whatever it does is right.
[[nodiscard]] std::string_view kind(const Mutant&) noexcept;

/// All mutants, by name.
[[nodiscard]] const std::vector<const Mutant*>& all_mutants();
[[nodiscard]] const Mutant* find_mutant(std::string_view name);

}  // namespace ipoib::conformance
