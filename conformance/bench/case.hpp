// SPDX-License-Identifier: GPL-2.0-or-later
// What a case is: a conversation with the DUT that proves or refutes statements of the text.
#pragma once

#include "fabric/impact.hpp"
#include "fabric/port.hpp"
#include "protocol/registry.hpp"
#include "protocol/requirements/catalogue.hpp"

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

namespace ipoib::conformance {

using fabric::Impact;

class Bench;

/// Which implementation the case judges.
enum class Subject : std::uint8_t {
    stack,  ///< an IPoIB interface with its adapter
    sa,     ///< the subnet administrator: `--dut sa`
};

/// How the DUT is found when the steps begin.
enum class Begin : std::uint8_t {
    running,  ///< its interface is up, the tester has resolved it
    down,     ///< its interface is down: the case judges the start
};

/// Which kind of node must keep what the case checks.
enum class Role : std::uint8_t { host, router };

/// One case. It is defined once, at namespace scope, and is known by that.
struct Case {
    std::string_view id;     ///< "IPOIB-4391-6-INV-001", permanent
    std::string_view title;  ///< the claim
    std::vector<const requirements::Requirement*> checks;
    std::string_view pass_if;  ///< in words: what makes it a PASS
    std::vector<std::string_view> tags{};
    Impact impact = Impact::dut;
    fabric::Abilities needs{};                ///< of the fabric; without: NA `tester`
    std::vector<std::string_view> dut_can{};  ///< requests of the DUT control protocol; without: NA `tester`
    Subject subject = Subject::stack;
    Role role = Role::host;
    std::size_t least_mtu = 0;  ///< of an IP packet: a DUT that is configured for less is not judged
    Begin begin = Begin::running;
    /// What is stated of IP holds for IPv4 and IPv6: the steps run in one, then in the other, each time with a DUT that
    /// is found as `begin` says. The verdict is that on both; a DUT without an IPv6 address is judged by IPv4 alone.
    bool in_both_families = false;
    std::chrono::seconds lasts_at_most{
        10};  ///< in each family, with a DUT that never answers, without what it takes itself
    void (*steps)(Bench& bench) = nullptr;
    Registered<Case> registered{this};

    /// `lasts_at_most`, in all families.
    [[nodiscard]] constexpr std::chrono::seconds longest() const noexcept {
        return in_both_families ? 2 * lasts_at_most : lasts_at_most;
    }
};

/// What abilities mean, for a person: "receive the SA's reports, ...".
[[nodiscard]] std::string in_words(fabric::Abilities abilities);

/// The order of ids: text, but numbers by their value.
[[nodiscard]] bool in_order(std::string_view a, std::string_view b) noexcept;

/// All cases, by id.
[[nodiscard]] const std::vector<const Case*>& all_cases();
[[nodiscard]] const Case* find_case(std::string_view id);

}  // namespace ipoib::conformance
