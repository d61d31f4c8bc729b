// SPDX-License-Identifier: GPL-2.0-or-later
// Records of the administrator itself and of the ports.
#include "fabric/simulated/sa_records.hpp"

#include "protocol/wire/class_port_info.hpp"
#include "protocol/wire/node_record.hpp"
#include "protocol/wire/p_key_table_record.hpp"
#include "protocol/wire/port_info.hpp"

#include <algorithm>

namespace ipoib::fabric::sa {
using namespace wire;

namespace {

/// Rows of an inner header: row i has bit `first + i` of the component mask, as far as `count` rows.
bool has_same_rows(const Request& request, std::span<const FieldSpec> rows, unsigned first, std::size_t count,
                   Octets asked, Octets known) {
    for (std::size_t i = 0; i < std::min(count, rows.size()); ++i)
        if (request.gives(std::uint64_t{1} << (first + i)) && !is_same(rows[i], asked, known)) return false;
    return true;
}

/// As many octets of an attribute as there are; the rest stays zero.
template <std::size_t N>
OctetArray<N> filled(Octets octets) {
    OctetArray<N> array{};
    std::copy_n(octets.begin(), std::min(N, octets.size()), array.begin());
    return array;
}

Bytes<NodeRecord> node_record(const KnownPort& port) {
    const auto* const text = reinterpret_cast<const std::uint8_t*>(port.description.data());
    return Bytes<NodeRecord>{}
        .set(NodeRecord::lid, port.lid)
        .set(NodeRecord::node_info, filled<NodeInfo::size>(port.node_info))
        .set(NodeRecord::node_description, filled<64>({text, port.description.size()}));
}

Bytes<PortInfoRecord> port_info_record(const Request& request, const KnownPort& port) {
    Bytes<PortInfo> info{filled<PortInfo::size>(port.port_info)};
    if (!request.has_sm_key) info.set(PortInfo::m_key, 0);
    return Bytes<PortInfoRecord>{}
        .set(PortInfoRecord::endport_lid, port.lid)
        .set(PortInfoRecord::port_num, port.port_number)
        .set(PortInfoRecord::port_info, info.octets);
}

Reply node_records(const Request& request, const SubnetView& subnet, const SaConfig&) {
    using C = NodeRecord::component;
    constexpr unsigned first_row = 2;
    const auto asked = request.record<NodeRecord>();
    Reply reply;
    for (const auto& port : subnet.ports()) {
        if (request.gives(C::lid) && asked[NodeRecord::lid] != port.lid) continue;
        if (!is_told_of(*request.port, port)) continue;
        const auto record = node_record(port);
        if (request.gives(C::node_description) && !is_same(NodeRecord::node_description, asked.octets(), record.octets))
            continue;
        if (has_same_rows(request, NodeInfo::fields, first_row, NodeInfo::fields.size(), node_info(asked).octets(),
                          node_info(record.view()).octets()) &&
            !reply.add(record))
            break;
    }
    return reply;
}

Reply port_info_records(const Request& request, const SubnetView& subnet, const SaConfig&) {
    using C = PortInfoRecord::component;
    // The rows behind GUIDCap share bits of the mask.
    constexpr unsigned first_row = 3;
    constexpr std::size_t rows = 40;
    static_assert(PortInfo::fields[rows - 1].at.bit == PortInfo::guid_cap.at.bit);
    const auto asked = request.record<PortInfoRecord>();
    Reply reply;
    for (const auto& port : subnet.ports()) {
        if (request.gives(C::endport_lid) && asked[PortInfoRecord::endport_lid] != port.lid) continue;
        if (request.gives(C::port_num) && asked[PortInfoRecord::port_num] != port.port_number) continue;
        if (!is_told_of(*request.port, port)) continue;
        const auto record = port_info_record(request, port);
        if (has_same_rows(request, PortInfo::fields, first_row, rows, port_info(asked).octets(),
                          port_info(record.view()).octets()) &&
            !reply.add(record))
            break;
    }
    return reply;
}

/// Only to those who are trusted.
Reply p_key_table_records(const Request& request, const SubnetView& subnet, const SaConfig& config) {
    using P = PKeyTableRecord;
    using C = P::component;
    if (!request.has_sm_key && !config.trusts_everyone) return Reply::refuse(sa_status::invalid_request);
    const auto asked = request.record<P>();
    Reply reply;
    for (const auto& port : subnet.ports()) {
        if (request.gives(C::lid) && asked[P::lid] != port.lid) continue;
        if (request.gives(C::port_num) && asked[P::port_num] != port.port_number) continue;
        for (std::size_t block = 0; block * P::entries < port.p_keys.size(); ++block) {
            if (request.gives(C::block) && asked[P::block] != block) continue;
            OctetArray<2 * P::entries> keys{};
            for (std::size_t i = 0; i < P::entries && block * P::entries + i < port.p_keys.size(); ++i) {
                const auto p_key = port.p_keys[block * P::entries + i];
                keys[2 * i] = static_cast<std::uint8_t>(p_key >> 8);
                keys[2 * i + 1] = static_cast<std::uint8_t>(p_key);
            }
            const auto record = Bytes<P>{}
                                    .set(P::lid, port.lid)
                                    .set(P::block, static_cast<std::uint16_t>(block))
                                    .set(P::port_num, port.port_number)
                                    .set(P::p_keys, keys);
            if (!reply.add(record)) return reply;
        }
    }
    return reply;
}

/// Known, and not kept.
Reply unsupported(const Request&, const SubnetView&, const SaConfig&) {
    return Reply::refuse(mad_status::unsupported_method_attribute);
}

struct Served {
    std::uint16_t attribute_id;
    RecordQuery query;
};
constexpr auto served = std::to_array<Served>({
    {attribute::node_record, node_records},
    {attribute::port_info_record, port_info_records},
    {attribute::switch_info_record, unsupported},
    {attribute::link_record, unsupported},
    {attribute::p_key_table_record, p_key_table_records},
});

}  // namespace

Reply class_port_info(const SaConfig& config) {
    constexpr std::uint8_t quarter_second = 16;
    std::uint32_t options = 0;
    if (config.behaviour.offers_send_only_full_member) options |= ClassPortInfo::send_only_full_member;
    return Reply::of(Bytes<ClassPortInfo>{}
                         .set(ClassPortInfo::base_version, 1)
                         .set(ClassPortInfo::class_version, 2)
                         .set(ClassPortInfo::capability_mask, ClassPortInfo::ud_multicast)
                         .set(ClassPortInfo::capability_mask2, options)
                         .set(ClassPortInfo::resp_time_value, quarter_second)
                         .set(ClassPortInfo::redirect_qp, 1)
                         .set(ClassPortInfo::redirect_q_key, gsi_q_key)
                         .set(ClassPortInfo::trap_q_key, gsi_q_key));
}

RecordQuery record_query(std::uint16_t attribute_id) noexcept {
    const auto* const found = std::ranges::find(served, attribute_id, &Served::attribute_id);
    return found == served.end() ? nullptr : found->query;
}

}  // namespace ipoib::fabric::sa
