// SPDX-License-Identifier: GPL-2.0-or-later
// Finds names: LIDs, queue pairs, P_Keys and transactions by the rows of the headers, GUIDs and addresses wherever
// their octets stand.
#include "conformance/metamorphic/names.hpp"

#include "conformance/metamorphic/checksums.hpp"
#include "protocol/wire/cm.hpp"
#include "protocol/wire/notice.hpp"
#include "protocol/wire/p_key_table_record.hpp"
#include "protocol/wire/smp.hpp"

#include <map>
#include <optional>

namespace ipoib::metamorphic {
using namespace wire;

namespace {

constexpr std::uint16_t first_multicast_lid = 0xc000, permissive_lid = 0xffff, p_key_bits = 0x7fff;
constexpr std::uint32_t last_qpn = 0xffffff;

/// What a row of a header names, by what the texts call it; nothing where it is no name.
std::optional<NameKind> kind_of(const FieldSpec& field) {
    constexpr unsigned word = 16, three_octets = 24, long_word = 64;
    const auto is = [&](std::string_view part) { return field.name.find(part) != std::string_view::npos; };
    if (field.at.bit % 8 != 0) return {};
    if (field.width == word && (field.name.ends_with("LID") || field.name.starts_with("LIDRange")))
        return NameKind::lid;
    if (field.width == three_octets && is("QP")) return NameKind::qpn;
    if (field.width == word && (field.name.ends_with("P_Key") || field.name == "PartitionKey")) return NameKind::p_key;
    if (field.width == long_word && field.name == "TransactionID") return NameKind::transaction;
    if (field.width == long_word && field.name.ends_with("GUID")) return NameKind::guid;
    return {};
}

/// Addresses with few octets that are not zero stand for themselves: they would be found everywhere.
bool is_peculiar(std::uint64_t value) {
    unsigned octets = 0;
    for (auto rest = value; rest; rest >>= 8) octets += (rest & 0xff) != 0;
    return octets >= 4 && value != ~std::uint64_t{0};
}
bool is_host(std::uint32_t address) {
    const auto first = address >> 24;
    return first != 0 && first != 127 && first < 224;
}

std::uint64_t read(const std::uint8_t* at, unsigned octets) { return read_bits(at, octet(0), 8 * octets); }

/// Calls `visit(spec, at)` for each header, and for each record of a table that lies in one frame.
template <class Visit>
void for_each_record(const Packet& packet, const Visit& visit) {
    packet.for_each_header(visit);
    if (!packet.mc_member || packet.mad[Mad::method] != Method::get_table_resp) return;
    constexpr std::size_t unit = 8;
    const auto step = packet.sa[SaHeader::attribute_offset] * unit;
    const auto* end = packet.octets.data() + packet.octets.size();
    if (step < McMemberRecord::size) return;
    for (const auto* at = packet.mc_member.data() + step; at + step <= end && read(at, 8) != 0; at += step)
        visit(spec_of<McMemberRecord>, at);
}

bool is_long_table(const Packet& packet) {
    return packet.sa && packet.mad[Mad::method] == Method::get_table_resp &&
           (packet.rmpp[Rmpp::segment_number] > 1 || (packet.rmpp[Rmpp::active] && !packet.rmpp[Rmpp::last]));
}

/// P_Keys of a table of the port, 32 of them, as the port or the SA tells it.
const std::uint8_t* p_key_table(const Packet& packet) {
    constexpr std::size_t smp_data = 64, entries = 2 * PKeyTableRecord::entries;
    if (!packet.mad) return nullptr;
    if (const auto record = packet.get<PKeyTableRecord>()) return record.data() + PKeyTableRecord::p_keys.at.bit / 8;
    const auto* at = packet.mad.data();
    const auto mgmt_class = packet.mad[Mad::mgmt_class];
    const bool is_smp = mgmt_class == MgmtClass::subn_lid_routed || mgmt_class == MgmtClass::subn_directed_route;
    const bool has_room = packet.offset_of(at) + smp_data + entries <= packet.octets.size();
    return is_smp && has_room && packet.mad[Mad::attribute_id] == smp_attribute::p_key_table ? at + smp_data : nullptr;
}

}  // namespace

void Names::collect_field(const FieldSpec& field, const std::uint8_t* header) {
    const auto* at = header + field.at.bit / 8;
    if (field.show == Show::gid || field.show == Show::ipv6) {
        constexpr unsigned half = 8;
        const auto lower = read(at + half, half);
        if (*at != 0xff && is_peculiar(lower)) {
            guids_.insert(lower);
            solicited_.insert(static_cast<std::uint32_t>(lower & last_qpn));
        }
        return;
    }
    if (field.show == Show::ipv4 && is_host(static_cast<std::uint32_t>(read(at, 4)))) {
        ipv4_.insert(static_cast<std::uint32_t>(read(at, 4)));
        return;
    }
    const auto kind = kind_of(field);
    if (!kind) return;
    const auto value = read(at, field.width / 8);
    if (kind == NameKind::lid && value > 0 && value < first_multicast_lid)
        lids_.insert(static_cast<std::uint16_t>(value));
    if (kind == NameKind::qpn && value > 1 && value < last_qpn) qpns_.insert(static_cast<std::uint32_t>(value));
    if (kind == NameKind::p_key && value > 0) p_keys_.insert(static_cast<std::uint16_t>(value & p_key_bits));
    if (kind == NameKind::guid && is_peculiar(value)) guids_.insert(value);
}

void Names::collect(const Packet& packet) {
    for_each_record(packet, [&](const HeaderSpec& header, const std::uint8_t* at) {
        for (const auto& field : header.fields) collect_field(field, at);
    });
    if (const auto* table = p_key_table(packet))
        for (std::size_t i = 0; i < PKeyTableRecord::entries; ++i)
            if (const auto value = read(table + 2 * i, 2) & p_key_bits)
                p_keys_.insert(static_cast<std::uint16_t>(value));
    if (is_long_table(packet)) can_rename_ = false;
}

void Names::find_sites(const Packet& packet, std::vector<NameSite>& sites) const {
    const auto add = [&](NameKind kind, const std::uint8_t* at) {
        sites.push_back({kind, static_cast<std::uint16_t>(packet.offset_of(at))});
    };
    for_each_record(packet, [&](const HeaderSpec& header, const std::uint8_t* at) {
        for (const auto& field : header.fields) {
            const auto* where = at + field.at.bit / 8;
            const auto kind = kind_of(field);
            if (kind == NameKind::lid)
                add(read(where, 2) < first_multicast_lid ? NameKind::lid : NameKind::mlid, where);
            else if (kind && kind != NameKind::guid)
                add(*kind, where);
            const bool is_ours = !name_of(IpoibServiceId::prefix_names, *where).empty();
            if (field.name == "ServiceID" && is_ours) add(NameKind::qpn, where + IpoibServiceId::qpn.at.bit / 8);
            if (field.name == "PrivateData") add(NameKind::qpn, where + CmPrivateData::ud_qpn.at.bit / 8);
        }
    });
    if (const auto* table = p_key_table(packet))
        for (std::size_t i = 0; i < PKeyTableRecord::entries; ++i) add(NameKind::p_key, table + 2 * i);
    find_patterns(packet.octets, sites);
}

void Names::find_patterns(Octets octets, std::vector<NameSite>& sites) const {
    constexpr std::size_t guid_size = 8, gid_size = 16, ipv4_size = 4;
    const auto add = [&](NameKind kind, std::size_t offset) {
        sites.push_back({kind, static_cast<std::uint16_t>(offset)});
    };
    for (std::size_t i = 0; i + ipv4_size <= octets.size(); ++i) {
        const auto* at = octets.data() + i;
        if (ipv4_.contains(static_cast<std::uint32_t>(read(at, ipv4_size)))) add(NameKind::ipv4, i);
        if (i + guid_size > octets.size()) continue;
        const auto value = read(at, guid_size);
        constexpr std::uint64_t solicited = 0x00000001ff;
        if (guids_.contains(value))
            add(NameKind::guid, i);
        else if (value >> 24 == solicited && solicited_.contains(static_cast<std::uint32_t>(value & last_qpn)))
            add(NameKind::solicited_node, i);
        const bool is_mgid = at[0] == 0xff && (at[2] == 0x40 || at[2] == 0x60) && at[3] == 0x1b;
        if (!is_mgid || i + gid_size > octets.size()) continue;
        add(NameKind::group, i);
        add(NameKind::p_key, i + 4);
    }
}

Names::Names(const std::vector<Frame>& frames) {
    Packet packet;
    for (const auto& frame : frames) {
        decode(frame.octets, packet, frame.medium, frame.wire_length);
        collect(packet);
    }
    sites_.resize(frames.size());
    for (std::size_t i = 0; i < frames.size(); ++i) {
        decode(frames[i].octets, packet, frames[i].medium, frames[i].wire_length);
        find_sites(packet, sites_[i]);
    }
}

std::vector<std::vector<std::uint64_t>> Names::shared(const std::vector<Frame>& frames) const {
    constexpr unsigned kind_bits = 8;
    std::vector<std::vector<std::uint64_t>> all(frames.size());
    for (std::size_t i = 0; i < frames.size(); ++i) {
        const auto& octets = frames[i].octets;
        auto& list = all[i];
        const auto add = [&](NameKind kind, std::uint64_t value) {
            list.push_back(value << kind_bits ^ static_cast<std::uint64_t>(kind));
        };
        if (frames[i].medium != Medium::infiniband) add(NameKind::lid, 0);  // a host's own capture: it has part in all
        for (const auto& [kind, offset] : sites_[i]) {
            const auto* at = octets.data() + offset;
            if (kind == NameKind::lid || kind == NameKind::mlid) {
                if (const auto lid = read(at, 2); lid != 0 && lid != permissive_lid) add(kind, lid);
            } else if (kind == NameKind::qpn) {
                if (const auto qpn = read(at, 3); qpn > 1 && qpn < last_qpn) add(kind, qpn);
            } else if (kind == NameKind::guid || kind == NameKind::transaction || kind == NameKind::solicited_node) {
                add(kind, read(at, 8));
            } else if (kind == NameKind::ipv4) {
                add(kind, read(at, 4));
            } else if (kind == NameKind::group) {
                add(kind, read(at, 8) * 31 + read(at + 8, 8));
            }
        }
        std::ranges::sort(list);
    }
    return all;
}

namespace {

/// 10/8, 172.16/12 and 192.168/16 stay what they are; so does the part that tells hosts of a network apart.
std::uint32_t other_network(std::uint32_t address, std::uint8_t bits) {
    const auto first = address >> 24;
    constexpr unsigned second_octet = 16, third_octet = 8;
    if ((first == 192 && (address >> second_octet & 0xff) == 168) || first == 169)
        return address ^ std::uint32_t{bits} << third_octet;
    if (first == 172) return address ^ (std::uint32_t{bits} & 0x0f) << second_octet;
    return address ^ std::uint32_t{bits} << second_octet;
}

class Writer {
public:
    Writer(MutableOctets octets, const Renaming& renaming, const std::set<std::uint32_t>& qpns)
        : octets_(octets), names_(renaming), qpns_(qpns) {}

