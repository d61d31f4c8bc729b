// SPDX-License-Identifier: GPL-2.0-or-later
// Why a violation may be none: the doubts that there are, each declared once, and what the user may vouch for.
#pragma once

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace ipoib::state {

/// What the user may vouch for, of all ports or of one.
enum class Assumption : std::uint8_t { whole, from_start, steady_clock };
/// A set of them is a bit mask.
using Assumptions = std::uint8_t;
constexpr Assumptions assumptions(std::same_as<Assumption> auto... one) noexcept {
    return static_cast<Assumptions>(((1U << static_cast<unsigned>(one)) | ... | 0U));
}

struct AssumptionSpec {
    Assumption assumption{};
    std::string_view name;  ///< as --assume takes it
    std::string_view says;
};
/// In the order of Assumption.
inline constexpr std::array<AssumptionSpec, 3> assumption_specs{{
    {Assumption::whole, "whole", "nothing of the port's traffic is missing in the capture"},
    {Assumption::from_start, "from-start", "the capture began before the port came up"},
    {Assumption::steady_clock, "steady-clock", "nobody set the clock of the capture while it was taken"},
}};
inline constexpr Assumptions all_assumptions = (1U << assumption_specs.size()) - 1;

constexpr std::string_view name(Assumption assumption) noexcept {
    return assumption_specs[static_cast<std::size_t>(assumption)].name;
}
constexpr std::optional<Assumption> assumption_named(std::string_view name) noexcept {
    for (const auto& spec : assumption_specs)
        if (spec.name == name) return spec.assumption;
    return {};
}

/// An assumption, and whom it is about.
struct Vouch {
    Assumption assumption{};
    std::uint64_t guid = 0;  ///< of a port; 0: all ports
    friend bool operator==(const Vouch&, const Vouch&) = default;
};

/// What an innocent port may have in its favour. There are no others.
enum class Doubt : std::uint8_t {
    life_before,
    queued,
    lost_frames,
    clock_step,
    unseen_act,
    another_program,
    another_interface,
    host_setting,
    another_source,
    capture_order,
};

struct DoubtSpec {
    Doubt doubt{};
    std::string_view name;
    std::string_view supposes;    ///< what would make the frame innocent
    std::string_view refuted_by;  ///< in a capture
    std::string_view settled_by;  ///< what to capture, or to look at
    std::optional<Assumption> lifted_by{};
};
/// In the order of Doubt.
inline constexpr std::array<DoubtSpec, 10> doubt_specs{{
    {Doubt::life_before, "life before the capture",
     "the port, or its peer, was on the link before the capture, and was told or did then what the capture lacks",
     "a PortInfo of it that is not active, and its join of the broadcast group behind that",
     "a capture that begins before the port comes up", Assumption::from_start},
    {Doubt::queued,
     "queued before a change",
     "the packet was queued before the port was told of a change",
     "more time between the two than a queue holds",
     "a capture that goes on for some seconds after the change",
     {}},
    {Doubt::lost_frames, "lost frames", "the capture lacks frames that would make it right",
     "PSNs that count without a gap, requests that all have their answers, no loss that the capture itself tells",
     "a capture at the port itself that tells no loss, up to a later packet of it", Assumption::whole},
    {Doubt::clock_step, "step of the clock",
     "somebody set the clock of the capture, and less time passed than it shows",
     "any packets at steady distances in that time", "a capture in which other packets pass in that time",
     Assumption::steady_clock},
    {Doubt::unseen_act,
     "unseen act of SM or SA",
     "the SM or the SA did something meanwhile that does not pass where the capture was taken",
     "the SA's own word in the capture: an answer, or a report",
     "a capture at the port of the SM and SA",
     {}},
    {Doubt::another_program,
     "another program",
     "another program at the port has sent it, or changed what it depends on",
     "an announcement of the queue pair in a link-layer address, and the Q_Key of the link",
     "a capture in which the queue pair is announced",
     {}},
    {Doubt::another_interface,
     "another interface",
     "another interface of the host has heard it, or has joined for it",
     "a capture in which the host shows one GID at the port",
     "the host with one interface at this port",
     {}},
    {Doubt::host_setting,
     "setting of the host",
     "somebody changed the setting of the interface in between",
     "nothing that passes on the wire",
     "the host's own log of its setting",
     {}},
    {Doubt::another_source,
     "knowledge from elsewhere",
     "the sender knows it in a way that leaves no packet",
     "nothing that passes on the wire",
     "the host's own table of paths",
     {}},
    {Doubt::capture_order,
     "order between ports",
     "the two frames crossed on the way, in another order than they were captured",
     "a third frame that shows which was first",
     "a capture at the port itself",
     {}},
}};

constexpr const DoubtSpec& spec(Doubt doubt) noexcept { return doubt_specs[static_cast<std::size_t>(doubt)]; }

/// Why something is not proven. It stands wherever the words alone are wanted.
struct Reason {
    Doubt doubt{};
    std::string_view text{};
    bool holds_in_evidence = false;  ///< also in the evidence of a run, which begins in the middle of a life
    bool is_of_other = false;        ///< it is about another port than the one that is accused
    bool is_shown = false;           ///< the capture shows that it is so: no assumption lifts it
    Assumptions also = 0;            ///< what it takes to lift it besides the doubt's own assumption
    // NOLINTNEXTLINE(google-explicit-constructor)
    constexpr operator std::string_view() const noexcept { return text; }
    friend bool operator==(const Reason&, const Reason&) = default;
};

/// A few reasons; the one that was added last is told first.
class Reasons {
public:
    constexpr Reasons() = default;
    constexpr Reasons(const Reason& only) { add(only); }  // NOLINT(google-explicit-constructor)
    constexpr void add(const Reason& reason) noexcept {
        if (count_ < all_.size()) all_[count_++] = reason;
    }
    constexpr void remove(std::string_view text) noexcept {
        std::size_t kept = 0;
        for (std::size_t i = 0; i < count_; ++i)
            if (all_[i].text != text) all_[kept++] = all_[i];
        count_ = kept;
    }
    [[nodiscard]] constexpr const Reason* begin() const noexcept { return all_.data(); }
    [[nodiscard]] constexpr const Reason* end() const noexcept { return all_.data() + count_; }
    [[nodiscard]] constexpr bool empty() const noexcept { return count_ == 0; }

private:
    std::array<Reason, 8> all_{};  ///< more than any rule has
    std::size_t count_ = 0;
};

/// "whole, from-start".
[[nodiscard]] std::string in_words(Assumptions assumptions);

}  // namespace ipoib::state
