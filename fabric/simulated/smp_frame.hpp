// SPDX-License-Identifier: GPL-2.0-or-later
// The frame around a Subnet Management Packet, which is always the same. IBTA Vol 1, 13.5.1 and 14.2.1.
#pragma once

#include "fabric/frame.hpp"
#include "protocol/wire/bth.hpp"
#include "protocol/wire/crc.hpp"
#include "protocol/wire/lrh.hpp"
#include "protocol/wire/smp.hpp"

namespace ipoib::fabric::simulated {

/// The lane of subnet management. IBTA Vol 1, 7.6.4.
inline constexpr std::uint8_t management_lane = 15;

/// A copy of an SMP's frame that can be changed.
class SmpFrame {
public:
    static constexpr std::size_t mad_offset = wire::Lrh::size + wire::Bth::size + wire::Deth::size;
    static constexpr std::size_t size = mad_offset + wire::mad_size + wire::icrc_size + wire::vcrc_size;

    /// A directed-route SMP from end to end, all zero but for what every one has.
    SmpFrame() noexcept;
    /// The SMP in a frame; nothing when it is none of a version that is known, or has a wrong CRC.
    [[nodiscard]] static std::optional<SmpFrame> of(wire::Octets frame) noexcept;

    [[nodiscard]] wire::View<wire::Lrh> lrh() const noexcept { return wire::View<wire::Lrh>::at(octets_); }
    /// The fields that both kinds have.
    [[nodiscard]] wire::View<wire::LidSmp> smp() const noexcept { return wire::View<wire::LidSmp>::at(mad_octets()); }
    [[nodiscard]] wire::View<wire::DirectedSmp> directed() const noexcept {
        return wire::View<wire::DirectedSmp>::at(mad_octets());
    }
    [[nodiscard]] bool is_directed() const noexcept {
        return smp()[wire::LidSmp::mgmt_class] == wire::MgmtClass::subn_directed_route;
    }
    [[nodiscard]] wire::MutableOctets mad() noexcept {
        return wire::MutableOctets{octets_}.subspan(mad_offset, wire::mad_size);
    }
    /// The attribute.
    [[nodiscard]] wire::MutableOctets data() noexcept {
        return mad().subspan(wire::LidSmp::data.at.bit / 8, wire::LidSmp::data.width / 8);
    }
    template <class T>
    SmpFrame& set(const wire::Field<wire::Lrh, T>& field, const std::type_identity_t<T>& value) noexcept {
        wire::set_field(wire::MutableOctets{octets_}, field, value);
        return *this;
    }
    template <class Smp, class T>
    SmpFrame& set(const wire::Field<Smp, T>& field, const std::type_identity_t<T>& value) noexcept {
        wire::set_field(mad(), field, value);
        return *this;
    }
    /// With CRCs that are left to be filled in.
    [[nodiscard]] Frame frame() const { return Frame{octets_}; }

private:
    explicit SmpFrame(wire::Octets octets) noexcept;
    [[nodiscard]] wire::Octets mad_octets() const noexcept {
        return wire::Octets{octets_}.subspan(mad_offset, wire::mad_size);
    }
    std::array<std::uint8_t, size> octets_{};
};

}  // namespace ipoib::fabric::simulated