    void operator()(const NameSite& site) const {
        const auto size = octets_of(site.kind);
        if (size == 0) return;
        auto* at = octets_.data() + site.offset;
        write_bits(at, octet(0), 8 * size, renamed(site.kind, read(at, size)));
    }

private:
    /// 0: it has no name of its own.
    static unsigned octets_of(NameKind kind) {
        switch (kind) {
            case NameKind::lid:
            case NameKind::mlid:
            case NameKind::p_key:
                return 2;
            case NameKind::qpn:
                return 3;
            case NameKind::ipv4:
                return 4;
            case NameKind::guid:
            case NameKind::solicited_node:
            case NameKind::transaction:
                return 8;
            case NameKind::group:
                break;
        }
        return 0;
    }
    [[nodiscard]] std::uint64_t renamed(NameKind kind, std::uint64_t old) const {
        constexpr std::uint64_t lower_half = 0xffffffff, last_three = last_qpn;
        switch (kind) {
            case NameKind::lid:
                return old == 0 || old == names_.lid_kept ? old : old + names_.lid;
            case NameKind::mlid:
                return old == permissive_lid ? old : other_group(old);
            case NameKind::qpn:
                return qpns_.contains(static_cast<std::uint32_t>(old)) ? old + names_.qpn : old;
            case NameKind::p_key:
                return is_kept_p_key(old & p_key_bits) ? old : old ^ names_.p_key;
            case NameKind::guid:
                return names_.guid_kept != 0 && old == names_.guid_kept ? old : old + names_.guid;
            case NameKind::solicited_node:
                if (names_.guid_kept != 0 && ((old ^ names_.guid_kept) & last_three) == 0) return old;
                return (old & ~last_three) | ((old + names_.guid) & last_three);
            case NameKind::ipv4:
                return other_network(static_cast<std::uint32_t>(old), names_.ipv4);
            case NameKind::transaction:
                return (old & ~lower_half) | ((old + names_.transaction) & lower_half);
            case NameKind::group:
                break;
        }
        return old;
    }
    [[nodiscard]] std::uint64_t other_group(std::uint64_t mlid) const {
        constexpr unsigned multicast_lids = 0x3ffe;
        return first_multicast_lid + (mlid - first_multicast_lid + names_.mlid) % multicast_lids;
    }
    [[nodiscard]] bool is_kept_p_key(std::uint64_t base) const {
        return base == 0 || (base == p_key_bits && !names_.renames_default_p_key);
    }

    MutableOctets octets_;
    const Renaming& names_;
    const std::set<std::uint32_t>& qpns_;
};

}  // namespace

Octets Names::rename(const Frame& frame, std::size_t index, const Renaming& renaming, Store& store) const {
    const auto octets = store.copy(frame.octets);
    const Writer write{octets, renaming, qpns_};
    for (const auto& site : sites_[index]) write(site);
    follow_up(frame, octets);
    return octets;
}

}  // namespace ipoib::metamorphic
