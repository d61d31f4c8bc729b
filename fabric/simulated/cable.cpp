// SPDX-License-Identifier: GPL-2.0-or-later
// The faults of a cable, one after the other, each decided by the generator.
#include "fabric/simulated/cable.hpp"

#include "fabric/simulated/smp_frame.hpp"

#include <algorithm>

namespace ipoib::fabric::simulated {
using namespace wire;
namespace {

/// How long a frame waits for another to overtake it.
constexpr Duration longest_hold = std::chrono::milliseconds{10};

/// Of QP0 or QP1. `frame` holds an LRH.
bool is_management(Octets frame) noexcept {
    const auto lrh = View<Lrh>::at(frame);
    if (lrh[Lrh::vl] == management_lane) return true;
    const auto at = Lrh::size + (lrh[Lrh::lnh] == Lnh::global ? Grh::size : 0);
    const auto bth = frame.size() < at ? View<Bth>{} : View<Bth>::at(frame.subspan(at));
    return bth && bth[Bth::dest_qp] <= 1;
}

}  // namespace

CableDirection::CableDirection(Loop& loop, FrameSink& end, std::uint64_t seed, std::uint64_t& lost)
    : loop_(loop), end_(end), random_(seed), lost_(lost) {}
CableDirection::~CableDirection() { loop_.forget(*this); }

void CableDirection::clear() {
    held_ = Frame{};
    loop_.forget(*this);
}

void CableDirection::carry(const Frame& frame, Time arrival) {
    if (faults_.spares_management.value_or(true) && is_management(frame.octets()))
        return loop_.deliver(arrival, end_, frame);
    if (happens(faults_.loss)) {
        ++lost_;
        return;
    }
    const auto carried = happens(faults_.corruption) ? damaged(frame) : frame;
    const bool is_doubled = happens(faults_.duplication);
    if (!held_ && happens(faults_.reordering)) {
        held_ = carried;
        loop_.deliver(arrival + longest_hold, *this, carried);
        if (is_doubled) pass(carried, arrival);
        return;
    }
    const auto overtaken = std::exchange(held_, Frame{});
    pass(carried, arrival);
    if (is_doubled) pass(carried, arrival);
    if (overtaken) pass(overtaken, arrival);
}

void CableDirection::receive(const Frame& frame) {
    if (held_.is_same(frame)) pass(std::exchange(held_, Frame{}), loop_.now());
}

void CableDirection::pass(const Frame& frame, Time arrival) { loop_.deliver(arrival + faults_.delay, end_, frame); }

bool CableDirection::happens(double probability) {
    if (probability <= 0) return false;
    // The standard distributions differ from library to library.
    constexpr double step = 0x1p-53;
    return static_cast<double>(random_() >> 11) * step < probability;
}

/// With right CRCs first, then one bit behind the LRH turned over: it still finds its way, and the receiver drops it.
Frame CableDirection::damaged(const Frame& frame) {
    const auto octets = frame.octets();
    if (octets.size() < shortest_frame) return frame;
    std::array<std::uint8_t, longest_frame> copy;
    std::copy(octets.begin(), octets.end(), copy.begin());
    const MutableOctets whole{copy.data(), octets.size()};
    const auto tail = octets.last(icrc_size + vcrc_size);
    if (std::all_of(tail.begin(), tail.end(), [](std::uint8_t o) { return o == 0; })) write_crcs(whole);
    const auto bit = random_() % (8 * (octets.size() - Lrh::size));
    whole[Lrh::size + bit / 8] ^= static_cast<std::uint8_t>(1u << bit % 8);
    return Frame{whole};
}

}  // namespace ipoib::fabric::simulated
