// SPDX-License-Identifier: GPL-2.0-or-later
// The checks that every port makes before it looks for a queue pair.
#include "fabric/node/arrival.hpp"

namespace ipoib::fabric {
using namespace wire;

namespace {

struct LastArrival {
    Arrival arrival;
    unsigned users = 0;
};
LastArrival& last_arrival() {
    static thread_local LastArrival last;
    return last;
}

/// The remembered arrival if it is of this frame or free to be; else one of its own.
Arrival& arrival_of(const Frame& frame, std::optional<Arrival>& own) {
    auto& last = last_arrival();
    if (!last.arrival.is_of(frame)) {
        if (last.users != 0) return own.emplace(frame);
        last.arrival.look_at(frame);
    }
    ++last.users;
    return last.arrival;
}

}  // namespace

Look::Look(const Frame& frame) : arrival_(arrival_of(frame, own_)) {}
Look::~Look() {
    if (!own_) --last_arrival().users;
}

void Arrival::look_at(const Frame& frame) noexcept {
    frame_ = frame;
    is_decoded_ = false;
    fault = judge(frame.octets());
}

const Packet& Arrival::packet() noexcept {
    if (!is_decoded_) decode(frame_.octets(), packet_);
    is_decoded_ = true;
    return packet_;
}

Arrival::Fault Arrival::judge(Octets octets) noexcept {
    constexpr std::uint8_t global_header_version = 6;
    const auto lrh = View<Lrh>::at(octets);
    if (!lrh || lrh[Lrh::version] != 0) return Fault::malformed;
    vl = lrh[Lrh::vl];
    dlid = lrh[Lrh::dlid];
    const auto to_icrc_end = lrh[Lrh::packet_length] * std::size_t{4};
    if (octets.size() != to_icrc_end + vcrc_size || to_icrc_end < Lrh::size + icrc_size) return Fault::malformed;

    const auto lnh = lrh[Lrh::lnh];
    if (lnh == Lnh::raw || lnh == Lnh::ipv6) return Fault::malformed;
    auto rest = octets.subspan(Lrh::size, to_icrc_end - icrc_size - Lrh::size);
    has_grh = lnh == Lnh::global;
    if (has_grh) {
        const auto grh = View<Grh>::at(rest);
        if (!grh || grh[Grh::version] != global_header_version || grh[Grh::next_header] != Grh::iba_transport)
            return Fault::malformed;
        dgid = grh[Grh::dgid];
        rest = rest.subspan(Grh::size);
    }
    const auto bth = View<Bth>::at(rest);
    if (!bth || bth[Bth::version] != 0) return Fault::malformed;
    p_key = bth[Bth::p_key];
    dest_qp = bth[Bth::dest_qp];
    rest = rest.subspan(Bth::size);

    const auto crcs = check_crcs(octets, Tail::both);
    if (crcs.icrc == Check::bad || crcs.vcrc == Check::bad) return Fault::bad_crc;
    if (service_of(bth[Bth::opcode]) != TransportService::unreliable_datagram) return Fault::not_datagram;
    const auto deth = View<Deth>::at(rest);
    if (!deth) return Fault::malformed;
    q_key = deth[Deth::q_key];
    payload = rest.size() - Deth::size;
    return payload < bth[Bth::pad] ? Fault::malformed : Fault::none;
}

}  // namespace ipoib::fabric
