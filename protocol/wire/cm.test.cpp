// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of the communication management messages and of RFC 4755's use of them.
#include "protocol/wire/cm.hpp"

#include "protocol/wire/table_check.hpp"

using namespace ipoib::wire;
using namespace ipoib::wire::testing;

namespace {

/// A message of 232 octets that begins as given; zero behind.
std::vector<std::uint8_t> message(std::string_view text) {
    auto octets = hex(text);
    REQUIRE(octets.size() <= cm_size);
    octets.resize(cm_size);
    return octets;
}

// By hand from IBTA Vol 1, 12.6.5, table "REQ Message Contents", with the private data and the service ID of RFC 4755.
// Wireshark 4.0 shows the same values, but for flow labels and rates: those are laid out as in Linux' ibta_vol1_c12.h.
constexpr std::string_view req_golden =
    "11223344 a1a2a3a4 0100000000000048 0002c90300001490 b1b2b3b4 80010000 00004a 04 000005 03 000006 a3 123456 9f"
    "8001 47 f9 0005 0009 fe800000000000000002c90300001491 fe800000000000000002c90300002491 abcde003 5a 3f 38 90"
    "0006 000a fe800000000000000002c90300001492 fe800000000000000002c90300002492 12345007 6b 40 40 8c"
    "00 000048 00010010";

}  // namespace

TEST_CASE("CM: a REQ reads and writes back") {
    using R = CmReq;
    check_table<R>(
        message(req_golden), row(R::local_comm_id, 0x11223344), row(R::reserved32a, 0xa1a2a3a4),
        row(R::service_id, 0x0100000000000048), row(R::local_ca_guid, 0x0002c90300001490),
        row(R::reserved32b, 0xb1b2b3b4), row(R::local_q_key, 0x80010000), row(R::local_qpn, 0x4a),
        row(R::responder_resources, 4), row(R::local_eecn, 5), row(R::initiator_depth, 3), row(R::remote_eecn, 6),
        row(R::remote_cm_response_timeout, 20), row(R::transport_service_type, 1), row(R::flow_control, true),
        row(R::starting_psn, 0x123456), row(R::local_cm_response_timeout, 19), row(R::retry_count, 7),
        row(R::p_key, 0x8001), row(R::path_mtu, 4), row(R::rdc_exists, false), row(R::rnr_retry_count, 7),
        row(R::max_cm_retries, 15), row(R::srq, true), row(R::extended_transport, 1), row(R::primary_local_lid, 5),
        row(R::primary_remote_lid, 9), row(R::primary_local_gid, gid("fe800000000000000002c90300001491")),
        row(R::primary_remote_gid, gid("fe800000000000000002c90300002491")), row(R::primary_flow_label, 0xabcde),
        row(R::reserved6a, 0), row(R::primary_rate, 3), row(R::primary_traffic_class, 0x5a),
        row(R::primary_hop_limit, 63), row(R::primary_sl, 3), row(R::primary_subnet_local, true), row(R::reserved3a, 0),
        row(R::primary_ack_timeout, 18), row(R::reserved3b, 0), row(R::alternate_local_lid, 6),
        row(R::alternate_remote_lid, 10), row(R::alternate_local_gid, gid("fe800000000000000002c90300001492")),
        row(R::alternate_remote_gid, gid("fe800000000000000002c90300002492")), row(R::alternate_flow_label, 0x12345),
        row(R::reserved6b, 0), row(R::alternate_rate, 7), row(R::alternate_traffic_class, 0x6b),
        row(R::alternate_hop_limit, 64), row(R::alternate_sl, 4), row(R::alternate_subnet_local, false),
        row(R::reserved3c, 0), row(R::alternate_ack_timeout, 17), row(R::sap_supported, true), row(R::reserved2, 0),
        row(R::private_data, octets<92>("0000004800010010")));
}

TEST_CASE("CM: an MRA reads and writes back") {
    // By hand from IBTA Vol 1, 12.6.6, table "MRA Message Contents", and Linux' ibta_vol1_c12.h.
    using R = CmMra;
    check_table<R>(message("11223344 55667788 40 90 0102"), row(R::local_comm_id, 0x11223344),
                   row(R::remote_comm_id, 0x55667788), row(R::message, 1), row(R::reserved6, 0),
                   row(R::service_timeout, 18), row(R::reserved3, 0), row(R::private_data, octets<222>("0102")));
}

