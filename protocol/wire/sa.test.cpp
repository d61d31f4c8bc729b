// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of the SA's header and codes. IBTA Vol 1, 15.2.
#include "protocol/wire/sa.hpp"

#include "protocol/wire/rmpp.hpp"
#include "protocol/wire/table_check.hpp"

using namespace ipoib::wire;
using namespace ipoib::wire::testing;

namespace {

std::string_view name_in(Names names, std::uint64_t value) {
    for (const auto& named : names)
        if (named.value == value) return named.name;
    return {};
}

/// Whether no value has two names.
bool are_unique(Names names) {
    for (std::size_t i = 0; i < names.size(); ++i)
        for (std::size_t j = 0; j < i; ++j)
            if (names[i].value == names[j].value || names[i].name == names[j].name) return false;
    return true;
}

}  // namespace

TEST_CASE("SA: the header of a real answer reads and writes back") {
    // Octets 36 to 55 of the GetResp(PathRecord) in the python-rdma manual, "Structure Pretty Printer".
    check_table<SaHeader>(hex("0000000000000000 00080000 0000000000000818"), row(SaHeader::sm_key, 0),
                          row(SaHeader::attribute_offset, 8), row(SaHeader::reserved, 0),
                          row(SaHeader::component_mask, 2072));
}

TEST_CASE("SA: every row of the header has a place of its own") {
    check_table<SaHeader>(hex("0102030405060708 090a0b0c 0d0e0f1011121314"), row(SaHeader::sm_key, 0x0102030405060708),
                          row(SaHeader::attribute_offset, 0x090a), row(SaHeader::reserved, 0x0b0c),
                          row(SaHeader::component_mask, 0x0d0e0f1011121314));
}

TEST_CASE("SA: MAD, RMPP and SA headers fill the octets before the data") {
    CHECK(Mad::size + Rmpp::size + SaHeader::size == SaHeader::data_offset);
    CHECK(SaHeader::data_offset + SaHeader::data_size == mad_size);
    CHECK(SaHeader::data_size == 200);
}

TEST_CASE("SA: attributes, statuses and codes have one name each") {
    CHECK(are_unique(sa_attribute_names));
    CHECK(are_unique(sa_status_names));
    CHECK(are_unique(rate_names));
    CHECK(are_unique(mtu_names));
    CHECK(are_unique(selector_names));
    CHECK(name_in(sa_attribute_names, 0x38) == "MCMemberRecord");
    CHECK(name_in(sa_attribute_names, 0x35) == "PathRecord");
    CHECK(name_in(sa_attribute_names, 0x11) == "NodeRecord");
    CHECK(name_in(sa_attribute_names, 0x12) == "PortInfoRecord");
    CHECK(name_in(sa_attribute_names, 0x18) == "SMInfoRecord");
    CHECK(name_in(sa_attribute_names, 0x20) == "LinkRecord");
    CHECK(name_in(sa_attribute_names, 0x31) == "ServiceRecord");
    CHECK(name_in(sa_attribute_names, 0xf3) == "InformInfoRecord");
    CHECK(name_in(sa_status_names, 0x000c) == "method and attribute not supported together");
    CHECK(name_in(sa_status_names, 0x0200) == "ERR_REQ_INVALID");
    CHECK(name_in(sa_status_names, 0x0600) == "ERR_REQ_INSUFFICIENT_COMPONENTS");
    CHECK(name_in(mtu_names, 4) == "2048");
    CHECK(name_in(rate_names, 7) == "40 Gb/s");
    CHECK(name_in(rate_names, 1).empty());
}
