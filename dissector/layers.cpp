// SPDX-License-Identifier: GPL-2.0-or-later
#include "dissector/layers.hpp"

#include "dissector/expert.hpp"
#include "dissector/fields.hpp"
#include "dissector/statistics.hpp"
#include "dissector/strings.hpp"
#include "dissector/tree.hpp"
#include "protocol/wire/medium.hpp"

#include <epan/dissectors/packet-infiniband.h>
#include <wiretap/pcap-encap.h>

#include <array>
#include <utility>

namespace ipoib::dissector {
using wire::Medium;

namespace {

constexpr guint32 erf_type_infiniband = 21;

dissector_table_t ether_types;
dissector_handle_t infiniband, datagram_layer;
heur_dissector_t builtin_ethertype;  ///< Wireshark's own reading of such payloads, for what is not IPoIB
int id_payload = -1, id_ether_type = -1, id_reserved = -1;

/// Calls another dissector; what goes wrong in it is shown and does not keep ours from being shown. 0 if it has failed.
int call_guarded(dissector_handle_t handle, tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data) {
    volatile int used = 0;
    TRY { used = call_dissector_with_data(handle, tvb, pinfo, tree, data); }
    CATCH_NONFATAL_ERRORS {
        show_exception(tvb, pinfo, tree, EXCEPT_CODE, GET_MESSAGE);
        used = 0;
    }
    ENDTRY;
    return used;
}

/// The encapsulation header and what is in it. RFC 4391, 6. The datagram's bounds are those of the InfiniBand packet,
/// not those that Wireshark's dissector cuts: it takes six octets off, also where no CRCs were captured.
void add_datagram(packet_info* pinfo, proto_tree* tree) {
    const auto& p = *shown.packet;
    shown.has_datagram = true;
    const auto offset = static_cast<int>(p.offset_of(p.encap.data()));
    constexpr auto header = static_cast<int>(wire::Encap::size);
    auto* rows = own_tree(tree, offset, header);
    proto_item_append_text(shown.item, ", %s", kind_of(p));
    if (is_wanted(tree)) add_rows(rows, shown.tvb, offset, wire::spec_of<wire::Encap>);
    const auto after = p.payload.data() + p.payload.size() - p.encap.data() - header;
    const auto captured = static_cast<int>(after > 0 ? after : 0);
    const auto before = static_cast<std::size_t>(p.encap.data() - p.payload.data());
    const auto whole = static_cast<int>(p.payload_length > before + header ? p.payload_length - before - header : 0);
    auto* datagram =
        tvb_new_subset_length_caplen(shown.tvb, offset + header, captured, whole > captured ? whole : captured);
    const auto type = p.content == wire::EtherType{} ? p.ether_type : p.content;
    volatile bool is_known = false;
    TRY { is_known = dissector_try_uint(ether_types, static_cast<guint32>(type), datagram, pinfo, tree) != 0; }
    CATCH_NONFATAL_ERRORS {
        show_exception(datagram, pinfo, tree, EXCEPT_CODE, GET_MESSAGE);
        is_known = true;
    }
    ENDTRY;
    if (!is_known) call_data_dissector(datagram, pinfo, tree);
}

int dissect_datagram(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void*) {
    add_datagram(pinfo, tree);
    return static_cast<int>(tvb_captured_length(tvb));
}

/// What Wireshark's own reading adds below InfiniBand, so that filters on it go on working.
void add_builtin_payload(proto_tree* tree, tvbuff_t* tvb) {
    if (!tree || id_payload <= 0) return;
    const auto length = static_cast<int>(tvb_captured_length(tvb));
    auto* item = proto_tree_add_item(tree, id_payload, tvb, 0, length, ENC_NA);
    proto_item_set_text(item, "IBA Payload - IP over InfiniBand");
    auto* rows = proto_item_add_subtree(item, ett.header);
    if (id_ether_type > 0) proto_tree_add_item(rows, id_ether_type, tvb, 0, 2, ENC_BIG_ENDIAN);
    if (id_reserved > 0) proto_tree_add_item(rows, id_reserved, tvb, 2, 2, ENC_NA);
}

HeuristicResult dissect_payload(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data) {
    const bool is_datagram = is_at_hand(pinfo, tvb) && is_ipoib() && shown.packet->encap && !shown.has_datagram;
    if (!is_datagram) return builtin_ethertype ? builtin_ethertype(tvb, pinfo, tree, data) : HeuristicResult{};
    if (data && tvb_captured_length(tvb) >= wire::Encap::size)
        add_builtin_payload(static_cast<infinibandinfo*>(data)->payload_tree, tvb);
    call_dissector(datagram_layer, tvb, pinfo, tree);
    return HeuristicResult{1};
}

int finish(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree) {
    dissect_rfc4391(pinfo, tree);
    count_frame(pinfo);
    end_frame();
    return static_cast<int>(tvb_captured_length(tvb));
}

/// Whether a frame is ours to show.
bool is_ours(const packet_info* pinfo) {
    return proto_is_protocol_enabled(find_protocol_by_id(hf.protocol)) && !is_showing(pinfo);
}

/// From the LRH on.
int dissect_infiniband(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data) {
    if (!is_ours(pinfo)) return call_dissector_with_data(infiniband, tvb, pinfo, tree, data);
    begin_frame(tvb, pinfo, Medium::infiniband);
    const bool has_failed = call_guarded(infiniband, tvb, pinfo, tree, data) == 0;
    const bool has_given_up = has_failed || shown.packet->is_truncated;
    if (has_given_up && is_ipoib() && shown.packet->encap && !shown.has_datagram) {
        // The capture is cut short, and Wireshark's own dissector says no more than that.
        col_clear_fence(pinfo->cinfo, COL_INFO);
        col_clear(pinfo->cinfo, COL_INFO);
        call_dissector(datagram_layer, tvb, pinfo, tree);
    }
    return finish(tvb, pinfo, tree);
}

/// A link type that Wireshark does not know: link type 247 of a pcapng comes so. Taken when it looks like an LRH.
int dissect_unknown(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data) {
    constexpr int lrh = static_cast<int>(wire::Lrh::size), bth = static_cast<int>(wire::Bth::size);
    if (tvb_captured_length(tvb) < static_cast<guint>(lrh + bth)) return 0;
    const auto view = wire::View<wire::Lrh>::at({tvb_get_ptr(tvb, 0, lrh), wire::Lrh::size});
    const auto length = static_cast<int>(tvb_reported_length(tvb));
    const auto packet = static_cast<int>(view[wire::Lrh::packet_length]) * 4;
    constexpr int with_vcrc = 2, without_crcs = -4;
    const bool fits = length - packet == with_vcrc || length == packet || length - packet == without_crcs;
    if (view[wire::Lrh::version] != 0 || static_cast<unsigned>(view[wire::Lrh::lnh]) < 2 || !fits) return 0;
    return dissect_infiniband(tvb, pinfo, tree, data);
}

/// With the encapsulation header: DLT 242, of which Wireshark takes the first 40 octets for a GRH, which they are not.
int dissect_encapsulated(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data, Medium medium,
                         dissector_handle_t original) {
    if (!is_ours(pinfo)) return original ? call_dissector_with_data(original, tvb, pinfo, tree, data) : 0;
    begin_frame(tvb, pinfo, medium);
    const auto& p = *shown.packet;
    col_set_str(pinfo->cinfo, COL_PROTOCOL, "IPoIB");
    col_clear(pinfo->cinfo, COL_INFO);
    auto* rows = own_tree(tree, 0, p.encap ? static_cast<int>(p.offset_of(p.encap.data())) : 0);
    if (p.destination && is_wanted(tree)) {
        const auto offset = static_cast<int>(p.offset_of(p.destination.data()));
        auto* address = proto_tree_add_subtree(rows, tvb, offset, static_cast<int>(wire::LinkAddress::size), ett.header,
                                               nullptr, "Destination link-layer address");
        add_rows(address, tvb, offset, wire::spec_of<wire::LinkAddress>);
    }
    if (p.encap) add_datagram(pinfo, tree);
    return finish(tvb, pinfo, tree);
}

/// Cooked captures show ARP, ND and IP alone; those of other networks are left as they are.
int dissect_cooked(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data, Medium medium,
                   dissector_handle_t original) {
    if (!is_ours(pinfo)) return call_dissector_with_data(original, tvb, pinfo, tree, data);
    begin_frame(tvb, pinfo, medium);
    const auto used = call_guarded(original, tvb, pinfo, tree, data);
    if (is_ipoib())
        finish(tvb, pinfo, tree);
    else
        add_trouble(pinfo, tree);
    end_frame();
    return used > 0 ? used : static_cast<int>(tvb_captured_length(tvb));
}

/// By Medium: what Wireshark takes such frames for.
std::array<dissector_handle_t, wire::medium_count> originals;

/// Wireshark tells a dissector nothing of what it was registered for: each medium has one of its own.
template <std::size_t index>
int dissect_medium(tvbuff_t* tvb, packet_info* pinfo, proto_tree* tree, void* data) {
    constexpr auto medium = static_cast<Medium>(index);
    const auto dissect = wire::spec(medium).has_encap ? dissect_encapsulated : dissect_cooked;
    return dissect(tvb, pinfo, tree, data, medium, originals[index]);
}
template <std::size_t... index>
constexpr std::array<dissector_t, sizeof...(index)> dissectors(std::index_sequence<index...>) {
    return {dissect_medium<index>...};
}

/// Of link types whose frames begin with something else than the LRH, those that Wireshark has a number for.
void take_over_media() {
    constexpr auto own = dissectors(std::make_index_sequence<wire::medium_count>{});
    for (std::size_t i = 0; i < wire::medium_count; ++i) {
        const auto& medium = wire::media()[i];
        const auto encap = wtap_pcap_encap_to_wtap_encap(medium.link_type);
        if (!medium.make_head || encap == WTAP_ENCAP_UNKNOWN) continue;
        originals[i] = dissector_get_default_uint_handle("wtap_encap", static_cast<guint32>(encap));
        if (originals[i] || medium.has_encap)
            dissector_add_uint("wtap_encap", static_cast<guint32>(encap), create_dissector_handle(own[i], -1));
    }
}

void take_over_payload() {
    // Wireshark moves the dissector that took a payload last to the front, so both cannot stay in the list.
    auto* entry = find_heur_dissector_by_unique_short_name("eth_over_ib");
    // Ours answers for both, so it is the other's protocol that turns it off.
    auto protocol = hf.protocol;
    if (entry) {
        builtin_ethertype = entry->dissector;
        protocol = proto_get_id(entry->protocol);
        heur_dissector_delete("infiniband.payload", entry->dissector, protocol);
    }
    heur_dissector_add("infiniband.payload", dissect_payload, "IP over InfiniBand (RFC 4391)", "rfc4391_infiniband",
                       protocol, HEURISTIC_ENABLE);
}

}  // namespace

void take_over_layers() {
    ether_types = find_dissector_table("ethertype");
    infiniband = find_dissector("infiniband");
    if (!ether_types || !infiniband) return;
    id_payload = proto_registrar_get_id_byname("infiniband.payload");
    id_ether_type = proto_registrar_get_id_byname("infiniband.rwh.etype");
    id_reserved = proto_registrar_get_id_byname("infiniband.reserved");
    take_over_payload();
    datagram_layer = create_dissector_handle(dissect_datagram, hf.protocol);

    // Without a protocol of their own: they are no layer of the packet.
    const auto handle = [](dissector_t dissect) { return create_dissector_handle(dissect, -1); };
    auto* from_lrh = handle(dissect_infiniband);
    dissector_add_uint("erf.types.type", erf_type_infiniband, from_lrh);
    dissector_add_uint("wtap_encap", WTAP_ENCAP_INFINIBAND, from_lrh);
    dissector_add_uint("wtap_encap", WTAP_ENCAP_UNKNOWN, handle(dissect_unknown));
    take_over_media();
}

}  // namespace ipoib::dissector
