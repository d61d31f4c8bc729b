// SPDX-License-Identifier: GPL-2.0-or-later
// What a requirement is: one statement of one document, with a permanent id.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace ipoib::requirements {

/// What a violation means: `must` FAIL, `should` WARN, `may` PASS with what was observed.
enum class Strength : std::uint8_t { must, should, may };

/// What the document is that has the statement: a standard, or one that only informs (RFC 4392, the UD multicast
/// chapter).
enum class Status : std::uint8_t { standard, informative };

/// Sets below are written with `|`.
/// Who is bound: the IPoIB interface, an IP multicast router, the SM/SA, the administrator, the channel adapter, the
/// document itself, a DHCP client, a DHCP server.
enum class Binds : std::uint8_t {
    interface = 1,
    router = 2,
    sa = 4,
    administrator = 8,
    hca = 16,
    document = 32,
    dhcp_client = 64,
    dhcp_server = 128
};
/// Where it can be seen: on the wire, at the SA (MAD or record), locally only.
enum class Seen : std::uint8_t { wire = 1, sa = 2, local = 4 };
/// How it can be tested: passively from a capture, actively by a peer, by inspection only.
enum class Test : std::uint8_t { passive = 1, active = 2, inspection = 4 };

template <class T>
concept Set = std::same_as<T, Binds> || std::same_as<T, Seen> || std::same_as<T, Test>;
template <Set T>
constexpr T operator|(T a, T b) noexcept {
    return static_cast<T>(static_cast<std::uint8_t>(a) | static_cast<std::uint8_t>(b));
}
template <Set T>
constexpr bool has(T set, T member) noexcept {
    return (static_cast<std::uint8_t>(set) & static_cast<std::uint8_t>(member)) != 0;
}

/// Up to four ids of other requirements.
struct Ids {
    std::array<std::string_view, 4> ids{};
    std::size_t count = 0;
    constexpr Ids() = default;
    template <std::convertible_to<std::string_view>... Id>
    constexpr Ids(Id... id) : ids{std::string_view(id)...}, count(sizeof...(id)) {}
    [[nodiscard]] constexpr auto begin() const noexcept { return ids.begin(); }
    [[nodiscard]] constexpr auto end() const noexcept { return ids.begin() + static_cast<std::ptrdiff_t>(count); }
};

/// "standard", "informative".
[[nodiscard]] constexpr std::string_view name(Status status) noexcept {
    return status == Status::standard ? "standard" : "informative";
}

/// One statement. Ids are permanent; a retired one is never used again.
struct Requirement {
    std::string_view id;         ///< "RFC4391-6-02": document, section, running number
    std::string_view level;      ///< the text's own word: "MUST", "should"; "stmt" is a declarative sentence
    Strength strength;           ///< what a violation means
    Binds binds;                 ///< who must keep it
    Seen seen;                   ///< where it shows
    Test test;                   ///< how it can be tested
    std::string_view statement;  ///< in our own plain words; the section has the text's
    Ids same_as{};               ///< the same fact stated elsewhere
    Ids part_of{};               ///< more general statements that this one belongs to
    std::string_view note{};     ///< an update or ambiguity that bears on judging it

    /// "RFC4391", "UDMC", "IBA".
    [[nodiscard]] constexpr std::string_view document() const noexcept { return id.substr(0, id.find('-')); }
    /// "9.1.1", or empty for UDMC, which has no sections.
    [[nodiscard]] constexpr std::string_view section() const noexcept {
        const auto first = id.find('-'), last = id.rfind('-');
        return first == last ? std::string_view{} : id.substr(first + 1, last - first - 1);
    }
    /// Whether the text demands it with a keyword of RFC 2119 in capitals. If not, a binding statement is stated only:
    /// as a plain sentence, or with a word such as "must" or "requires".
    [[nodiscard]] constexpr bool has_keyword() const noexcept {
        constexpr std::array<std::string_view, 5> keywords{"MUST", "MUST NOT", "SHALL", "SHALL NOT", "REQUIRED"};
        for (const auto keyword : keywords)
            if (level == keyword) return true;
        return false;
    }
    [[nodiscard]] constexpr Status status() const noexcept {
        return document() == "RFC4392" || document() == "UDMC" ? Status::informative : Status::standard;
    }
};

}  // namespace ipoib::requirements
