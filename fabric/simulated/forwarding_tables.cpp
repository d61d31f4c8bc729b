// SPDX-License-Identifier: GPL-2.0-or-later
// The tables block by block. IBTA Vol 1, 14.2.5.10 and 14.2.5.12.
#include "fabric/simulated/forwarding_tables.hpp"

#include <algorithm>

namespace ipoib::fabric::simulated {

bool ForwardingTables::read_linear(std::uint32_t block, wire::MutableOctets data) const noexcept {
    if (block >= unicast_lids / LinearBlock::entries) return false;
    for (std::size_t i = 0; i < LinearBlock::entries; ++i)
        LinearBlock::write(data, i, port_of(static_cast<std::uint16_t>(block * LinearBlock::entries + i)));
    return true;
}

bool ForwardingTables::write_linear(std::uint32_t block, wire::Octets data) {
    if (block >= unicast_lids / LinearBlock::entries) return false;
    const std::size_t first = block * LinearBlock::entries;
    linear_.resize(std::max(linear_.size(), first + LinearBlock::entries), no_port);
    for (std::size_t i = 0; i < LinearBlock::entries; ++i) linear_[first + i] = LinearBlock::read(data, i);
    return true;
}

bool ForwardingTables::read_multicast(MulticastModifier where, wire::MutableOctets data) const noexcept {
    const std::size_t first = where.block * MulticastBlock::entries;
    if (first >= multicast_lids) return false;
    for (std::size_t i = 0; i < MulticastBlock::entries; ++i) {
        const bool is_written = first + i < groups_.size();
        MulticastBlock::write(data, i, is_written ? groups_[first + i].to.part(where.position) : std::uint16_t{0});
    }
    return true;
}

bool ForwardingTables::write_multicast(MulticastModifier where, wire::Octets data) {
    const std::size_t first = where.block * MulticastBlock::entries;
    if (first >= multicast_lids) return false;
    groups_.resize(std::max(groups_.size(), first + MulticastBlock::entries));
    for (std::size_t i = 0; i < MulticastBlock::entries; ++i)
        groups_[first + i].to.set_part(where.position, MulticastBlock::read(data, i));
    return true;
}

void ForwardingTables::set_senders(std::uint16_t mlid, const PortMask& senders) {
    const std::size_t entry = std::size_t{mlid} - first_multicast_lid;
    if (entry >= multicast_lids) return;
    if (entry >= groups_.size()) groups_.resize((entry / MulticastBlock::entries + 1) * MulticastBlock::entries);
    groups_[entry].senders = senders;
}

}  // namespace ipoib::fabric::simulated
