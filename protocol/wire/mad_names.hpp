// SPDX-License-Identifier: GPL-2.0-or-later
// Names that a MAD's attribute and status have in its class: their numbers overlap. IBTA Vol 1, 13.4.7 and 13.4.8.
#pragma once

#include "protocol/wire/cm.hpp"
#include "protocol/wire/sa.hpp"
#include "protocol/wire/smp.hpp"

namespace ipoib::wire {

/// Names of Mad::attribute_id in a class; none when the class is not known.
constexpr Names attribute_names(MgmtClass mgmt_class) noexcept {
    switch (mgmt_class) {
        case MgmtClass::subn_adm:
            return sa_attribute_names;
        case MgmtClass::subn_lid_routed:
        case MgmtClass::subn_directed_route:
            return smp_attribute_names;
        case MgmtClass::communication:
            return cm_attribute_names;
        default:
            return {};
    }
}

/// Names of Mad::status in a class: those of every class, and of the SA its own.
constexpr Names status_names(MgmtClass mgmt_class) noexcept {
    return mgmt_class == MgmtClass::subn_adm ? Names{sa_status_names} : Names{mad_status_names};
}

/// The names that a row's values have in the header at `at`: of a MAD's Status and AttributeID those of its class, of
/// any other row its own.
constexpr Names names_of(const HeaderSpec& header, const FieldSpec& row, const std::uint8_t* at) noexcept {
    if (&header != &spec_of<Mad>) return row.names;
    const auto mgmt_class = static_cast<MgmtClass>(read_bits(at, Mad::mgmt_class.at, Mad::mgmt_class.width));
    if (row.at.bit == Mad::status.at.bit) return status_names(mgmt_class);
    return row.at.bit == Mad::attribute_id.at.bit ? attribute_names(mgmt_class) : row.names;
}

}  // namespace ipoib::wire
