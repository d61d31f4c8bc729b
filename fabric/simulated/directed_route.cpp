// SPDX-License-Identifier: GPL-2.0-or-later
// The rules for hop pointers at switches: C14-9 on the way out, C14-13 on the way back. IBTA Vol 1, 14.2.2.
#include "fabric/simulated/directed_route.hpp"

namespace ipoib::fabric::simulated {
using namespace wire;
namespace {

using Path = Field<DirectedSmp, OctetArray<64>>;

constexpr At entry(const Path& path, unsigned index) noexcept {
    return {static_cast<std::uint16_t>(path.at.bit + 8 * index)};
}

struct Smp {
    MutableOctets octets;
    std::uint8_t in_port;
    unsigned ports;
    View<DirectedSmp> view = View<DirectedSmp>::at(octets);

    [[nodiscard]] Hop out(const Path& path, unsigned pointer) const noexcept {
        set_field(octets, DirectedSmp::hop_pointer, static_cast<std::uint8_t>(pointer));
        const auto port = static_cast<std::uint8_t>(read_bits(octets.data(), entry(path, pointer), 8));
        if (port == 0 || port > ports) return {};
        return {.to = Hop::To::port, .port = port};
    }
    /// At the end of the directed part.
    [[nodiscard]] Hop end(unsigned pointer, std::uint16_t lid) const noexcept {
        set_field(octets, DirectedSmp::hop_pointer, static_cast<std::uint8_t>(pointer));
        if (lid == DirectedSmp::permissive_lid) return {.to = Hop::To::management};
        return {.to = Hop::To::lid, .lid = lid};
    }
    void remember_way_back(unsigned pointer) const noexcept {
        write_bits(octets.data(), entry(DirectedSmp::return_path, pointer), 8, in_port);
    }

    [[nodiscard]] Hop forth(unsigned pointer, unsigned hops) const noexcept {
        if (hops != 0 && pointer == 0) {
            // Whoever sends it makes the first hop; only behind a LID-routed part that is a switch.
            if (view[DirectedSmp::dr_slid] == DirectedSmp::permissive_lid) return {};
            return out(DirectedSmp::initial_path, 1);
        }
        if (pointer < hops) {
            remember_way_back(pointer);
            return out(DirectedSmp::initial_path, pointer + 1);
        }
        if (pointer == hops) {
            if (hops != 0) remember_way_back(pointer);
            return end(pointer + 1, view[DirectedSmp::dr_dlid]);
        }
        return pointer == hops + 1 ? Hop{.to = Hop::To::management} : Hop{};
    }
    [[nodiscard]] Hop back(unsigned pointer, unsigned hops) const noexcept {
        if (pointer >= 2 && pointer <= hops + 1) return out(DirectedSmp::return_path, pointer - 1);
        if (pointer == 1) return end(0, view[DirectedSmp::dr_slid]);
        return pointer == 0 ? Hop{.to = Hop::To::management} : Hop{};
    }
};

}  // namespace

Hop take_hop(MutableOctets smp, std::uint8_t in_port, unsigned ports) noexcept {
    const Smp taken{smp, in_port, ports};
    const unsigned pointer = taken.view[DirectedSmp::hop_pointer], hops = taken.view[DirectedSmp::hop_count];
    if (hops > DirectedSmp::max_hops) return {};
    return taken.view[DirectedSmp::is_returning] ? taken.back(pointer, hops) : taken.forth(pointer, hops);
}

}  // namespace ipoib::fabric::simulated
