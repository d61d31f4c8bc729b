// SPDX-License-Identifier: GPL-2.0-or-later
// What packets alone can prove: a requirement, when it applies, and whether it holds.
#pragma once

#include "protocol/requirements/requirement.hpp"
#include "protocol/state/span.hpp"
#include "protocol/state/subnet.hpp"
#include "protocol/wire/packet.hpp"

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace ipoib::rules {

using requirements::Requirement;
using state::Fact;
using state::Facts;
using state::facts;
using state::GroupParameters;
using state::Known;
using state::mtu_octets;
using wire::Packet;
using wire::Part;
using wire::Parts;
using wire::parts;

/// The field that shows a violation: where it is, what it holds.
class FieldRef {
public:
    constexpr FieldRef() = default;
    template <class Header, class T>
    constexpr FieldRef(const wire::Field<Header, T>& field)
        : spec_(&field),
          header_(&wire::spec_of<Header>),
          locate_([](const Packet& p) { return p.get<Header>().data(); }) {}

    [[nodiscard]] constexpr const wire::FieldSpec* spec() const noexcept { return spec_; }
    [[nodiscard]] constexpr const wire::HeaderSpec* header() const noexcept { return header_; }
    /// The header's first octet in the packet; null where the packet lacks it.
    [[nodiscard]] const std::uint8_t* in(const Packet& packet) const { return locate_ ? locate_(packet) : nullptr; }

private:
    const wire::FieldSpec* spec_ = nullptr;
    const wire::HeaderSpec* header_ = nullptr;
    const std::uint8_t* (*locate_)(const Packet&) = nullptr;
};

/// A question about a packet: by the packet alone, or by what is known around it, too. Which of the two, the compiler
/// tells.
class Predicate {
public:
    using Alone = bool (*)(const Packet&);
    using Around = bool (*)(const Packet&, const Known&);

    constexpr Predicate() = default;
    constexpr Predicate(std::nullptr_t) {}
    template <class Function>
    requires std::convertible_to<Function, Alone>
    constexpr Predicate(Function function) : alone_(function) {}
    template <class Function>
    requires std::convertible_to<Function, Around>
    constexpr Predicate(Function function) : around_(function) {}

    constexpr explicit operator bool() const noexcept { return alone_ || around_; }
    bool operator()(const Packet& packet, const Known& known) const {
        return alone_ ? alone_(packet) : around_(packet, known);
    }
    /// Needs the packet only; so does one that is not there.
    [[nodiscard]] constexpr bool is_alone() const noexcept { return !around_; }
    /// Only of one that needs no more.
    bool operator()(const Packet& packet) const { return alone_(packet); }

private:
    Alone alone_ = nullptr;
    Around around_ = nullptr;
};
using Words = std::string (*)(const Packet&, const Known&);

/// What proves a violation. docs/results.md tells what it means for a FAIL.
enum class Evidence : std::uint8_t {
    undeclared,
    one_frame,        ///< the packet alone: holds whatever else was lost
    contradiction,    ///< two frames that cannot both be right, whatever lies between
    nothing_between,  ///< that something was not in between: holds where `over` says so and the capture is whole there
};

/// What must be whole in the capture for the violation to stand.
using Over = state::Span (*)(const Packet&, const Known&);

/// What a port must do some time after something has happened: the same port, and the same group where one is meant.
struct Duty {
    using About = bool (*)(const state::Subnet&, const state::Event&);
    state::EventKind begins{};
    std::array<state::EventKind, 2> ends{};  ///< either will do
    /// Then it need not be done any more: who had the time for it is late all the same.
    std::optional<state::EventKind> ceases{};
    About is_due = nullptr;   ///< null: each such event begins it
    About is_done = nullptr;  ///< whether what it asks for has been done before
};

/// One rule. It is looked at only for packets that have all the parts that it needs.
struct Rule {
    std::string_view id;                       ///< "RULE-RFC4391-6-02", permanent
    std::array<const Requirement*, 2> checks;  ///< the second may be null
    std::string_view title;                    ///< the claim, in a few words
    Parts needs;                               ///< parts of the packet; an IPoIB packet needs Part::ipoib
    Evidence evidence = Evidence::undeclared;
    Facts knows = 0;      ///< what must be known; else the packet is not judged
    Over over = nullptr;  ///< with Evidence::nothing_between
    /// What a violation means, where that is less than the requirement's own strength.
    std::optional<requirements::Strength> weight{};
    /// Where this is false `applies` is, too: it is asked once for many packets of one shape. Null: nothing to be said.
    Predicate::Alone concerns = nullptr;
    Predicate applies{};  ///< null: to every packet that has the parts
    /// Whether its answer may be another one later, or with more of the same packets, though nothing that is known has
    /// changed but times and counts (state/recollection.hpp). Of a packet that answers nothing. Null: never.
    Predicate::Around fades = nullptr;
    Predicate holds{};
    Predicate notes{};        ///< holds, but is worth a note
    std::string_view note{};  ///< the text of that note
    FieldRef points_at{};
    std::string_view expected{};  ///< for people
    Words expected_of = nullptr;  ///< where it depends on the packet or the link
    Words actual_of = nullptr;    ///< where the field's value alone does not tell
    /// Where the header is that `points_at` means, if it is not the first of its kind.
    const std::uint8_t* (*at)(const Packet&) = nullptr;
    /// Instead of `holds`, for what can only be seen later. Judged only for ports whose start is captured; its evidence
    /// is that nothing was between.
    std::optional<Duty> duty{};

    /// Whether the packet alone decides it, so that packets of one shape (inspection/shapes.hpp) are all decided alike.
    [[nodiscard]] constexpr bool is_alone() const noexcept {
        return !duty && knows == 0 && !over && applies.is_alone() && holds.is_alone() && notes.is_alone();
    }
};

/// The rules of one section of RFC 4391 each.
[[nodiscard]] std::span<const Rule> rfc4391_02();
[[nodiscard]] std::span<const Rule> rfc4391_04();
[[nodiscard]] std::span<const Rule> rfc4391_05();
[[nodiscard]] std::span<const Rule> rfc4391_06();
[[nodiscard]] std::span<const Rule> rfc4391_07();
[[nodiscard]] std::span<const Rule> rfc4391_08();
[[nodiscard]] std::span<const Rule> rfc4391_09();
[[nodiscard]] std::span<const Rule> rfc4391_10();
[[nodiscard]] std::span<const Rule> rfc4391_13();
/// The rules of one document each.
[[nodiscard]] std::span<const Rule> rfc4392();
[[nodiscard]] std::span<const Rule> rfc4755();
[[nodiscard]] std::span<const Rule> rfc4390();
[[nodiscard]] std::span<const Rule> udmc();
/// Rules that need what earlier frames have told.
[[nodiscard]] std::span<const Rule> context_unicast();
[[nodiscard]] std::span<const Rule> context_groups();
[[nodiscard]] std::span<const Rule> context_duties();
[[nodiscard]] std::span<const Rule> context_connections();

/// All rules: those on single packets in the order of the texts, then those that need more.
[[nodiscard]] std::span<const Rule> all();
/// The same as an Inspector takes them.
[[nodiscard]] std::vector<const Rule*> every();
[[nodiscard]] const Rule* find(std::string_view id);

}  // namespace ipoib::rules
