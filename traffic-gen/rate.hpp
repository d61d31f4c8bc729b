// SPDX-License-Identifier: GPL-2.0-or-later
// How fast packets follow each other: in packets or bits per second, steady or rising.
#pragma once

#include "traffic-gen/sink.hpp"

#include <string_view>

namespace ipoib::traffic {

class Rate {
public:
    /// "1000" packets a second; "10Mbit" (kbit, Mbit, Gbit) of frames, LRH to VCRC; "FIRST..LAST", which rises (or
    /// falls) evenly over the run; "max" without any pause. Throws std::invalid_argument.
    explicit Rate(std::string_view text, std::string_view option = "--rate");

    /// From the beginning of a frame to that of the next. `progress` gives that of the run, from 0 to 1.
    template <class Progress>
    [[nodiscard]] Time spacing(std::size_t octets, const Progress& progress) const noexcept {
        return is_steady_ ? steady_ : varying(octets, is_ramp() ? progress() : 0.0);
    }
    [[nodiscard]] bool is_ramp() const noexcept { return first_ != last_; }
    [[nodiscard]] bool is_in_bits() const noexcept { return is_in_bits_; }
    /// Packets or bits a second at the end.
    [[nodiscard]] double last() const noexcept { return last_; }

private:
    [[nodiscard]] Time varying(std::size_t octets, double progress) const noexcept;
    double first_ = 0, last_ = 0;  ///< packets or bits a second
    bool is_in_bits_ = false, is_steady_ = true;
    Time steady_{};
};

}  // namespace ipoib::traffic
