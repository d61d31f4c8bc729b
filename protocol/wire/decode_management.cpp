// SPDX-License-Identifier: GPL-2.0-or-later
// Subnet management, subnet administration and communication management. IBTA Vol 1, 13 to 15 and 12.
#include "protocol/wire/decode_management.hpp"

#include "protocol/wire/class_port_info.hpp"
#include "protocol/wire/cm.hpp"
#include "protocol/wire/inform_info.hpp"
#include "protocol/wire/node_record.hpp"
#include "protocol/wire/notice.hpp"
#include "protocol/wire/path_record.hpp"
#include "protocol/wire/port_info.hpp"
#include "protocol/wire/service_record.hpp"
#include "protocol/wire/smp.hpp"

namespace ipoib::wire::detail {
namespace {

/// What is left of the MAD, and the packet that the headers found go to.
struct Mads {
    Packet& p;
    Octets rest;

    void mark(Part part) const noexcept { p.found |= parts(part); }
    template <class Header>
    bool take(View<Header>& view) noexcept {
        view = View<Header>::at(rest);
        if (!view) {
            if (!p.stop) p.stop = {Header::name, p.offset_of(rest.data()), Header::size, rest.size()};
            return false;
        }
        rest = rest.subspan(Header::size);
        return true;
    }
    template <class Header>
    bool also() noexcept {
        View<Header> view;
        if (!take(view)) return false;
        p.also(spec_of<Header>, view.data());
        return true;
    }

    void subnet_administration() noexcept;
    void communication() noexcept;
    void directed_route() noexcept;
    void subnet_management(std::uint16_t attribute_id, Octets data) noexcept;
};

void Mads::subnet_administration() noexcept {
    if (!take(p.rmpp) || !take(p.sa)) return;
    mark(Part::sa);
    const auto method = p.mad[Mad::method];
    const bool is_later_segment = method == Method::get_table_resp && p.rmpp[Rmpp::segment_number] > 1;
    if (is_later_segment) return;
    switch (p.mad[Mad::attribute_id]) {
        case attribute::mc_member_record:
            if (take(p.mc_member)) mark(Part::mc_member);
            break;
        case attribute::path_record:
            also<PathRecord>();
            break;
        case attribute::inform_info:
            also<InformInfo>();
            break;
        case attribute::notice:
            also<Notice>();
            break;
        case attribute::class_port_info:
            also<ClassPortInfo>();
            break;
        case attribute::node_record:
            also<NodeRecord>();
            break;
        case attribute::port_info_record:
            also<PortInfoRecord>();
            break;
        case attribute::service_record:
            also<ServiceRecord>();
            break;
        default:
            break;
    }
}

void Mads::communication() noexcept {
    switch (p.mad[Mad::attribute_id]) {
        case cm_attribute::req:
            also<CmReq>();
            break;
        case cm_attribute::mra:
            also<CmMra>();
            break;
        case cm_attribute::rej:
            also<CmRej>();
            break;
        case cm_attribute::rep:
            also<CmRep>();
            break;
        case cm_attribute::rtu:
            also<CmRtu>();
            break;
        case cm_attribute::dreq:
            also<CmDreq>();
            break;
        case cm_attribute::drep:
            also<CmDrep>();
            break;
        default:
            break;
    }
}

void Mads::subnet_management(std::uint16_t attribute_id, Octets data) noexcept {
    rest = data;
    if (attribute_id == smp_attribute::node_info) also<NodeInfo>();
    if (attribute_id == smp_attribute::port_info) also<PortInfo>();
    if (attribute_id == smp_attribute::notice) also<Notice>();
}

}  // namespace

void decode_management(Packet& packet, Octets mad) noexcept {
    Mads mads{packet, mad};
    if (!mads.take(packet.mad)) return;
    mads.mark(Part::mad);
    const auto attribute_id = packet.mad[Mad::attribute_id];
    constexpr std::size_t smp_data = 64;
    switch (packet.mad[Mad::mgmt_class]) {
        case MgmtClass::subn_adm:
            mads.subnet_administration();
            break;
        case MgmtClass::communication:
            mads.communication();
            break;
        case MgmtClass::subn_lid_routed:
        case MgmtClass::subn_directed_route:
            if (mad.size() >= smp_data) mads.subnet_management(attribute_id, mad.subspan(smp_data));
            break;
        default:
            break;
    }
}

}  // namespace ipoib::wire::detail
