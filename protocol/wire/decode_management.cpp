// SPDX-License-Identifier: GPL-2.0-or-later
// Subnet management, subnet administration and communication management. IBTA Vol 1, 13 to 15 and 12.
#include "protocol/wire/decode_management.hpp"

#include "protocol/wire/registry.hpp"
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
    /// Notes the attribute in what is left, where it is known.
    void attribute_data() const noexcept {
        const auto* header = attribute_header(p.mad[Mad::mgmt_class], p.mad[Mad::attribute_id]);
        if (!header) return;
        if (rest.size() >= header->size)
            p.also(*header, rest.data());
        else if (!p.stop)
            p.stop = {header->name, p.offset_of(rest.data()), header->size, rest.size()};
    }

    void subnet_administration() noexcept;
};

void Mads::subnet_administration() noexcept {
    if (!take(p.rmpp) || !take(p.sa)) return;
    mark(Part::sa);
    const auto method = p.mad[Mad::method];
    const bool is_later_segment = method == Method::get_table_resp && p.rmpp[Rmpp::segment_number] > 1;
    if (is_later_segment) return;
    if (p.mad[Mad::attribute_id] != attribute::mc_member_record) return attribute_data();
    if (take(p.mc_member)) mark(Part::mc_member);
}

}  // namespace

void decode_management(Packet& packet, Octets mad) noexcept {
    Mads mads{packet, mad};
    if (!mads.take(packet.mad)) return;
    mads.mark(Part::mad);
    switch (packet.mad[Mad::mgmt_class]) {
        case MgmtClass::subn_adm:
            return mads.subnet_administration();
        case MgmtClass::subn_lid_routed:
        case MgmtClass::subn_directed_route: {
            constexpr std::size_t data = LidSmp::data.at.bit / 8;
            if (mad.size() < data) return;
            mads.rest = mad.subspan(data);
            return mads.attribute_data();
        }
        default:
            return mads.attribute_data();
    }
}

}  // namespace ipoib::wire::detail