TEST_CASE("CM: a REJ reads and writes back") {
    // By hand from IBTA Vol 1, 12.6.7, table "REJ Message Contents"; Wireshark 4.0 shows the same values.
    using R = CmRej;
    auto golden = message("11223344 55667788 40 04 0008 0102");
    golden[84] = 0xb1, golden[231] = 0xb2;
    OctetArray<148> private_octets{};
    private_octets.front() = 0xb1, private_octets.back() = 0xb2;
    check_table<R>(golden, row(R::local_comm_id, 0x11223344), row(R::remote_comm_id, 0x55667788), row(R::message, 1),
                   row(R::reserved6, 0), row(R::reject_info_length, 2), row(R::reserved1, false), row(R::reason, 8),
                   row(R::ari, octets<72>("0102")), row(R::private_data, private_octets));
}

TEST_CASE("CM: a REP reads and writes back") {
    // By hand from IBTA Vol 1, 12.6.8, table "REP Message Contents"; Wireshark 4.0 shows the same values.
    using R = CmRep;
    check_table<R>(message("11223344 55667788 80010000 00004b a1 000005 a2 123456 a3 04 03 95 f0 0002c90300002490"
                           "00 000049 0000fff0"),
                   row(R::local_comm_id, 0x11223344), row(R::remote_comm_id, 0x55667788),
                   row(R::local_q_key, 0x80010000), row(R::local_qpn, 0x4b), row(R::reserved8a, 0xa1),
                   row(R::local_eecn, 5), row(R::reserved8b, 0xa2), row(R::starting_psn, 0x123456),
                   row(R::reserved8c, 0xa3), row(R::responder_resources, 4), row(R::initiator_depth, 3),
                   row(R::target_ack_delay, 18), row(R::failover_accepted, 2), row(R::flow_control, true),
                   row(R::rnr_retry_count, 7), row(R::srq, true), row(R::reserved4, 0),
                   row(R::local_ca_guid, 0x0002c90300002490), row(R::private_data, octets<196>("000000490000fff0")));
}

TEST_CASE("CM: RTU, DREQ and DREP read and write back") {
    // By hand from IBTA Vol 1, 12.6.9 to 12.6.11; Wireshark 4.0 shows the same values.
    check_table<CmRtu>(message("11223344 55667788 0102"), row(CmRtu::local_comm_id, 0x11223344),
                       row(CmRtu::remote_comm_id, 0x55667788), row(CmRtu::private_data, octets<224>("0102")));
    check_table<CmDreq>(message("11223344 55667788 00004b a1 0102"), row(CmDreq::local_comm_id, 0x11223344),
                        row(CmDreq::remote_comm_id, 0x55667788), row(CmDreq::remote_qpn, 0x4b),
                        row(CmDreq::reserved8, 0xa1), row(CmDreq::private_data, octets<220>("0102")));
    check_table<CmDrep>(message("11223344 55667788 0102"), row(CmDrep::local_comm_id, 0x11223344),
                        row(CmDrep::remote_comm_id, 0x55667788), row(CmDrep::private_data, octets<224>("0102")));
}

TEST_CASE("CM: the private data of RFC 4755, 6 reads and writes back") {
    check_table<CmPrivateData>(hex("a1 123456 00010010"), row(CmPrivateData::reserved, 0xa1),
                               row(CmPrivateData::ud_qpn, 0x123456), row(CmPrivateData::receive_mtu, 65552));
}

TEST_CASE("CM: a message's private data is what follows its other fields") {
    const auto req = message(req_golden);
    CHECK(private_data(View<CmReq>::at(req)).size() == 92);
    const auto mine = ipoib_private_data(View<CmReq>::at(req));
    REQUIRE(mine);
    CHECK(mine[CmPrivateData::ud_qpn] == 0x48);
    CHECK(mine[CmPrivateData::receive_mtu] == 65552);
    CHECK(private_data(View<CmRep>::at(req)).size() == 196);
    CHECK(private_data(View<CmRej>::at(req)).size() == 148);
    CHECK(private_data(View<CmRtu>::at(req)).size() == 224);
    CHECK(private_data(View<CmReq>{}).empty());
    CHECK_FALSE(ipoib_private_data(View<CmReq>{}));
}

TEST_CASE("CM: the service ID of RFC 4755, 3.5 reads and writes back") {
    using S = IpoibServiceId;
    check_table<S>(hex("01 a1 b1b2b3 123456"), row(S::prefix, S::ietf), row(S::type, 0xa1), row(S::reserved, 0xb1b2b3),
                   row(S::qpn, 0x123456));
    const auto req = message(req_golden);
    const auto id = ipoib_service_id(View<CmReq>::at(req));
    REQUIRE(id);
    CHECK(id[S::prefix] == S::ietf);
    CHECK(id[S::type] == 0);
    CHECK(id[S::qpn] == 0x48);
    CHECK_FALSE(ipoib_service_id(View<CmReq>{}));
}
