// SPDX-License-Identifier: GPL-2.0-or-later
// Datagrams of their own, remote direct memory access, a tunnel of IP over their own queue pairs, groups of their own.
#include "conformance/metamorphic/foreign.hpp"

#include "conformance/metamorphic/keeper.hpp"
#include "protocol/build/ipoib.hpp"

namespace ipoib::metamorphic {
namespace {

using build::Node, build::PacketBuilder;
using namespace wire;

constexpr std::int64_t between_ns = 3'300'000;
constexpr std::size_t packets = 8;

Node port(std::uint16_t number) {
    constexpr std::uint64_t prefix = std::uint64_t{0xfe80} << 48, guids = 0x0008f104'03990000;
    return {.lid = static_cast<std::uint16_t>(0xb000 + number),
            .gid = Gid::of(prefix, guids + number),
            .qpn = 0x00aa00u + number,
            .ipv4 = 0xac130000u + number,
            .ipv6 = Gid::of(prefix, guids + number)};
}

class Program {
public:
    explicit Program(std::string name) : name_("program:" + std::move(name)) {}
    void send(const PacketBuilder& packet) {
        const auto octets = trace_.store.keep(packet.build());
        trace_.frames.push_back({.octets = octets,
                                 .wire_length = static_cast<std::uint32_t>(octets.size()),
                                 .time = begin_ns + between_ns * static_cast<std::int64_t>(trace_.frames.size()),
                                 .from = static_cast<std::uint32_t>(trace_.frames.size())});
    }
    std::unique_ptr<Source> source() { return make_source(std::move(name_), std::move(trace_)); }

private:
    std::string name_;
    Trace trace_;
};

PacketBuilder headers(const Node& from, const Node& to, Opcode opcode, std::uint32_t psn) {
    PacketBuilder packet;
    packet.add<Lrh>().set(Lrh::slid, from.lid).set(Lrh::dlid, to.lid);
    packet.add<Bth>().set(Bth::opcode, opcode).set(Bth::p_key, 0xffff).set(Bth::dest_qp, to.qpn).set(Bth::psn, psn);
    return packet;
}

PacketBuilder datagram(const Node& from, const Node& to, std::uint32_t psn, std::uint32_t q_key) {
    auto packet = headers(from, to, Opcode::ud_send_only, psn);
    packet.add<Deth>().set(Deth::q_key, q_key).set(Deth::src_qp, from.qpn);
    return packet;
}

/// Messages of a job, as an MPI sends them.
std::unique_ptr<Source> messages() {
    Program program{"datagrams"};
    for (std::uint32_t i = 0; i < packets; ++i) {
        auto packet = datagram(port(1), port(2), i, 0x01234567);
        packet.add(build::pattern(32 + i));
        program.send(packet);
    }
    return program.source();
}

/// Four octets of its own, then an IP packet.
std::unique_ptr<Source> tunnel() {
    Program program{"tunnel"};
    constexpr std::array<std::uint8_t, 4> header{0x00, 0x07, 0x12, 0x34};
    for (std::uint32_t i = 0; i < packets; ++i) {
        auto packet = datagram(port(3), port(4), i, 0x00abcdef);
        packet.add(header);
        packet.add<Ipv4>().set(Ipv4::source, port(3).ipv4).set(Ipv4::destination, port(4).ipv4);
        packet.add<Udp>().set(Udp::source, 4000).set(Udp::destination, 4001).add(build::pattern(20));
        program.send(packet);
    }
    return program.source();
}

std::unique_ptr<Source> connected() {
    Program program{"connected"};
    for (std::uint32_t i = 0; i < packets; ++i) {
        auto packet = headers(port(5), port(6), Opcode::rc_send_only, i);
        packet.add(build::pattern(64));
        program.send(packet);
    }
    return program.source();
}

/// A group whose MGID has no IPoIB in it.
std::unique_ptr<Source> own_group() {
    Program program{"own-group"};
    const auto from = port(7);
    constexpr std::uint64_t upper = 0xff12a01b'fe800000, lower = 0x00000000'0000abcd;
    for (std::uint32_t i = 0; i < packets; ++i) {
        PacketBuilder packet;
        packet.add<Lrh>().set(Lrh::slid, from.lid).set(Lrh::dlid, 0xd000);
        packet.add<Grh>().set(Grh::sgid, from.gid).set(Grh::dgid, Gid::of(upper, lower));
        packet.add<Bth>().set(Bth::opcode, Opcode::ud_send_only).set(Bth::p_key, 0xffff).set(Bth::dest_qp, 0xffffff);
        packet.add<Deth>().set(Deth::q_key, 0x00112233).set(Deth::src_qp, from.qpn);
        packet.add(build::pattern(40));
        program.send(packet);
    }
    return program.source();
}

}  // namespace

const Sources& foreign_programs() {
    static const auto all = [] {
        Sources list;
        list.push_back(messages());
        list.push_back(tunnel());
        list.push_back(connected());
        list.push_back(own_group());
        return list;
    }();
    return all;
}

}  // namespace ipoib::metamorphic
