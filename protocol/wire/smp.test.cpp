// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of the subnet management packets. IBTA Vol 1, 14.2.1.
#include "protocol/wire/smp.hpp"

#include "protocol/wire/port_info.hpp"
#include "protocol/wire/table_check.hpp"

using namespace ipoib::wire;
using namespace ipoib::wire::testing;

namespace {

/// 256 octets: the parts, each at its offset, zero between them.
std::vector<std::uint8_t> mad_of(std::initializer_list<std::pair<std::size_t, std::string_view>> parts) {
    std::vector<std::uint8_t> mad(mad_size);
    for (const auto& [offset, text] : parts) {
        const auto part = hex(text);
        REQUIRE(offset + part.size() <= mad.size());
        std::copy(part.begin(), part.end(), mad.begin() + static_cast<std::ptrdiff_t>(offset));
    }
    return mad;
}

}  // namespace

TEST_CASE("SMP: a LID-routed packet reads and writes back") {
    // By hand from IBTA Vol 1, 14.2.1.1, figure "SMP Format - LID Routed"; Wireshark 4.0 shows the same values.
    const auto golden = mad_of({{0, "01010102 000c0000 0000000000001234 00150000 00000001 1122334455667788"},
                                {32, "a1"},
                                {63, "a2"},
                                {64, "b1"},
                                {127, "b2"},
                                {128, "c1"},
                                {255, "c2"}});
    OctetArray<32> reserved256{};
    reserved256.front() = 0xa1, reserved256.back() = 0xa2;
    OctetArray<64> data{};
    data.front() = 0xb1, data.back() = 0xb2;
    OctetArray<128> reserved1024{};
    reserved1024.front() = 0xc1, reserved1024.back() = 0xc2;
    check_table<LidSmp>(golden, row(LidSmp::base_version, 1), row(LidSmp::mgmt_class, MgmtClass::subn_lid_routed),
                        row(LidSmp::class_version, 1), row(LidSmp::method, Method::set),
                        row(LidSmp::status, mad_status::unsupported_method_attribute), row(LidSmp::class_specific, 0),
                        row(LidSmp::transaction_id, 0x1234), row(LidSmp::attribute_id, smp_attribute::port_info),
                        row(LidSmp::reserved16, 0), row(LidSmp::attribute_modifier, 1),
                        row(LidSmp::m_key, 0x1122334455667788), row(LidSmp::reserved256, reserved256),
                        row(LidSmp::data, data), row(LidSmp::reserved1024, reserved1024));
}

TEST_CASE("SMP: a directed-route packet reads and writes back") {
    // By hand from IBTA Vol 1, 14.2.1.2, figure "SMP Format - Directed Route"; Wireshark 4.0 shows the same values,
    // but for D, which it does not see.
    const auto golden = mad_of({{0, "01810181 801c0102 0000000000001234 00110000 00000003 1122334455667788"},
                                {32, "ffff0005"},
                                {36, "a1"},
                                {63, "a2"},
                                {64, "b1"},
                                {127, "b2"},
                                {128, "00010507"},
                                {192, "00020608"},
                                {255, "c2"}});
    OctetArray<28> reserved224{};
    reserved224.front() = 0xa1, reserved224.back() = 0xa2;
    OctetArray<64> data{}, return_path = octets<64>("00020608");
    data.front() = 0xb1, data.back() = 0xb2;
    return_path.back() = 0xc2;
    check_table<DirectedSmp>(
        golden, row(DirectedSmp::base_version, 1), row(DirectedSmp::mgmt_class, MgmtClass::subn_directed_route),
        row(DirectedSmp::class_version, 1), row(DirectedSmp::method, Method::get_resp),
        row(DirectedSmp::is_returning, true), row(DirectedSmp::status, mad_status::invalid_field),
        row(DirectedSmp::hop_pointer, 1), row(DirectedSmp::hop_count, 2), row(DirectedSmp::transaction_id, 0x1234),
        row(DirectedSmp::attribute_id, smp_attribute::node_info), row(DirectedSmp::reserved16, 0),
        row(DirectedSmp::attribute_modifier, 3), row(DirectedSmp::m_key, 0x1122334455667788),
        row(DirectedSmp::dr_slid, DirectedSmp::permissive_lid), row(DirectedSmp::dr_dlid, 5),
        row(DirectedSmp::reserved224, reserved224), row(DirectedSmp::data, data),
        row(DirectedSmp::initial_path, octets<64>("00010507")), row(DirectedSmp::return_path, return_path));
}

TEST_CASE("SMP: the attribute begins at octet 64 and is absent when it is cut") {
    const auto mad = mad_of({{64 + 16, "0005"}});
    REQUIRE(smp_data<PortInfo>(mad));
    CHECK(smp_data<PortInfo>(mad)[PortInfo::lid] == 5);
    for (std::size_t length = 0; length < 64 + PortInfo::size; ++length)
        CHECK_FALSE(smp_data<PortInfo>(Octets{mad}.first(length)));
    CHECK(smp_data<PortInfo>(Octets{mad}.first(64 + PortInfo::size)));
}
