// SPDX-License-Identifier: GPL-2.0-or-later
// Packets on every way, and who got them.
#include "conformance/explore/reach.hpp"

#include <algorithm>

namespace ipoib::conformance::explore {
using namespace wire;

namespace {

constexpr std::size_t longer_than_any_mtu = 2600;
constexpr std::uint8_t mark = 0xe1;

}  // namespace

Reach::Reach(World& world) : world_(world) {
    const std::vector<unsigned> all_peers{1, 2}, the_dut{0};
    const auto knows = [&](bool is_v4) { return !world.address(0, is_v4).octets.is_zero(); };
    for (const bool is_v4 : {true, false}) {
        if (!knows(is_v4)) continue;
        const std::string family = is_v4 ? ", IPv4" : ", IPv6";
        for (const auto peer : all_peers) {
            add(0, {peer}, world.address(peer, is_v4), family);
            add(peer, the_dut, world.address(0, is_v4), family);
        }
        add(0, {1}, world.peer(0).twin_address(is_v4), "'s second interface" + family);
        add(0, {1}, world.address(1, is_v4), family + " in fragments", longer_than_any_mtu);
        add(1, the_dut, world.address(0, is_v4), family + " in fragments", longer_than_any_mtu);
    }
    const auto to_all = IpAddress::v4(0xffffffff);
    add(0, all_peers, to_all, ", broadcast");
    for (const auto peer : all_peers) add(peer, the_dut, to_all, ", broadcast");
    for (unsigned i = 0; i < groups; ++i) {
        if (world.is_out_of_reach(world.mgid(i)) || !knows(group_address(i).is_v4())) continue;
        const auto words = ", group " + std::to_string(i) + " (" + text(group_address(i)) + ')';
        add(0, all_peers, group_address(i), words);
        if (world.wanted().joined.contains(i)) add(1, the_dut, group_address(i), words);
    }
}

void Reach::add(unsigned from, const std::vector<unsigned>& to, const IpAddress& address, const std::string& words,
                std::size_t octets) {
    Packet packet{from, address, octets, {}};
    for (const auto receiver : to) {
        packet.ways.push_back(ways_.size());
        ways_.push_back({from, receiver, address, octets, world_.name(from) + " to " + world_.name(receiver) + words});
    }
    packets_.push_back(std::move(packet));
}

void Reach::send(bool on_all) {
    ++round_;
    for (std::size_t i = 0; i < packets_.size(); ++i) {
        const auto& packet = packets_[i];
        const bool is_open = std::ranges::all_of(packet.ways, [this](std::size_t way) { return ways_[way].is_open; });
        if (is_open && !on_all) continue;
        std::vector<std::uint8_t> payload(packet.octets, mark);
        payload[1] = static_cast<std::uint8_t>(i);
        payload[2] = round_;
        world_.send(packet.from, packet.address, payload);
    }
}

void Reach::collect() {
    for (unsigned node = 0; node <= peers; ++node) take(node);
}

void Reach::take(unsigned node) {
    for (const auto& datagram : world_.received(node)) {
        const auto& payload = datagram.payload;
        if (payload.size() < 3 || payload[0] != mark || payload[1] >= packets_.size()) continue;
        const auto& packet = packets_[payload[1]];
        const bool is_as_sent =
            payload.size() == packet.octets &&
            std::ranges::all_of(payload.begin() + 3, payload.end(), [](std::uint8_t octet) { return octet == mark; });
        if (!is_as_sent || datagram.to != packet.address) continue;
        const bool is_from_there = datagram.from == world_.address(packet.from, true) || !datagram.from.is_v4();
        for (const auto way : packet.ways)
            if (ways_[way].to == node && is_from_there) ways_[way].is_open = true;
    }
}

bool Reach::is_wanted(const Way& way) const noexcept {
    return !way.is_open && (way.octets < longer_than_any_mtu || world_.dut().knows_fragments());
}

bool Reach::is_whole() const {
    return std::ranges::none_of(ways_, [this](const Way& way) { return is_wanted(way); });
}

bool Reach::lacks(unsigned from, unsigned to, const IpAddress& address) const {
    return std::ranges::any_of(ways_, [&](const Way& way) {
        const bool is_one_frame = way.octets < longer_than_any_mtu;
        return !way.is_open && is_one_frame && way.from == from && way.to == to && way.address == address;
    });
}

std::vector<std::string> Reach::broken() const {
    std::vector<std::string> all;
    for (const auto& way : ways_)
        if (is_wanted(way)) all.push_back(way.words);
    return all;
}

}  // namespace ipoib::conformance::explore
