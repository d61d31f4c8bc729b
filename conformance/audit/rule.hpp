// SPDX-License-Identifier: GPL-2.0-or-later
// What the records of a subnet administrator alone can prove: a requirement, when it applies, and whether it holds.
#pragma once

#include "conformance/audit/inventory.hpp"
#include "protocol/requirements/requirement.hpp"

#include <array>
#include <optional>
#include <span>
#include <string>

namespace ipoib::audit {

using assumptions::Parameter;
using assumptions::StatedGroup;
using assumptions::StatedMember;
using assumptions::StatedPort;
using requirements::Requirement;

/// What a rule looks at, one after the other.
enum class About : std::uint8_t {
    group,      ///< each multicast group
    ip_group,   ///< each with a signature of IPoIB
    broadcast,  ///< each broadcast group
    other,      ///< each IP group that is no broadcast group
    of_link,    ///< each of those whose link's broadcast group is there: of the same P_Key and, if there is one, scope
    member,     ///< each member of an IP group
    node,       ///< each port that is a member of an IP group other than the broadcast group of that link
    pair,       ///< each path between two members of a link that was asked for
    shared,     ///< each IP group of wide scope that another subnet has, too
};
inline constexpr std::size_t about_count = 9;
/// "groups", "members" ...
[[nodiscard]] std::string_view plural(About) noexcept;

/// How far a link reaches, as far as that is told.
enum class LinkSpan : std::uint8_t { unknown, one, several };

/// One of them.
struct Item {
    const StatedGroup& group;  ///< for a node, its link's broadcast group
    /// Of the link: null where none is there, or `group` is one.
    const StatedGroup* broadcast = nullptr;
    const StatedMember* member = nullptr;  ///< with About::member, and with About::node where it is one of `group`
    const wire::Gid* node = nullptr;       ///< with About::member and About::node: the port's GID
    const StatedPort* port = nullptr;      ///< what the SA tells of that port; null: nothing
    /// The broadcast groups with the P_Key of the group's MGID.
    std::span<const StatedGroup* const> broadcasts{};
    LinkSpan span = LinkSpan::unknown;       ///< with About::broadcast and About::shared, in IB subnets
    std::string_view why_it_spans{};         ///< where they are several
    const AskedPath* pair = nullptr;         ///< with About::pair
    const StatedGroup* elsewhere = nullptr;  ///< with About::shared: the same group in another subnet
    std::size_t groups = 0;                  ///< with About::group: how many there are
    std::uint16_t room = 0;                  ///< and for how many the switches have room; 0: not told

    [[nodiscard]] const state::GroupParameters& parameters() const noexcept { return group.parameters; }
};

/// What proves a violation. The SA's tables may come cut, and a file may hold less than the SA knows.
enum class Evidence : std::uint8_t {
    undeclared,
    one_record,     ///< the record alone: holds whatever else was not told
    contradiction,  ///< two records that cannot both be right, whatever else was not told
    whole_table,    ///< that something is not in a table: holds where the table was told whole
};

using Predicate = bool (*)(const Item&);
using Words = std::string (*)(const Item&);
constexpr std::uint32_t told() noexcept { return 0; }
template <class... More>
constexpr std::uint32_t told(Parameter first, More... more) noexcept {
    return assumptions::bit(first) | told(more...);
}

/// One rule.
struct Rule {
    std::string_view id;                       ///< "RULE-RFC4391-4-05-audit", permanent
    std::array<const Requirement*, 2> checks;  ///< the second may be null
    std::string_view title;                    ///< the claim, in a few words
    About about{};
    Evidence evidence = Evidence::undeclared;
    /// What must be told of the group, and of its broadcast group where that is meant: told()
    std::uint32_t knows = 0;
    /// What a violation means, where that is less than the requirement's own strength.
    std::optional<requirements::Strength> weight{};
    // The tables that must be whole, with Evidence::whole_table: else the violation is not decided.
    bool needs_members = false;   ///< all who are in the group
    bool needs_all = false;       ///< all groups
    bool needs_p_keys = false;    ///< all P_Keys of the member's port
    Predicate applies = nullptr;  ///< null: to every item
    Predicate holds = nullptr;    ///< null: nothing is judged, only noted
    Predicate lacks = nullptr;    ///< what a violation needs for being one is not told: then it proves nothing
    std::string_view what_lacks{};
    Predicate notes = nullptr;  ///< worth a note
    std::string_view note{};    ///< the text of that note
    std::string_view field{};   ///< of the MCMemberRecord, or of what the port tells
    Words expected = nullptr, actual = nullptr;
};

/// Whether each rule of a table says what proves its violations, and names the table where that must be whole.
constexpr bool are_declared(std::span<const Rule> rules) {
    for (const auto& rule : rules) {
        const bool has_table = rule.needs_members || rule.needs_all || rule.needs_p_keys;
        if (rule.evidence == Evidence::undeclared) return false;
        if ((rule.evidence == Evidence::whole_table) != has_table) return false;
    }
    return true;
}

/// All: on groups, on groups beside their broadcast group, on members; each in the order of the texts.
[[nodiscard]] std::span<const Rule> rules();
[[nodiscard]] const Rule* find(std::string_view id);

}  // namespace ipoib::audit
