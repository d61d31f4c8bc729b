// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/exhibits/film.hpp"

#include "conformance/judge/judge.hpp"

namespace ipoib::conformance {
using namespace wire;
using inspection::Party;

void Shot::decode(Packet& packet) const noexcept {
    wire::decode(octets, packet, medium_of(link_type).value_or(Medium::infiniband), wire_length);
}

bool Film::next() {
    capture::Frame frame;
    if (reader_.next(frame) != capture::Status::frame) return false;
    auto shot = make_room(frame.octets.size());
    shot.number = frame.number;
    shot.time_ns = frame.time_ns;
    shot.link_type = frame.link_type;
    shot.wire_length = frame.wire_length;
    shot.party = inspection::origin_of(reader_.interface_name(frame.interface)).party;
    shot.octets.assign(frame.octets.begin(), frame.octets.end());
    shot.comment = frame.comment.substr(0, longest_comment);
    learn(shot);
    shots_.push_back(std::move(shot));
    return true;
}

Shot Film::make_room(std::size_t octets) {
    Shot gone;
    while (!shots_.empty() && (shots_.size() == most || octets_ + octets > most_octets)) {
        gone = std::move(shots_.front());
        shots_.pop_front();
        octets_ -= gone.octets.size();
    }
    octets_ += octets;
    return gone;
}

void Film::learn(const Shot& shot) {
    is_evidence_ = is_evidence_ || shot.party != Party::anyone;
    Packet packet;
    shot.decode(packet);
    if (!packet.lrh) return;
    const auto slid = packet.lrh[Lrh::slid];
    if (packet.mad && packet.sa && (static_cast<unsigned>(packet.mad[Mad::method]) & response_bit)) sa_lid_ = slid;
    if (shot.party != Party::anyone && slid != 0) parties_[slid] = shot.party;
}

std::optional<Party> Film::party_at(std::uint16_t lid) const {
    if (const auto found = parties_.find(lid); found != parties_.end()) return found->second;
    return std::nullopt;
}

}  // namespace ipoib::conformance
