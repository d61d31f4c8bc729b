// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

namespace {

/// All of these values in a field of both IP headers.
template <class Header, class Other, class T>
std::vector<Message> each_value(const Field<Header, T>& field, const Field<Other, T>& other,
                                const std::vector<T>& values) {
    std::vector<Message> messages;
    for (const auto value : values) messages.push_back(echo_request().with_either(field, other, value));
    return messages;
}

/// A whole IP packet of this protocol that holds so many octets.
Message short_packet(IpProtocol protocol, std::size_t octets) {
    return echo_request().edited(" with another payload", [=](build::PacketBuilder& packet) {
        build::PacketBuilder other;
        build::append_headers<Lrh, Grh, Bth, Deth, Encap, Ipv4, Ipv6>(other, packet);
        if (other.has(spec_of<Ipv6>))
            other.set(Ipv6::next_header, protocol);
        else
            other.set(Ipv4::protocol, protocol);
        packet = other.add(build::pattern(octets));
    });
}

}  // namespace

const Case wrong_ip_lengths_do_no_harm{
    .id = "IPOIB-4391-6-INV-005",
    .title = "IP packets whose lengths are wrong do no harm",
    .checks = {&rfc4391::encap_type_demultiplexing},
    .pass_if = "after packets with lengths beyond and below what is there, ordinary requests are answered",
    .tags = {"encap", "robust", "ipv4", "ipv6"},
    .in_both_families = true,
    .lasts_at_most = 15s,
    .steps =
        [](Bench& bench) {
            constexpr std::uint16_t discard = 9;
            const auto& demultiplexing = rfc4391::encap_type_demultiplexing;
            bench.step("Ordinary traffic is answered", demultiplexing);
            bench.control();
            // The whole packet is 84 octets in IPv4; in IPv6 64 are the payload.
            bench.must_outlive("IP lengths beyond the payload",
                               each_value(Ipv4::total_length, Ipv6::payload_length, {85, 92, 1500, 0x7fff, 0xffff}),
                               demultiplexing);
            bench.must_outlive(
                "IP lengths below the payload, and below the header",
                each_value(Ipv4::total_length, Ipv6::payload_length, {63, 28, 27, 21, 20, 19, 8, 7, 1, 0}),
                demultiplexing);
            bench.must_outlive("IP versions that the Type does not mean",
                               each_value(Ipv4::version, Ipv6::version, {0, 4, 5, 6, 7, 15}), demultiplexing);
            bench.must_outlive(
                "An IP header, and nothing behind it",
                {echo_request().cut_to(Encap::size + Ipv4::size), echo_request().cut_to(Encap::size + Ipv6::size),
                 echo_request().cut_to(Encap::size + Ipv4::size).followed_by(1)},
                demultiplexing);
            const auto udp = udp_to_dut(discard);
            bench.must_outlive("UDP lengths beyond and below the payload",
                               {udp.with(Udp::length, 0), udp.with(Udp::length, 7), udp.with(Udp::length, 8),
                                udp.with(Udp::length, 39), udp.with(Udp::length, 41), udp.with(Udp::length, 0xffff)},
                               demultiplexing);
            bench.must_outlive("Octets behind the end of the IP packet",
                               {echo_request().followed_by(1), echo_request().followed_by(3), udp.followed_by(700)},
                               demultiplexing);
        },
};

const Case wrong_ip_headers_do_no_harm{
    .id = "IPOIB-4391-6-INV-006",
    .title = "IP headers that do not hold what they announce do no harm",
    .checks = {&rfc4391::encap_type_demultiplexing},
    .pass_if =
        "after IPv4 headers of every length and chains of IPv6 headers that end nowhere, ordinary requests are "
        "answered",
    .tags = {"encap", "robust", "ipv4", "ipv6"},
    .in_both_families = true,
    .steps =
        [](Bench& bench) {
            const auto& demultiplexing = rfc4391::encap_type_demultiplexing;
            bench.step("Ordinary traffic is answered", demultiplexing);
            bench.control();
            std::vector<Message> headers;
            for (const auto next :
                 std::array<std::uint8_t, 16>{0, 1, 2, 6, 17, 41, 43, 44, 50, 51, 58, 59, 60, 135, 254, 255})
                headers.push_back(echo_request(0).with_either(Ipv4::protocol, Ipv6::next_header, IpProtocol{next}));
            bench.must_outlive("Next headers that are not there", headers, demultiplexing);
            for (auto& header : headers)
                header = header.cut_to(Encap::size + (bench.situation().is_ipv6() ? Ipv6::size : Ipv4::size));
            bench.must_outlive("Next headers that are announced, and nothing behind", headers, demultiplexing);
            std::vector<Message> transports;
            for (std::size_t octets = 0; octets < Udp::size; ++octets)
                for (const auto protocol : {IpProtocol::icmp, IpProtocol::igmp, IpProtocol::tcp, IpProtocol::udp,
                                            IpProtocol::icmpv6, IpProtocol::none})
                    transports.push_back(short_packet(protocol, octets));
            bench.must_outlive("IP packets of no octet behind the header, up to 7", transports, demultiplexing);
            if (bench.situation().is_ipv6()) return;
            headers.clear();
            for (std::uint8_t words = 0; words < 16; ++words)
                headers.push_back(echo_request(0).with(Ipv4::header_words, words));
            bench.must_outlive("IPv4 headers of 0 to 15 words", headers, demultiplexing);
        },
};

}  // namespace ipoib::conformance
