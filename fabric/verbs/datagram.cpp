// SPDX-License-Identifier: GPL-2.0-or-later
// Frames of work requests, and of completions.
#include "fabric/verbs/datagram.hpp"

#include "protocol/wire/packet.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>

namespace ipoib::fabric {
using namespace wire;

namespace {

constexpr std::uint32_t controlled_q_key = 0x80000000;

/// What differs between the frames of a request and of an arrival.
struct Headers {
    std::uint16_t slid, dlid;
    std::uint8_t sl;
    bool is_solicited;
    std::uint16_t p_key;
    std::uint32_t dest_qp, q_key, src_qp;
    std::optional<std::uint32_t> immediate;
    Octets grh, payload;
};

Frame frame_of(const Headers& h) {
    std::array<std::uint8_t, longest_frame> octets{};
    std::size_t size = 0;
    const auto add = [&]<class Header>(const Bytes<Header>& header) {
        std::ranges::copy(header.octets, octets.begin() + static_cast<std::ptrdiff_t>(size));
        size += Header::size;
    };
    const std::size_t pad = (4 - h.payload.size() % 4) % 4;
    const auto before_icrc =
        Lrh::size + h.grh.size() + Bth::size + Deth::size + (h.immediate ? ImmDt::size : 0) + h.payload.size() + pad;
    if (before_icrc + icrc_size + vcrc_size > octets.size()) return {};
    add(Bytes<Lrh>{}
            .set(Lrh::sl, h.sl)
            .set(Lrh::lnh, h.grh.empty() ? Lnh::local : Lnh::global)
            .set(Lrh::dlid, h.dlid)
            .set(Lrh::packet_length, static_cast<std::uint16_t>((before_icrc + icrc_size) / 4))
            .set(Lrh::slid, h.slid));
    std::ranges::copy(h.grh, octets.begin() + static_cast<std::ptrdiff_t>(size));
    size += h.grh.size();
    add(Bytes<Bth>{}
            .set(Bth::opcode, h.immediate ? Opcode::ud_send_only_immediate : Opcode::ud_send_only)
            .set(Bth::solicited, h.is_solicited)
            .set(Bth::migration, true)
            .set(Bth::pad, static_cast<std::uint8_t>(pad))
            .set(Bth::p_key, h.p_key)
            .set(Bth::dest_qp, h.dest_qp));
    add(Bytes<Deth>{}.set(Deth::q_key, h.q_key).set(Deth::src_qp, h.src_qp));
    if (h.immediate) add(Bytes<ImmDt>{}.set(ImmDt::data, *h.immediate));
    std::ranges::copy(h.payload, octets.begin() + static_cast<std::ptrdiff_t>(size));
    return Frame{Octets{octets}.first(before_icrc + icrc_size + vcrc_size)};
}

/// The GRH that an adapter makes.
Bytes<Grh> grh_of(const UdPath::Global& global, const Gid& sgid, std::size_t behind) {
    return Bytes<Grh>{}
        .set(Grh::version, 6)
        .set(Grh::traffic_class, global.traffic_class)
        .set(Grh::flow_label, global.flow_label)
        .set(Grh::payload_length, static_cast<std::uint16_t>(behind))
        .set(Grh::next_header, Grh::iba_transport)
        .set(Grh::hop_limit, global.hop_limit)
        .set(Grh::sgid, sgid)
        .set(Grh::dgid, global.dgid);
}

Frame sent_for(const UdRequest& request, const UdSource& source) {
    const auto immediate_size = request.immediate ? ImmDt::size : 0;
    const auto behind = Bth::size + Deth::size + immediate_size + (request.payload.size() + 3) / 4 * 4 + icrc_size;
    const auto grh = request.path.global ? grh_of(*request.path.global, source.gid, behind) : Bytes<Grh>{};
    return frame_of({.slid = source.lid,
                     .dlid = request.path.dlid,
                     .sl = request.path.sl,
                     .is_solicited = request.is_solicited,
                     .p_key = source.p_key,
                     .dest_qp = request.dest_qp,
                     .q_key = request.q_key,
                     .src_qp = source.qpn,
                     .immediate = request.immediate,
                     .grh = request.path.global ? Octets{grh.octets} : Octets{},
                     .payload = request.payload});
}

/// The first field in which two frames with the same headers differ, as "LRH.VL is 3, not 0".
std::string difference(const Packet& wanted, Octets made) {
    std::string first;
    const auto header_differs = [&](const HeaderSpec& header, const std::uint8_t* at) {
        const auto* other = made.data() + wanted.offset_of(at);
        for (const auto& field : header.fields) {
            if (!first.empty()) return;
            const auto value = value_text(field, at), otherwise = value_text(field, other);
            if (value != otherwise)
                first.append(header.name)
                    .append(1, '.')
                    .append(field.name)
                    .append(" is " + value)
                    .append("; the adapter sends " + otherwise);
        }
    };
    if (wanted.lrh) header_differs(spec_of<Lrh>, wanted.lrh.data());
    if (wanted.grh) header_differs(spec_of<Grh>, wanted.grh.data());
    if (wanted.bth) header_differs(spec_of<Bth>, wanted.bth.data());
    if (wanted.deth) header_differs(spec_of<Deth>, wanted.deth.data());
    return first.empty() ? "the padding is not zero" : first;
}

bool has_crcs_of_its_own(Octets frame, Tail tail) {
    const auto found = check_crcs(frame, tail);
    return found.icrc == Check::bad || found.vcrc == Check::bad;
}

}  // namespace

std::string to_request(Octets frame, const UdSource& source, UdRequest& request) {
    Packet p;
    decode(frame, p);
    if (!p.lrh || !p.bth || !p.deth || p.tail == Tail::truncated || frame.size() > longest_frame)
        return "it is no whole datagram";
    if (has_crcs_of_its_own(frame, p.tail)) return "its ICRC or VCRC is wrong; the adapter sends right ones";
    request = {.path = {.dlid = p.lrh[Lrh::dlid], .sl = p.lrh[Lrh::sl]},
               .dest_qp = p.bth[Bth::dest_qp],
               .q_key = p.deth[Deth::q_key],
               .is_solicited = p.bth[Bth::solicited],
               .payload = p.payload};
    if (p.grh)
        request.path.global = {.dgid = p.grh[Grh::dgid],
                               .flow_label = p.grh[Grh::flow_label],
                               .traffic_class = p.grh[Grh::traffic_class],
                               .hop_limit = p.grh[Grh::hop_limit]};
    if (p.immdt) request.immediate = p.immdt[ImmDt::data];
    // Whatever the adapter would do in another way is found by doing it.
    const auto made = sent_for(request, source);
    const auto without_crcs = [](Octets octets) { return octets.first(octets.size() - icrc_size - vcrc_size); };
    if (made.octets().size() != frame.size())
        return "its length is " + std::to_string(frame.size()) + " octets; the adapter sends " +
               std::to_string(made.octets().size());
    if (!std::ranges::equal(without_crcs(frame), without_crcs(made.octets()))) return difference(p, made.octets());
    // For any controlled Q_Key the adapter takes the queue pair's own. IBTA Vol 1, 10.2.5.
    if (request.q_key & controlled_q_key && request.q_key != source.q_key)
        return "DETH.Q_Key is " + hex(request.q_key, 8) + ", controlled; the adapter sends the queue pair's, " +
               hex(source.q_key, 8);
    return {};
}

Frame rebuilt(const UdArrival& arrival, const UdSource& receiver) {
    const auto grh = View<Grh>::at(arrival.grh);
    const bool is_multicast = grh && grh[Grh::dgid].is_multicast();
    return frame_of({.slid = arrival.slid,
                     .dlid = arrival.dlid,
                     .sl = arrival.sl,
                     .is_solicited = false,
                     .p_key = receiver.p_key,
                     .dest_qp = is_multicast ? Bth::multicast_qp : receiver.qpn,
                     .q_key = receiver.q_key,
                     .src_qp = arrival.src_qp,
                     .immediate = arrival.immediate,
                     .grh = arrival.grh,
                     .payload = arrival.payload});
}

}  // namespace ipoib::fabric
