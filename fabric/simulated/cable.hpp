// SPDX-License-Identifier: GPL-2.0-or-later
// One direction of a cable that loses, doubles, swaps, damages and delays frames: for faults on purpose.
#pragma once

#include "fabric/simulated/subnet.hpp"

#include <random>

namespace ipoib::fabric::simulated {

class CableDirection final : public FrameSink {
public:
    /// What comes through is handed to `end`. Equal seeds and equal frames give equal faults.
    CableDirection(Loop& loop, FrameSink& end, std::uint64_t seed, std::uint64_t& lost);
    ~CableDirection() override;
    CableDirection(const CableDirection&) = delete;
    CableDirection& operator=(const CableDirection&) = delete;

    void set(const LinkFaults& faults) { faults_ = faults; }
    /// The link went down: what waits is gone.
    void clear();
    /// Takes a frame that leaves one end so that, without a fault, it is at the other at `arrival`.
    void carry(const Frame& frame, Time arrival);
    /// A frame that waited long enough for one to overtake it.
    void receive(const Frame& frame) override;

private:
    [[nodiscard]] bool happens(double probability);
    [[nodiscard]] Frame damaged(const Frame& frame);
    void pass(const Frame& frame, Time arrival);

    Loop& loop_;
    FrameSink& end_;
    std::mt19937_64 random_;
    std::uint64_t& lost_;
    LinkFaults faults_;
    Frame held_;  ///< until another frame has overtaken it
};

}  // namespace ipoib::fabric::simulated
