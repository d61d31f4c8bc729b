// SPDX-License-Identifier: GPL-2.0-or-later
// What packets alone can prove: a requirement, when it applies, and whether it holds.
#pragma once

#include "protocol/requirements/requirement.hpp"
#include "protocol/rules/link.hpp"
#include "protocol/wire/packet.hpp"

#include <string>

namespace ipoib::rules {

using requirements::Requirement;
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

using Predicate = bool (*)(const Packet&, const Link&);
using Words = std::string (*)(const Packet&, const Link&);

/// What of the link a rule needs to know.
enum class Needs : std::uint8_t {
    nothing,
    broadcast_gid,    ///< the broadcast-GID: from the SA, or from a packet sent to it
    broadcast_group,  ///< the whole record: from the SA
};

/// One rule. It is looked at only for packets that have all the parts that it needs.
struct Rule {
    std::string_view id;                       ///< "RULE-RFC4391-6-02", permanent
    std::array<const Requirement*, 2> checks;  ///< the second may be null
    std::string_view title;                    ///< the claim, in a few words
    Parts needs;                               ///< parts of the packet; an IPoIB packet needs Part::ipoib
    Needs of_link = Needs::nothing;
    Predicate applies = nullptr;  ///< null: to every packet that has the parts
    Predicate holds = nullptr;
    Predicate notes = nullptr;  ///< holds, but is worth a note
    std::string_view note{};    ///< the text of that note
    FieldRef points_at{};
    std::string_view expected{};  ///< for people
    Words expected_of = nullptr;  ///< where it depends on the packet or the link
    Words actual_of = nullptr;    ///< where the field's value alone does not tell
    /// Where the header is that `points_at` means, if it is not the first of its kind.
    const std::uint8_t* (*at)(const Packet&) = nullptr;
};

/// The rules of one section each.
[[nodiscard]] std::span<const Rule> rfc4391_04();
[[nodiscard]] std::span<const Rule> rfc4391_06();
[[nodiscard]] std::span<const Rule> rfc4391_07();
[[nodiscard]] std::span<const Rule> rfc4391_08();
[[nodiscard]] std::span<const Rule> rfc4391_09();

/// All rules, in the order of the texts.
[[nodiscard]] std::span<const Rule> all();
[[nodiscard]] const Rule* find(std::string_view id);

}  // namespace ipoib::rules
