// SPDX-License-Identifier: GPL-2.0-or-later
// What covers each requirement: the cases and rules that decide it, or the ground on which none does.
#pragma once

#include "conformance/audit/rule.hpp"
#include "conformance/bench/case.hpp"
#include "protocol/rules/rule.hpp"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace ipoib::conformance {

/// How a requirement is covered that no case decides.
enum class Manner : std::uint8_t {
    construction,  ///< nothing that a suite can meet could break it
    inspection,    ///< a person must look, and at what the reason tells
};
[[nodiscard]] std::string_view name(Manner) noexcept;

/// Why no case decides a requirement.
struct Ground {
    const requirements::Requirement* requirement;
    Manner manner;
    std::string_view reason;  ///< sentences for people
    bool is_rest = false;     ///< a case decides a part; this is about what remains
};

/// All grounds, in document order.
[[nodiscard]] std::span<const Ground> grounds() noexcept;

/// What covers one requirement.
struct Coverage {
    const requirements::Requirement* requirement;
    /// Those that name it, or one that implies it. By id; rules in their own order.
    std::vector<const Case*> cases{};
    std::vector<const rules::Rule*> rules{};
    const Ground* ground = nullptr;            ///< null: none is stated
    std::vector<const audit::Rule*> audits{};  ///< of the audit; they cover what shows in the SA's records alone

    /// "case", "case and rule", "case and inspection", "rule", "rule and inspection", "audit", "audit and inspection",
    /// "construction", "inspection"; "open: needs a case",
    /// "open: needs a rule", "open: needs a reason". What a peer can provoke is open until a case does, also where a
    /// rule watches for it.
    [[nodiscard]] std::string status() const;
    [[nodiscard]] bool is_open() const { return status().starts_with("open"); }
    /// The ids of cases, then rules, then those of the audit.
    [[nodiscard]] std::vector<std::string_view> by() const;
};

/// Of every requirement, in the order of the catalogue.
[[nodiscard]] std::vector<Coverage> coverage();

}  // namespace ipoib::conformance
