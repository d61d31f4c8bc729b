// SPDX-License-Identifier: GPL-2.0-or-later
// Frames on their way to a judge. What each tells by itself is found out by as many threads as there are; whoever
// judges gets them in their order, on the thread that asks, so that nothing depends on how many there were.
#pragma once

#include "fabric/capture/reader.hpp"
#include "protocol/inspection/inspector.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace ipoib::conformance {

/// The medium that a link type's frames are decoded as, if it is one that can be judged.
[[nodiscard]] std::optional<wire::Medium> medium_of(capture::LinkType link_type) noexcept;

/// A frame, and of what it is.
struct Sighting {
    capture::Frame frame;
    inspection::Origin origin;
    std::uint32_t capture = 0;
};

/// What a capture tells of losses between two frames.
struct ToldLoss {
    capture::Loss loss;
    inspection::Origin origin;
    std::string interface_name;
    std::uint32_t capture = 0;
};

/// Where frames come from, in the order in which they are judged. Used by one thread at a time.
class Supply {
public:
    Supply() = default;
    virtual ~Supply() = default;
    Supply(const Supply&) = delete;
    Supply& operator=(const Supply&) = delete;

    /// The next frame, whose octets and texts are valid until the next call; false when there are no more.
    virtual bool next(Sighting& sighting) = 0;
    /// Called by `next` where it would wait for more to come: what it has given can be judged meanwhile.
    virtual void on_wait(std::function<void()> listener) = 0;
    /// Octets read so far and in all (0: not known).
    [[nodiscard]] virtual std::pair<std::uint64_t, std::uint64_t> progress() const = 0;

    /// Told of each loss before the frame that comes next.
    std::function<void(ToldLoss)> on_loss;
};

/// Takes what a supply gives. All of these are called by the thread that calls hand_over().
struct Consumer {
    std::function<void(const Sighting&, const inspection::Examined&)> frame;
    std::function<void(const ToldLoss&)> loss;
    std::function<void(std::uint64_t position, std::uint64_t size)> progress{};  ///< now and then
    /// Around some frames and losses that follow each other, called with a function that gives them.
    std::function<void(const std::function<void()>&)> together{};
};

/// As many threads as processors that this process may use, but not more than help.
[[nodiscard]] unsigned usual_threads() noexcept;
inline constexpr unsigned most_threads = 64;

/// Who works on a supply.
struct Crew {
    unsigned threads = 0;  ///< the one that judges included; 0: as usual
    /// Frames before another thread is begun: most captures are over before it is worth it.
    std::size_t alone = 1024;
    std::size_t frames_of_block = 1024;  ///< that one thread reads and looks at in a row
};

/// Gives everything to the consumer, in order. What the supply or the consumer throws comes out here when no other
/// thread is left.
void hand_over(Supply& supply, const inspection::RuleList& rules, const Crew& crew, const Consumer& consumer);

}  // namespace ipoib::conformance
