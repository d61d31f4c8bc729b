// SPDX-License-Identifier: GPL-2.0-or-later
// Two streams tell of one frame, the tap and the raw port of its receiver; only the tap keeps the order of all.
#pragma once

#include "fabric/loop.hpp"

#include <deque>
#include <functional>

namespace ipoib::fabric {

/// Stands before a port and holds back what came until the tap has told of it: what its sender had sent before is seen
/// by then. Subnet management, of which the tap does not tell, passes at once.
class Gate : public FrameSink {
public:
    /// What the tap has lost is waited for only so long.
    static constexpr Duration patience = std::chrono::milliseconds{500};

    /// `was_told` is asked once for each sending: whether the tap has told of it; `untold` hears of the frames that
    /// pass all the same. `behind` is not owned.
    Gate(Loop& loop, FrameSink& behind, std::function<bool(const Frame&)> was_told,
         std::function<void(const Frame&)> untold);
    ~Gate() override;
    Gate(const Gate&) = delete;
    Gate& operator=(const Gate&) = delete;

    void receive(const Frame& frame) override;
    /// The tap has told of a frame.
    void look();
    /// Forgets what waits.
    void close();

private:
    struct Waiting {
        Frame frame;
        Time until;
    };
    void expire();

    Loop& loop_;
    FrameSink& behind_;
    std::function<bool(const Frame&)> was_told_;
    std::function<void(const Frame&)> untold_;
    std::deque<Waiting> waiting_;
    TimerId timer_{};
};

}  // namespace ipoib::fabric
