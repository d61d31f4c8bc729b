// SPDX-License-Identifier: GPL-2.0-or-later
// How each sample capture is made.
#include "captures/samples.hpp"

#include "captures/causes.hpp"
#include "captures/recorder.hpp"
#include "protocol/build/samples.hpp"
#include "protocol/wire/text.hpp"

#include <array>
#include <vector>

namespace ipoib::captures {
namespace {

using namespace build;
using namespace wire;
using capture::LinkType;
using capture::Writer;

constexpr std::uint16_t mlid = 0xc001;

const Node a = samples::host(1), b = samples::host(2);
Gid address(std::string_view text) { return parse_gid(text).value(); }

/// Two hosts that meet: join, resolution in both families, echo, multicast.
std::vector<PacketBuilder> ordinary(const build::Link& link) {
    const auto group = parse_ipv4("239.255.1.2").value(), local = parse_ipv4("224.0.0.22").value();
    return {
        samples::broadcast_join_answer(a, link),
        samples::broadcast_join_answer(b, link),
        arp_request(a, b.ipv4, link),
        arp_reply(b, a, link),
        echo_request(a, b, link, 1),
        echo_reply(b, a, link, 1),
        echo_request(a, b, link, 2, 2016),
        echo_reply(b, a, link, 2, 2016),
        neighbour_solicitation(a, b.ipv6, mlid, link),
        neighbour_advertisement(b, a, link),
        echo_request6(a, b, link, 1),
        udp_to_group(a, group, mlid + 1, link, 64),
        udp_to_group(a, local, mlid + 2, link, 64),
        udp_to_group(b, 0xffffffff, link.broadcast_mlid, link, 300),
        udp6_to_group(a, address("ff02::16"), mlid + 3, link, 64),
        udp6_to_group(b, address("ff05:0:0:1234:5678:9abc:def0:1"), mlid + 4, link, 64),
    };
}

void conformant(const std::string& path) {
    Recorder record{Writer::pcap(path, LinkType::erf)};
    for (const auto& packet : ordinary(samples::controlled())) record(packet);
}

/// A stack with the mistakes that are met most: each packet has one.
void broken(const std::string& path) {
    const auto link = samples::controlled();
    Recorder record{Writer::pcap(path, LinkType::erf)};
    for (const auto& packet : ordinary(link)) record(packet);
    // Nothing that was queued before the joins is on its way any more.
    record.pause(2'000'000'000);
    const auto group = parse_ipv4("239.255.1.2").value();
    const auto lie = [&](PacketBuilder packet, const auto& field, auto value) { record(packet.set(field, value)); };
    lie(echo_request(a, b, link, 3), Encap::reserved, std::uint16_t{0xabcd});
    lie(echo_request(a, b, link, 4), Deth::q_key, 0x0b1bu);
    lie(udp_to_group(a, group, mlid, link, 64), Grh::dgid, address("ff12:401b:8123::efff:102"));
    lie(udp_to_group(a, group, mlid, link, 64), Grh::dgid, address("ff12:401b:0123::fff:102"));
    lie(udp6_to_group(a, address("ff05::1:3"), mlid, link, 64), Grh::dgid, address("ff15:601b:8123::1:3"));
    lie(arp_request(a, b.ipv4, link), ArpAddresses::sha_flags, std::uint8_t{0x01});
    lie(arp_reply(b, a, link), Arp::hardware_length, std::uint8_t{6});
    lie(neighbour_solicitation(a, b.ipv6, mlid, link), LinkAddressOption::length, std::uint8_t{2});
    lie(udp_to_group(a, group, mlid, link, 64), Bth::dest_qp, 0x42u);
    auto without_grh = udp_to_group(a, group, mlid, link, 64);
    record(without_grh.remove<Grh>());
    record(udp(a, b, link, 2044));
}

template <LinkType Link, Medium How>
void of_link_type(const std::string& path) {
    Recorder record{Writer::pcap(path, Link), How};
    for (const auto& packet : ordinary(samples::controlled())) {
        const auto frame = packet.build();
        Packet decoded;
        decode(frame, decoded);
        if (decoded.is_ipoib()) record(packet);
    }
}

void rdmasniff(const std::string& path) {
    auto writer = Writer::pcapng(path);
    writer.add_interface(LinkType::infiniband, "mlx5_0");
    Recorder record{std::move(writer)};
    for (const auto& packet : ordinary({})) record(packet);
}

/// Evidence of an active run: what the tester breaks on purpose is not charged to the DUT.
void evidence(const std::string& path) {
    const auto link = samples::controlled();
    auto writer = Writer::pcapng(path);
    const auto dut = writer.add_interface(LinkType::infiniband, "dut");
    const auto tester = writer.add_interface(LinkType::infiniband, "tester");
    const auto sa = writer.add_interface(LinkType::infiniband, "sa");
    Recorder record{std::move(writer)};
    record(samples::broadcast_join_answer(a, link), sa);
    record(arp_request(b, a.ipv4, link), tester);
    record(arp_reply(a, b, link), dut);
    auto wrong = echo_request(b, a, link, 1);
    record(wrong.set(Encap::reserved, 0xffff), tester);
    record(echo_reply(a, b, link, 1), dut);
}

void truncated(const std::string& path) {
    constexpr std::size_t snap_length = 96;
    Recorder record{Writer::pcap(path, LinkType::erf)};
    for (const auto& packet : ordinary(samples::controlled())) record.octets(packet.build(), 0, snap_length);
}

/// What came before RFC 4391: none of it is misread.
void drafts(const std::string& path) {
    const build::Link link;
    Recorder record{Writer::pcap(path, LinkType::erf)};
    auto p_key = arp_request(a, b.ipv4, link);
    record(p_key.set(Grh::dgid, address("ff12:401b:7fff::ffff:ffff")));
    auto broadcast6 = arp_request(a, b.ipv4, link);
    record(broadcast6.set(Grh::dgid, address("ff12:601b:ffff::1")));
    auto long_address = broadcast(a, link);
    constexpr std::uint8_t draft_length = 26;
    long_address.add(Bytes<Arp>{}
                         .set(Arp::hardware, Arp::infiniband)
                         .set(Arp::protocol, 0x0800)
                         .set(Arp::hardware_length, draft_length)
                         .set(Arp::protocol_length, 4)
                         .set(Arp::operation, Arp::request));
    record(long_address.add(std::vector<std::uint8_t>(std::size_t{2} * (draft_length + 4))));
    const auto whole = echo_request(a, b, link, 1).build();
    constexpr std::size_t datagram = 8 + 12 + 8 + 4, length = 20 + 8 + 56;
    auto short_header = unicast(a, b, link);
    short_header.remove<Encap>().add(std::array<std::uint8_t, 2>{0x08, 0x00});
    record(short_header.add(Octets{whole}.subspan(datagram, length)));
}

/// RoCE in an Ethernet capture: no InfiniBand, so nothing to judge.
void roce(const std::string& path) {
    Recorder record{Writer::pcap(path, LinkType::ethernet)};
    record.octets(parse_octets("020000000001020000000002 8915 60000000001c1b40"
                               "fe80000000000000000000fffe000001fe80000000000000000000fffe000002"
                               "64000000ffff0000420000000180010000000000ff 0000000000000000")
                      .value());
}

constexpr std::array<Sample, 11> samples_made{{
    {"conformant.pcap", "ibdump (ERF): a link whose every parameter differs from the default; nothing is broken",
     conformant},
    {"broken.pcap", "ibdump (ERF): the same link with eleven broken packets", broken},
    {"rdmasniff.pcapng", "pcapng, link type 247: a link with the usual defaults", rdmasniff},
    {"solaris.pcap", "link type 242: destination address and encapsulation header",
     of_link_type<LinkType::ipoib, Medium::ipoib>},
    {"tcpdump.pcap", "link type 113, tcpdump on ib0: ARP, ND and IP",
     of_link_type<LinkType::linux_sll, Medium::linux_sll>},
    {"tcpdump-any.pcap", "link type 276, tcpdump on any: the same",
     of_link_type<LinkType::linux_sll2, Medium::linux_sll2>},
    {"evidence.pcapng", "an interface per party: what the tester broke is not charged to the DUT", evidence},
    {"truncated.pcap", "the conformant link, frames cut at 96 octets", truncated},
    {"drafts.pcap", "formats of the drafts before RFC 4391", drafts},
    {"roce.pcap", "Ethernet with RoCE: nothing to judge", roce},
    {"usual.pcap", "ibdump (ERF): a link with the usual defaults",
     [](const std::string& path) {
         Recorder record{Writer::pcap(path, LinkType::erf)};
         for (const auto& packet : ordinary({})) record(packet);
     }},
}};

}  // namespace

std::span<const Sample> all() {
    static const auto every = [] {
        std::vector<Sample> list{samples_made.begin(), samples_made.end()};
        list.insert(list.end(), causes().begin(), causes().end());
        return list;
    }();
    return every;
}

}  // namespace ipoib::captures
