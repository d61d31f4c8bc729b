// SPDX-License-Identifier: GPL-2.0-or-later
// The catalogue as one list with an index by id, and the proofs at compile time that its cross-references hold.
#include "protocol/requirements/catalogue.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>

namespace ipoib::requirements {
namespace {

template <std::size_t... N>
constexpr auto joined(const std::array<const Requirement*, N>&... documents) {
    std::array<const Requirement*, (N + ...)> list{};
    auto end = list.begin();
    ((end = std::copy(documents.begin(), documents.end(), end)), ...);
    return list;
}

constexpr auto catalogue = joined(rfc4391::all, rfc4392::all, rfc4755::all, rfc4390::all, udmc::all, iba::all);

struct Entry {
    std::string_view id;
    std::size_t position = 0;
};

/// The positions in the catalogue, sorted by id.
constexpr auto by_id = [] {
    std::array<Entry, catalogue.size()> index{};
    for (std::size_t i = 0; i < index.size(); ++i) index[i] = {catalogue[i]->id, i};
    std::sort(index.begin(), index.end(), [](const Entry& a, const Entry& b) { return a.id < b.id; });
    return index;
}();

constexpr std::optional<std::size_t> position_of(std::string_view id) {
    const auto at = std::lower_bound(by_id.begin(), by_id.end(), id,
                                     [](const Entry& e, std::string_view wanted) { return e.id < wanted; });
    if (at == by_id.end() || at->id != id) return std::nullopt;
    return at->position;
}

constexpr const Requirement* at_id(std::string_view id) {
    const auto position = position_of(id);
    return position ? catalogue[*position] : nullptr;
}

constexpr bool contains(const Ids& ids, std::string_view id) {
    return std::find(ids.begin(), ids.end(), id) != ids.end();
}

constexpr bool share_a_party(Binds a, Binds b) { return (static_cast<unsigned>(a) & static_cast<unsigned>(b)) != 0; }

/// `claim(requirement, other)` for each `other` that a member of `links` names; false where one does not exist.
template <class Claim>
constexpr bool each_link(Ids Requirement::*links, Claim claim) {
    for (const auto* requirement : catalogue)
        for (const auto id : requirement->*links) {
            const auto* other = at_id(id);
            if (other == nullptr || !claim(*requirement, *other)) return false;
        }
    return true;
}

/// Whether all that `a` is the same as, except `b`, is the same as `b` too, and `b` is another requirement.
constexpr bool same_class(const Requirement& a, const Requirement& b) {
    if (a.id == b.id || !contains(b.same_as, a.id)) return false;
    for (const auto id : a.same_as)
        if (id != b.id && !contains(b.same_as, id)) return false;
    return true;
}

static_assert(std::adjacent_find(by_id.begin(), by_id.end(),
                                 [](const Entry& a, const Entry& b) { return a.id == b.id; }) == by_id.end(),
              "every id is there once");
static_assert(each_link(&Requirement::same_as, same_class),
              "same_as names requirements that exist and is symmetric and transitive");
static_assert(each_link(&Requirement::part_of, [](const auto& part, const auto& whole) { return part.id != whole.id; }),
              "part_of names requirements that exist");
static_assert(each_link(&Requirement::same_as, [](const auto& a, const auto& b) { return a.strength == b.strength; }),
              "the same fact has the same strength");
static_assert(each_link(&Requirement::part_of,
                        [](const auto& part, const auto& whole) { return part.strength <= whole.strength; }),
              "no weak statement violates a stronger one");
static_assert(each_link(&Requirement::same_as,
                        [](const auto& a, const auto& b) { return share_a_party(a.binds, b.binds); }) &&
                  each_link(&Requirement::part_of,
                            [](const auto& a, const auto& b) { return share_a_party(a.binds, b.binds); }),
              "whoever violates a statement can be charged with those that follow from it");

}  // namespace

std::span<const Requirement* const> all() noexcept { return catalogue; }

const Requirement* find(std::string_view id) noexcept { return at_id(id); }

std::vector<std::string_view> closure(const Requirement& requirement) {
    std::array<bool, catalogue.size()> violated{};
    std::vector<std::size_t> open;
    const auto visit = [&](std::string_view id) {
        const auto position = position_of(id);
        if (!position || violated[*position]) return;
        violated[*position] = true;
        open.push_back(*position);
    };
    visit(requirement.id);
    while (!open.empty()) {
        const auto& next = *catalogue[open.back()];
        open.pop_back();
        for (const auto id : next.same_as) visit(id);
        for (const auto id : next.part_of) visit(id);
    }
    std::vector<std::string_view> ids;
    for (std::size_t i = 0; i < catalogue.size(); ++i)
        if (violated[i]) ids.push_back(catalogue[i]->id);
    return ids;
}

}  // namespace ipoib::requirements
