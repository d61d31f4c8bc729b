// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of PortInfo and PortInfoRecord. IBTA Vol 1, 14.2.5.6 and 15.2.5.3.
#include "protocol/wire/port_info.hpp"

#include "protocol/wire/table_check.hpp"

using namespace ipoib::wire;
using namespace ipoib::wire::testing;
using P = PortInfo;

namespace {

// By hand from IBTA Vol 1, 14.2.5.6, table "PortInfo"; Wireshark 4.0 shows the same values up to LinkRoundTripLatency,
// the rest is laid out as in ib_types.h of OpenSM.
constexpr std::string_view port_info_golden =
    "1122334455667788 fe80000000000000 0005 0001 02510a68 0102 0078 01 03 07 02 74 52 43 47 43 41 04 08 09 25 f2 3a"
    "0001 0002 0003 20 92 10 89 0203 a1 000405 0006 27 07";

}  // namespace

TEST_CASE("PortInfo: golden octets read and write back") {
    check_table<P>(
        hex(port_info_golden), row(P::m_key, 0x1122334455667788), row(P::gid_prefix, 0xfe80000000000000),
        row(P::lid, 5), row(P::master_sm_lid, 1), row(P::capability_mask, 0x02510a68), row(P::diag_code, 0x0102),
        row(P::m_key_lease_period, 120), row(P::local_port_num, 1), row(P::link_width_enabled, 3),
        row(P::link_width_supported, 7), row(P::link_width_active, 2), row(P::link_speed_supported, 7),
        row(P::port_state, PortState::active), row(P::port_physical_state, 5), row(P::link_down_default_state, 2),
        row(P::m_key_protect_bits, 1), row(P::reserved3a, 0), row(P::lmc, 3), row(P::link_speed_active, 4),
        row(P::link_speed_enabled, 7), row(P::neighbor_mtu, 4), row(P::master_sm_sl, 3), row(P::vl_cap, 4),
        row(P::init_type, 1), row(P::vl_high_limit, 4), row(P::vl_arbitration_high_cap, 8),
        row(P::vl_arbitration_low_cap, 9), row(P::init_type_reply, 2), row(P::mtu_cap, 5), row(P::vl_stall_count, 7),
        row(P::hoq_life, 18), row(P::operational_vls, 3), row(P::partition_enforcement_in, true),
        row(P::partition_enforcement_out, false), row(P::filter_raw_in, true), row(P::filter_raw_out, false),
        row(P::m_key_violations, 1), row(P::p_key_violations, 2), row(P::q_key_violations, 3), row(P::guid_cap, 32),
        row(P::client_reregister, true), row(P::multicast_p_key_trap_suppression, false), row(P::reserved1, false),
        row(P::subnet_timeout, 18), row(P::reserved3b, 0), row(P::resp_time_value, 16), row(P::local_phy_errors, 8),
        row(P::overrun_errors, 9), row(P::max_credit_hint, 0x0203), row(P::link_speed_ext_active2, 5),
        row(P::link_speed_ext_supported2, 0), row(P::link_speed_ext_enabled2, 1),
        row(P::link_round_trip_latency, 0x405), row(P::capability_mask2, 6), row(P::link_speed_ext_active, 2),
        row(P::link_speed_ext_supported, 7), row(P::reserved3c, 0), row(P::link_speed_ext_enabled, 7));
    CHECK((View<P>::at(hex(port_info_golden))[P::capability_mask] & P::is_sm) == 0);
    CHECK((View<P>::at(hex(port_info_golden))[P::capability_mask] & P::is_client_reregistration_supported) != 0);
}

TEST_CASE("PortInfoRecord: golden octets read and write back") {
    auto octets_of_record = hex("1234 05 06");
    const auto info = hex(port_info_golden);
    octets_of_record.insert(octets_of_record.end(), info.begin(), info.end());
    check_table<PortInfoRecord>(octets_of_record, row(PortInfoRecord::endport_lid, 0x1234),
                                row(PortInfoRecord::port_num, 5), row(PortInfoRecord::reserved, 6),
                                row(PortInfoRecord::port_info, octets<64>(port_info_golden)));

    const auto inside = port_info(View<PortInfoRecord>::at(octets_of_record));
    REQUIRE(inside);
    CHECK(inside[P::lid] == 5);
    CHECK_FALSE(port_info(View<PortInfoRecord>{}));
}
