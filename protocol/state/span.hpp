// SPDX-License-Identifier: GPL-2.0-or-later
// What must be whole in a capture before something may be said of what is not in it.
#pragma once

#include "protocol/state/doubt.hpp"
#include "protocol/state/entities.hpp"

#include <string>
#include <string_view>

namespace ipoib::state {

/// A queue pair by its place.
struct QpAddress {
    std::uint16_t lid = 0;
    std::uint32_t qpn = 0;
    friend bool operator==(const QpAddress&, const QpAddress&) = default;
};

/// All packets of a queue pair since then.
struct Stretch {
    QpAddress of{};  ///< QPN 0: none
    Sight since;
    bool must_go_on = false;  ///< and one more after it, from the same place
};

/// An interval up to the packet at hand, and whose packets must all be captured in it: "no join since", "the QPN that
/// was announced last".
struct Span {
    Sight since;                  ///< frame 0: it began before the capture
    Sight none_lost_since;        ///< as far as the capture tells of losses; frame 0: as `since`
    std::uint16_t requester = 0;  ///< a LID whose whole traffic with the SA is meant; 0: none
    std::array<Stretch, 2> senders{};
    std::int64_t time_needed = 0;  ///< ns that must have passed for sure, since then or `timed_since`
    Sight timed_since;             ///< frame 0: as `since`
    bool needs_answers = false;    ///< no ARP request or Neighbour Solicitation of the first sender is open
    bool is_given = false;         ///< the user has said so: nothing needs proof
    /// A group of which a report of the SA must tell that it was created, by index; `none`: no such thing.
    std::uint32_t created = none;
    std::int64_t time_to_switch = 0;  ///< ns in which the port may still go by what it knew before
    bool has_changed = false;         ///< it is known to be something else; else it may have been before the capture
    /// What this capture cannot tell. Not even the evidence of a run tells all: it begins in the middle of a life and
    /// holds nothing of queue pair 0.
    Reasons doubts{};

    /// Where the first of its intervals begins.
    [[nodiscard]] const Sight& begin() const noexcept {
        const auto* first = &since;
        for (const auto& sender : senders)
            if (sender.of.qpn != 0 && sender.since.order < first->order) first = &sender.since;
        return *first;
    }
};

inline constexpr std::string_view may_be_older =
    "the port may have been on the link before the capture: its join may be a repeated one, or another program's";
/// The span needs that the port's life on a link has begun with its join of the broadcast group.
inline void begins_with_join(Span& span, const Member* of_broadcast,
                             const Reason& else_lacks = {Doubt::life_before, may_be_older}) {
    if (of_broadcast && of_broadcast->down)
        span.none_lost_since = of_broadcast->down;
    else
        span.doubts.add(else_lacks);
}

/// How a span stands.
enum class Standing : std::uint8_t {
    proven,   ///< whole
    open,     ///< nothing is missing so far; a later packet will tell whether the last one was
    awaited,  ///< something that must follow has not come yet
    broken,   ///< something is missing, or may be
};
struct Proof {
    Standing standing = Standing::proven;
    Reason lacks{};            ///< what is missing; its text is empty where nothing is
    Assumptions rests_on = 0;  ///< without which it would not stand so
    bool is_of_all = false;    ///< on these of all ports, not only of the one that is accused
};

/// What a proof may take for granted.
struct Trust {
    Assumptions in_port = 0;  ///< of the port that is accused
    Assumptions in_all = 0;   ///< of all ports
    const Port* port = nullptr;
};

/// Packets that the capture itself says were there and are not in it: some time after one frame and before another.
struct Loss {
    Sight after;   ///< frame 0: since the beginning
    Sight before;  ///< may be the one that would come next
    std::uint64_t count = 0;
    std::string interface {};      ///< its name; empty: none is worth telling
    bool is_told_by_next = false;  ///< the frame `before` tells it, not a count over a longer time
};
/// "the capture says that 3 packets were dropped on interface ib0 before frame 17"
[[nodiscard]] std::string in_words(const Loss& loss);
/// Whether any of them may have been there after `since` and before `at`. Of another capture's frames the times tell.
[[nodiscard]] bool is_within(const Loss& loss, const Sight& since, const Sight& at) noexcept;

}  // namespace ipoib::state
