// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/links/advice.hpp"

#include "protocol/wire/medium.hpp"
#include "protocol/wire/text.hpp"

namespace ipoib::links {
namespace {

constexpr const char* instead =
    " To see links, take the capture at the adapter's port: ibdump -d mlx5_0 -w x.pcap, or tcpdump -i mlx5_0 "
    "(docs/captures.md). Without a capture, ipoib-conform audit asks the subnet administrator who is a member of what.";

}  // namespace

std::string advice(const reports::CaptureResult& capture) {
    constexpr std::uint32_t ethernet = 1, infiniband = 247, erf = 197;
    if (capture.packets == 0) return {};
    if (capture.link_type == ethernet)
        return capture.file +
               ": an Ethernet capture. RoCE has no IPoIB links, and what FreeBSD takes at an IPoIB interface has a "
               "made-up Ethernet header." +
               std::string(instead);
    const auto* medium = wire::find_medium(static_cast<std::uint16_t>(capture.link_type));
    if (medium && medium->link_type != infiniband)
        return capture.file + ": taken at a network interface (" + std::string(medium->name) +
               "), behind the adapter: P_Key, MGID, Q_Key and the talk with the subnet administrator are not in it. "
               "ipoib-conform check judges what it has: ARP, Neighbour Discovery, IP." +
               instead;
    if (medium || capture.link_type == erf)
        return capture.ipoib == 0 ? capture.file +
                                        ": none of its packets is IPoIB, or of a port that joins a link. Was "
                                        "it taken at the right port, while the interface was up?"
                                  : std::string{};
    return capture.file + ": link type " + std::to_string(capture.link_type) + " is none of InfiniBand." + instead;
}

}  // namespace ipoib::links
