// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the capture that the benchmarks read: IPoIB between eight hosts, 70% UDP, 20% ICMP, 5% ARP, 5% ND.
#include "fabric/capture/writer.hpp"
#include "protocol/build/samples.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <random>
#include <vector>

namespace {

using namespace ipoib;
using namespace ipoib::build;

/// One hundred frames in the proportions of the mix, in a random but repeatable order.
std::vector<std::vector<std::uint8_t>> mix() {
    const auto link = samples::controlled();
    std::mt19937 random{1};
    const auto host = [&] { return samples::host(static_cast<std::uint16_t>(1 + random() % 8)); };
    std::vector<std::vector<std::uint8_t>> frames;
    for (unsigned i = 0; i < 100; ++i) {
        const auto from = host(), to = host();
        if (i < 70)
            frames.push_back(udp(from, to, link, 40 + random() % 80).build());
        else if (i < 90)
            frames.push_back(echo_request(from, to, link, static_cast<std::uint16_t>(i)).build());
        else if (i < 93)
            frames.push_back(arp_request(from, to.ipv4, link).build());
        else if (i < 95)
            frames.push_back(arp_reply(from, to, link).build());
        else if (i < 98)
            frames.push_back(neighbour_solicitation(from, to.ipv6, 0xc001, link).build());
        else
            frames.push_back(neighbour_advertisement(from, to, link).build());
    }
    std::shuffle(frames.begin(), frames.end(), random);
    return frames;
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: make-bench-capture PACKETS FILE|-\n");
        return 2;
    }
    try {
        const auto packets = std::strtoull(argv[1], nullptr, 10);
        const auto frames = mix();
        auto writer = capture::Writer::pcap(argv[2], capture::LinkType::erf);
        const auto join = samples::broadcast_join_answer(samples::host(1), samples::controlled()).build();
        writer.write(0, join);
        for (std::uint64_t i = 1; i < packets; ++i)
            writer.write(static_cast<std::int64_t>(i) * 1000, frames[i % frames.size()]);
        writer.close();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "make-bench-capture: %s\n", error.what());
        return 1;
    }
    return 0;
}
