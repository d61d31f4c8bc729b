// SPDX-License-Identifier: GPL-2.0-or-later
// Which rules can say something of a packet: those that its parts, and where it comes from, leave.
#pragma once

#include "protocol/rules/rule.hpp"

#include <array>
#include <memory>
#include <string_view>
#include <vector>

namespace ipoib::inspection {

/// Whom an interface's frames come from. Evidence captures name their interfaces so ("other" holds nodes that take no
/// part); in other captures every sender is judged.
enum class Party : std::uint8_t { anyone, dut, tester, sa, bystander };
/// The same, and whether the frames are as they were on the wire: "dut, rebuilt" says that a queue pair told of them
/// (wire/rebuilt.hpp).
struct Origin {
    Party party = Party::anyone;
    bool is_rebuilt = false;
    constexpr Origin() = default;
    constexpr Origin(Party whose, bool rebuilt = false) : party(whose), is_rebuilt(rebuilt) {}
    friend constexpr bool operator==(const Origin&, const Origin&) = default;
};
inline constexpr std::string_view rebuilt_suffix = ", rebuilt";
[[nodiscard]] Origin origin_of(std::string_view interface_name) noexcept;

/// The rules for one set of packet parts and one origin, by index.
struct Plan {
    std::uint64_t key = ~std::uint64_t{0};
    std::vector<std::uint16_t> rules;  ///< all of them; the others are parts of this
    std::vector<std::uint16_t> alone;  ///< those that the packet alone decides
    std::vector<std::uint16_t> around;
};

using RuleList = std::shared_ptr<const std::vector<const rules::Rule*>>;

/// The plans made so far, at hand for those that are used most.
class Plans {
public:
    explicit Plans(RuleList rules) : rules_(std::move(rules)) {}

    const Plan& of(const wire::Packet& packet, Origin origin) {
        const bool is_filled_in = origin.is_rebuilt;
        const auto key = std::uint64_t{packet.found} << 8 | std::uint64_t{is_filled_in} << 7 |
                         std::uint64_t{is_filled_in && packet.is_multicast} << 6 |
                         static_cast<std::uint64_t>(origin.party);
        auto& plan = plans_[(key * 0x9e3779b97f4a7c15u) >> 56];
        if (plan.key != key) make(plan, key, packet, origin);
        return plan;
    }

private:
    void make(Plan& plan, std::uint64_t key, const wire::Packet& packet, Origin origin) const;

    RuleList rules_;
    std::array<Plan, 256> plans_;
};

}  // namespace ipoib::inspection
