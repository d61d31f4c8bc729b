// SPDX-License-Identifier: GPL-2.0-or-later
// Registering and adding fields.
#include "dissector/fields.hpp"

#include "protocol/wire/mad_names.hpp"
#include "protocol/wire/registry_text.hpp"

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

namespace ipoib::dissector {
using namespace wire;

Ids hf;
Subtrees ett;

namespace {

/// What Wireshark keeps pointers to, for as long as the program runs.
struct Kept {
    std::deque<std::string> texts;
    std::deque<std::vector<value_string>> values;
    std::vector<std::vector<int>> ids;  ///< of each row of the wire tables' registry, one a field
    std::vector<hf_register_info> registered;

    const char* keep(std::string text) { return texts.emplace_back(std::move(text)).c_str(); }
    /// The same text is always the same pointer's, and an empty one is none.
    const char* keep_or_null(std::string_view text) { return text.empty() ? nullptr : keep(std::string(text)); }
};
Kept& keeper() {
    static auto* the = new Kept;
    return *the;
}

bool is_text(const FieldSpec& row) { return row.show == Show::text; }
bool is_octets(const FieldSpec& row) { return row.show == Show::octets || (row.width > 64 && row.width != 128); }
unsigned first_octet(const FieldSpec& row) { return row.at.bit / 8u; }
unsigned octet_count(const FieldSpec& row) { return (row.at.bit + row.width + 7u) / 8u - first_octet(row); }

ftenum type_of(const FieldSpec& row) {
    if (is_text(row)) return FT_STRINGZ;
    if (row.show == Show::gid || row.show == Show::ipv6) return FT_IPv6;
    if (row.show == Show::ipv4) return FT_IPv4;
    if (is_octets(row)) return FT_BYTES;
    if (row.width == 1) return FT_BOOLEAN;
    constexpr std::array types{FT_UINT8, FT_UINT16, FT_UINT24, FT_UINT32, FT_UINT40, FT_UINT48, FT_UINT56, FT_UINT64};
    return types.at(octet_count(row) - 1);
}

bool is_number(ftenum type) {
    constexpr std::array others{FT_STRINGZ, FT_IPv6, FT_IPv4, FT_BYTES, FT_BOOLEAN};
    return std::ranges::find(others, type) == others.end();
}

int display_of(const FieldSpec& row, ftenum type) {
    if (type == FT_BOOLEAN) return static_cast<int>(octet_count(row) * 8);
    if (!is_number(type)) return BASE_NONE;
    return row.show == Show::dec ? BASE_DEC : BASE_HEX;
}

std::uint64_t mask_of(const FieldSpec& row, ftenum type) {
    const auto bits = octet_count(row) * 8;
    if ((!is_number(type) && type != FT_BOOLEAN) || row.width == bits) return 0;
    const auto below = bits - row.at.bit % 8u - row.width;
    return (~std::uint64_t{0} >> (64 - row.width)) << below;
}

const void* names_for(const FieldSpec& row, ftenum type) {
    if (row.names.empty() || !is_number(type) || octet_count(row) > 4) return nullptr;
    auto& kept = keeper();
    auto& list = kept.values.emplace_back();
    for (const auto& one : row.names)
        list.push_back({static_cast<guint32>(one.value), kept.keep(std::string(one.name))});
    list.push_back({0, nullptr});
    return list.data();
}

void register_header(const HeaderSpec& header, std::vector<int>& ids) {
    auto& kept = keeper();
    ids.assign(header.fields.size(), -1);
    auto filters = filters_of(header);
    for (std::size_t i = 0; i < header.fields.size(); ++i) {
        const auto& row = header.fields[i];
        const auto type = type_of(row);
        kept.registered.push_back(
            {&ids[i],
             {kept.keep(std::string(row.name)), kept.keep(std::move(filters[i])), type, display_of(row, type),
              names_for(row, type), mask_of(row, type), kept.keep_or_null(row.help), HFILL}});
    }
}

constexpr value_string check_names[] = {{0, "absent"}, {1, "right"}, {2, "wrong"}, {0, nullptr}};

/// A field that no wire table has.
struct Own {
    int* id;
    const char *name, *filter;
    ftenum type;
    int display = BASE_NONE;
    const char* help = nullptr;
    std::uint64_t mask = 0;
    const void* names = nullptr;
};

const Own own_fields[] = {
    {&hf.requirement, "Requirement not kept", "rfc4391.requirement", FT_STRING, BASE_NONE, "As in the catalogue"},
    {&hf.level, "Level", "rfc4391.requirement.level", FT_STRING, BASE_NONE, "What the violation means"},
    {&hf.rule, "Rule", "rfc4391.rule", FT_STRING, BASE_NONE, "The rule that found it"},
    {&hf.note, "Noted", "rfc4391.note", FT_STRING},
    {&hf.suspicion, "Suspicion", "rfc4391.suspicion.text", FT_STRING, BASE_NONE,
     "What would be broken, the innocent explanation, and what settles it"},
    {&hf.icrc, "Invariant CRC", "rfc4391.icrc", FT_UINT8, BASE_DEC, "Whether it is right", 0, check_names},
    {&hf.vcrc, "Variant CRC", "rfc4391.vcrc", FT_UINT8, BASE_DEC, "Whether it is right", 0, check_names},
    {&hf.foreign, "Known from elsewhere", "rfc4391.foreign", FT_STRING, BASE_NONE, "An old draft, or not RFC 4391"},
    {&hf.truncated, "Cut in", "rfc4391.truncated", FT_STRING, BASE_NONE,
     "The header that the capture does not hold whole"},
    {&hf.rc, "RC: reliable connections", "rfc4391.link_address.flags.rc", FT_BOOLEAN, 8, "RFC 4755, 3.1", 0x80},
    {&hf.uc, "UC: unreliable connections", "rfc4391.link_address.flags.uc", FT_BOOLEAN, 8, "RFC 4755, 3.1", 0x40},
    {&hf.send_only_full_member, "SendOnlyFullMember", "rfc4391.mc_member_record.join_state.send_only_full_member",
     FT_BOOLEAN, 8, nullptr, 8},
    {&hf.send_only_non_member, "SendOnlyNonMember", "rfc4391.mc_member_record.join_state.send_only_non_member",
     FT_BOOLEAN, 8, nullptr, 4},
    {&hf.non_member, "NonMember", "rfc4391.mc_member_record.join_state.non_member", FT_BOOLEAN, 8, nullptr, 2},
    {&hf.full_member, "FullMember", "rfc4391.mc_member_record.join_state.full_member", FT_BOOLEAN, 8, nullptr, 1},
    {&hf.ip_group, "IP group", "rfc4391.mgid.ip_group", FT_STRING, BASE_NONE, "RFC 4391, 4"},
    {&hf.components, "Components", "rfc4391.sa.components", FT_STRING, BASE_NONE, "By ComponentMask"},
    {&hf.headline, "In short", "rfc4391.headline", FT_STRING},
    {&hf.has_grh, "Has a GRH", "rfc4391.has_grh", FT_BOOLEAN},
    {&hf.link, "Link", "rfc4391.link", FT_STRING, BASE_NONE, "Subnet prefix and P_Key"},
    {&hf.broadcast_gid, "Broadcast-GID", "rfc4391.link.broadcast_gid", FT_IPv6},
    {&hf.broadcast_mlid, "MLID", "rfc4391.link.mlid", FT_UINT16, BASE_HEX},
    {&hf.q_key, "Q_Key", "rfc4391.link.q_key", FT_UINT32, BASE_HEX},
    {&hf.mtu, "IPoIB link MTU", "rfc4391.link.mtu", FT_UINT32, BASE_DEC, "Of the broadcast group less 4 octets"},
    {&hf.sl, "SL", "rfc4391.link.sl", FT_UINT8, BASE_DEC},
    {&hf.traffic_class, "TClass", "rfc4391.link.tclass", FT_UINT8, BASE_HEX},
    {&hf.flow_label, "FlowLabel", "rfc4391.link.flow_label", FT_UINT24, BASE_HEX},
    {&hf.hop_limit, "HopLimit", "rfc4391.link.hop_limit", FT_UINT8, BASE_DEC},
    {&hf.source, "Known from", "rfc4391.link.source", FT_STRING},
    {&hf.learned, "Learned in frame", "rfc4391.link.learned", FT_FRAMENUM},
    {&hf.host, "Host", "rfc4391.link_address.host", FT_STRING, BASE_NONE, "By the port GUID"},
    {&hf.sender_host, "Host", "rfc4391.sender.host", FT_STRING, BASE_NONE, "By the port GUID"},
    {&hf.receiver_host, "Host", "rfc4391.receiver.host", FT_STRING, BASE_NONE, "By the port GUID"},
    {&hf.sender_address, "IP address announced", "rfc4391.sender.address", FT_STRING},
    {&hf.sender_gid, "GID", "rfc4391.sender.gid", FT_IPv6},
    {&hf.sender_lid, "LID", "rfc4391.sender.lid", FT_UINT16, BASE_HEX},
    {&hf.sender_qpn, "QPN announced", "rfc4391.sender.qpn", FT_UINT24, BASE_HEX},
    {&hf.sender_announced, "Announced in frame", "rfc4391.sender.announced", FT_FRAMENUM},
    {&hf.receiver_address, "IP address announced", "rfc4391.receiver.address", FT_STRING},
    {&hf.receiver_gid, "GID", "rfc4391.receiver.gid", FT_IPv6},
    {&hf.receiver_lid, "LID", "rfc4391.receiver.lid", FT_UINT16, BASE_HEX},
    {&hf.receiver_qpn, "QPN announced", "rfc4391.receiver.qpn", FT_UINT24, BASE_HEX},
    {&hf.receiver_announced, "Announced in frame", "rfc4391.receiver.announced", FT_FRAMENUM},
    {&hf.group, "Group", "rfc4391.group", FT_STRING},
    {&hf.group_mgid, "MGID", "rfc4391.group.mgid", FT_IPv6},
    {&hf.group_mlid, "MLID", "rfc4391.group.mlid", FT_UINT16, BASE_HEX},
    {&hf.group_learned, "Record learned in frame", "rfc4391.group.learned", FT_FRAMENUM},
    {&hf.joined, "Joined in frame", "rfc4391.group.joined", FT_FRAMENUM},
    {&hf.join_state, "JoinState", "rfc4391.group.join_state", FT_STRING, BASE_NONE, "Of the sender, as the SA gave it"},
    {&hf.member, "Member", "rfc4391.group.member", FT_STRING},
    {&hf.request, "Request in frame", "rfc4391.request_in", FT_FRAMENUM},
    {&hf.answer, "Answer in frame", "rfc4391.answer_in", FT_FRAMENUM},
    {&hf.cause, "Comes from frame", "rfc4391.cause_in", FT_FRAMENUM, BASE_NONE, "The join or leave that it tells of"},
    {&hf.report, "Reported in frame", "rfc4391.report_in", FT_FRAMENUM},
};

const void* own_names(const Own& own) {
    if (own.id == &hf.request) return FRAMENUM_TYPE(FT_FRAMENUM_REQUEST);
    if (own.id == &hf.answer) return FRAMENUM_TYPE(FT_FRAMENUM_RESPONSE);
    return own.names;
}

}  // namespace

void register_fields() {
    hf.protocol = proto_register_protocol("IP over InfiniBand (RFC 4391)", protocol_name, "rfc4391");
    auto& kept = keeper();
    kept.ids.resize(wire::registry().size());
    for (std::size_t i = 0; i < kept.ids.size(); ++i)
        if (const auto& row = wire::registry()[i]; row.shown == RegistryRow::Shown::by_plugin)
            register_header(*row.header, kept.ids[i]);
    for (const auto& own : own_fields) {
        *own.id = -1;
        kept.registered.push_back(
            {own.id, {own.name, own.filter, own.type, own.display, own_names(own), own.mask, own.help, HFILL}});
    }
    proto_register_field_array(hf.protocol, kept.registered.data(), static_cast<int>(kept.registered.size()));
    static int* subtrees[] = {&ett.packet,  &ett.header,   &ett.flags, &ett.link,   &ett.port,       &ett.group,
                              &ett.members, &ett.exchange, &ett.table, &ett.record, &ett.requirement};
    for (auto* one : subtrees) *one = -1;
    proto_register_subtree_array(subtrees, std::size(subtrees));
}

bool is_wanted(proto_tree* tree) { return tree && proto_field_is_referenced(tree, hf.protocol); }

namespace {

bool is_row(const HeaderSpec& header, const FieldSpec& row, const HeaderSpec& of, const FieldSpec& wanted) {
    return &header == &of && row.at.bit == wanted.at.bit;
}

void add_row(proto_tree* tree, tvbuff_t* tvb, int offset, const HeaderSpec& header, const FieldSpec& row, int id) {
    const auto length = static_cast<int>(octet_count(row));
    auto* item = proto_tree_add_item(tree, id, tvb, offset + static_cast<int>(first_octet(row)), length,
                                     is_text(row) ? ENC_ASCII | ENC_NA : ENC_BIG_ENDIAN);
    if (is_row(header, row, spec_of<LinkAddress>, LinkAddress::flags)) {
        auto* flags = proto_item_add_subtree(item, ett.flags);
        for (const auto one : {hf.rc, hf.uc}) proto_tree_add_item(flags, one, tvb, offset, 1, ENC_BIG_ENDIAN);
    } else if (is_row(header, row, spec_of<McMemberRecord>, McMemberRecord::join_state)) {
        auto* bits = proto_item_add_subtree(item, ett.flags);
        for (const auto one : {hf.send_only_full_member, hf.send_only_non_member, hf.non_member, hf.full_member})
            proto_tree_add_item(bits, one, tvb, offset + static_cast<int>(first_octet(row)), 1, ENC_BIG_ENDIAN);
    } else if (&header == &spec_of<Mad>) {
        const auto* at = tvb_get_ptr(tvb, offset, static_cast<int>(Mad::size));
        const auto names = names_of(header, row, at);
        const auto value = read_bits(at, row.at, row.width);
        const auto name = name_of(names, value);
        if (names.data() == row.names.data() || name.empty()) return;
        proto_item_set_text(item, "%.*s: %.*s (0x%04x)", static_cast<int>(row.name.size()), row.name.data(),
                            static_cast<int>(name.size()), name.data(), static_cast<unsigned>(value));
    }
}

}  // namespace

void add_rows(proto_tree* tree, tvbuff_t* tvb, int offset, const HeaderSpec& header) {
    const auto* const row = row_of(header);
    if (!row || row->shown != RegistryRow::Shown::by_plugin) return;
    const auto& ids = keeper().ids[static_cast<std::size_t>(row - wire::registry().data())];
    for (std::size_t i = 0; i < header.fields.size(); ++i) add_row(tree, tvb, offset, header, header.fields[i], ids[i]);
}

proto_item* add_header(proto_tree* tree, tvbuff_t* tvb, int offset, const HeaderSpec& header) {
    proto_item* item = nullptr;
    auto* rows = proto_tree_add_subtree_format(tree, tvb, offset, static_cast<int>(header.size), ett.header, &item,
                                               "%.*s", static_cast<int>(header.title.size()), header.title.data());
    add_rows(rows, tvb, offset, header);
    return item;
}

}  // namespace ipoib::dissector
