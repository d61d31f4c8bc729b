// SPDX-License-Identifier: GPL-2.0-or-later
// Writes the captures that the benchmarks read: IPoIB between eight hosts, 70% UDP, 20% ICMP, 5% ARP, 5% ND; or a
// link with as many ports and groups as one likes, all of which join, announce themselves and send.
#include "fabric/capture/writer.hpp"
#include "protocol/build/management.hpp"
#include "protocol/build/samples.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <random>
#include <tuple>
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

using Frames = std::vector<std::vector<std::uint8_t>>;

/// A join and its answer, as the SA's port sees them.
void join(Frames& frames, const Node& port, const wire::Bytes<wire::McMemberRecord>& record) {
    const auto transaction = std::uint64_t{frames.size()} + 1;
    constexpr auto mask = wire::McMemberRecord::component::join;
    frames.push_back(mc_member(port, samples::sa(), wire::Method::set, transaction, record, mask).build());
    frames.push_back(mc_member(samples::sa(), port, wire::Method::get_resp, transaction, record, mask).build());
}

/// Each of `count` ports joins the link, a group of its own and its neighbour's; then it sends to both and to it.
std::pair<Frames, Frames> crowd(std::uint16_t count) {
    const auto link = samples::controlled();
    // LID 100 is the SA's.
    const auto host = [](std::uint16_t n) { return samples::host(static_cast<std::uint16_t>(n + 101)); };
    const auto address = [](std::uint16_t n) { return 0xef000000u + n; };
    const auto mlid = [](std::uint16_t n) { return static_cast<std::uint16_t>(0xc001 + n); };
    Frames begin, rest;
    for (std::uint16_t i = 0; i < count; ++i) {
        const auto next = static_cast<std::uint16_t>((i + 1) % count);
        join(begin, host(i), broadcast_record(host(i), link));
        for (const auto n : {i, next})
            join(begin, host(i),
                 group_record(host(i), link, wire::mgid_for_ipv4(address(n), link.p_key, link.scope), mlid(n), 1));
        rest.push_back(arp_reply(host(i), host(next), link).build());
        rest.push_back(udp(host(i), host(next), link, 64).build());
        for (const auto n : {i, next}) rest.push_back(udp_to_group(host(i), address(n), mlid(n), link, 64).build());
    }
    std::mt19937 random{1};
    std::shuffle(rest.begin(), rest.end(), random);
    return {std::move(begin), std::move(rest)};
}

}  // namespace

int main(int argc, char** argv) {
    const auto count = argc == 4 ? std::strtoul(argv[3], nullptr, 10) : 0;
    if (argc < 3 || argc > 4 || count > 10'000) {
        std::fprintf(stderr, "usage: make-bench-capture PACKETS FILE|- [PORTS AND GROUPS, at most 10000]\n");
        return 2;
    }
    try {
        const auto packets = std::strtoull(argv[1], nullptr, 10);
        Frames begin{samples::broadcast_join_answer(samples::host(1), samples::controlled()).build()}, frames;
        if (count)
            std::tie(begin, frames) = crowd(static_cast<std::uint16_t>(count));
        else
            frames = mix();
        auto writer = capture::Writer::pcap(argv[2], capture::LinkType::erf);
        for (std::uint64_t i = 0; i < begin.size() && i < packets; ++i)
            writer.write(static_cast<std::int64_t>(i) * 1000, begin[i]);
        for (std::uint64_t i = begin.size(); i < packets; ++i)
            writer.write(static_cast<std::int64_t>(i) * 1000, frames[i % frames.size()]);
        writer.close();
    } catch (const std::exception& error) {
        std::fprintf(stderr, "make-bench-capture: %s\n", error.what());
        return 1;
    }
    return 0;
}
