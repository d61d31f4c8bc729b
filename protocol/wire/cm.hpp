// SPDX-License-Identifier: GPL-2.0-or-later
// Communication management messages and what IPoIB puts into them. IBTA Vol 1, 12.6; RFC 4755, 3.5 and 6.
#pragma once

#include "protocol/wire/sa.hpp"

namespace ipoib::wire {

/// Attributes of communication management: the messages. IBTA Vol 1, 12.6.3, 16.7.3.
namespace cm_attribute {
inline constexpr std::uint16_t req = 0x0010, mra = 0x0011, rej = 0x0012, rep = 0x0013, rtu = 0x0014, dreq = 0x0015,
                               drep = 0x0016, sidr_req = 0x0017, sidr_rep = 0x0018, lap = 0x0019, apr = 0x001a;
}  // namespace cm_attribute
inline constexpr std::array<Named, 12> cm_attribute_names{{{attribute::class_port_info, "ClassPortInfo"},
                                                           {cm_attribute::req, "REQ"},
                                                           {cm_attribute::mra, "MRA"},
                                                           {cm_attribute::rej, "REJ"},
                                                           {cm_attribute::rep, "REP"},
                                                           {cm_attribute::rtu, "RTU"},
                                                           {cm_attribute::dreq, "DREQ"},
                                                           {cm_attribute::drep, "DREP"},
                                                           {cm_attribute::sidr_req, "SIDR_REQ"},
                                                           {cm_attribute::sidr_rep, "SIDR_REP"},
                                                           {cm_attribute::lap, "LAP"},
                                                           {cm_attribute::apr, "APR"}}};

/// Octets of a message after the MAD header.
inline constexpr std::size_t cm_size = mad_size - Mad::size;

/// REQ:TransportServiceType. IBTA Vol 1, 12.7.6.
inline constexpr std::array<Named, 4> transport_service_names{
    {{0, "reliable connection"}, {1, "unreliable connection"}, {2, "reliable datagram"}, {3, "extended"}}};
/// REJ:MessageREJected and MRA:MessageMRAed. IBTA Vol 1, 12.7.12.
inline constexpr std::array<Named, 3> rejected_message_names{{{0, "REQ"}, {1, "REP"}, {2, "another"}}};

/// REJ:Reason. IBTA Vol 1, 12.6.7.2.
inline constexpr std::array<Named, 33> rej_reason_names{{{1, "no QP available"},
                                                         {2, "no EEC available"},
                                                         {3, "no resources available"},
                                                         {4, "timeout"},
                                                         {5, "unsupported request"},
                                                         {6, "invalid communication ID"},
                                                         {7, "invalid communication instance"},
                                                         {8, "invalid service ID"},
                                                         {9, "invalid transport service type"},
                                                         {10, "stale connection"},
                                                         {11, "RDC does not exist"},
                                                         {12, "primary remote port GID rejected"},
                                                         {13, "primary remote port LID rejected"},
                                                         {14, "invalid primary SL"},
                                                         {15, "invalid primary traffic class"},
                                                         {16, "invalid primary hop limit"},
                                                         {17, "invalid primary packet rate"},
                                                         {18, "alternate remote port GID rejected"},
                                                         {19, "alternate remote port LID rejected"},
                                                         {20, "invalid alternate SL"},
                                                         {21, "invalid alternate traffic class"},
                                                         {22, "invalid alternate hop limit"},
                                                         {23, "invalid alternate packet rate"},
                                                         {24, "port and CM redirection"},
                                                         {25, "port redirection"},
                                                         {26, "invalid path MTU"},
                                                         {27, "insufficient responder resources"},
                                                         {28, "consumer reject"},
                                                         {29, "RNR retry count reject"},
                                                         {30, "duplicate local communication ID"},
                                                         {31, "invalid class version"},
                                                         {32, "invalid primary flow label"},
                                                         {33, "invalid alternate flow label"}}};

/// Request for a connection. IBTA Vol 1, 12.6.5.
struct CmReq {
    static constexpr std::string_view key = "cm_req", name = "REQ", title = "CM: connection request";
    static constexpr std::size_t size = cm_size;
    template <class T>
    using F = Field<CmReq, T>;

    static constexpr F<std::uint32_t> local_comm_id{"LocalCommunicationID", octet(0), 32, Show::hex, ""};
    static constexpr F<std::uint32_t> reserved32a{"Reserved32a", octet(4), 32, Show::reserved, ""};
    static constexpr F<std::uint64_t> service_id{"ServiceID", octet(8), 64, Show::hex, "RFC 4755, 3.5"};
    static constexpr F<std::uint64_t> local_ca_guid{"LocalCAGUID", octet(16), 64, Show::hex, ""};
    static constexpr F<std::uint32_t> reserved32b{"Reserved32b", octet(24), 32, Show::reserved, ""};
    static constexpr F<std::uint32_t> local_q_key{"LocalQ_Key", octet(28), 32, Show::hex, "Reliable datagram only"};
    static constexpr F<std::uint32_t> local_qpn{"LocalQPN", octet(32), 24, Show::hex, "QP of the connection"};
    static constexpr F<std::uint8_t> responder_resources{"ResponderResources", octet(35), 8, Show::dec, ""};
    static constexpr F<std::uint32_t> local_eecn{"LocalEECN", octet(36), 24, Show::hex, ""};
    static constexpr F<std::uint8_t> initiator_depth{"InitiatorDepth", octet(39), 8, Show::dec, ""};
    static constexpr F<std::uint32_t> remote_eecn{"RemoteEECN", octet(40), 24, Show::hex, ""};
    static constexpr F<std::uint8_t> remote_cm_response_timeout{"RemoteCMResponseTimeout", octet(43), 5, Show::dec,
                                                                "4.096 us * 2^value"};
    static constexpr F<std::uint8_t> transport_service_type{"TransportServiceType", octet(43, 5), 2, Show::dec, "",
                                                            transport_service_names};
    static constexpr F<bool> flow_control{"EndToEndFlowControl", octet(43, 7), 1, Show::flag, ""};
    static constexpr F<std::uint32_t> starting_psn{"StartingPSN", octet(44), 24, Show::dec,
                                                   "PSN that the peer begins with"};
    static constexpr F<std::uint8_t> local_cm_response_timeout{"LocalCMResponseTimeout", octet(47), 5, Show::dec,
                                                               "4.096 us * 2^value"};
    static constexpr F<std::uint8_t> retry_count{"RetryCount", octet(47, 5), 3, Show::dec, ""};
    static constexpr F<std::uint16_t> p_key{"PartitionKey", octet(48), 16, Show::hex, ""};
    static constexpr F<std::uint8_t> path_mtu{"PathPacketPayloadMTU", octet(50), 4, Show::dec, "", mtu_names};
    static constexpr F<bool> rdc_exists{"RDCExists", octet(50, 4), 1, Show::flag, ""};
    static constexpr F<std::uint8_t> rnr_retry_count{"RNRRetryCount", octet(50, 5), 3, Show::dec, ""};
    static constexpr F<std::uint8_t> max_cm_retries{"MaxCMRetries", octet(51), 4, Show::dec, ""};
    static constexpr F<bool> srq{"SRQ", octet(51, 4), 1, Show::flag, "Shared receive queue"};
    static constexpr F<std::uint8_t> extended_transport{"ExtendedTransportType", octet(51, 5), 3, Show::dec, ""};
    static constexpr F<std::uint16_t> primary_local_lid{"PrimaryLocalPortLID", octet(52), 16, Show::hex, ""};
    static constexpr F<std::uint16_t> primary_remote_lid{"PrimaryRemotePortLID", octet(54), 16, Show::hex, ""};
    static constexpr F<Gid> primary_local_gid{"PrimaryLocalPortGID", octet(56), 128, Show::gid, ""};
    static constexpr F<Gid> primary_remote_gid{"PrimaryRemotePortGID", octet(72), 128, Show::gid, ""};
    static constexpr F<std::uint32_t> primary_flow_label{"PrimaryFlowLabel", octet(88), 20, Show::hex, ""};
    static constexpr F<std::uint8_t> reserved6a{"Reserved6a", octet(90, 4), 6, Show::reserved, ""};
    static constexpr F<std::uint8_t> primary_rate{"PrimaryPacketRate", octet(91, 2), 6, Show::dec, "", rate_names};
    static constexpr F<std::uint8_t> primary_traffic_class{"PrimaryTrafficClass", octet(92), 8, Show::hex, ""};
    static constexpr F<std::uint8_t> primary_hop_limit{"PrimaryHopLimit", octet(93), 8, Show::dec, ""};
    static constexpr F<std::uint8_t> primary_sl{"PrimarySL", octet(94), 4, Show::dec, ""};
    static constexpr F<bool> primary_subnet_local{"PrimarySubnetLocal", octet(94, 4), 1, Show::flag, ""};
    static constexpr F<std::uint8_t> reserved3a{"Reserved3a", octet(94, 5), 3, Show::reserved, ""};
    static constexpr F<std::uint8_t> primary_ack_timeout{"PrimaryLocalACKTimeout", octet(95), 5, Show::dec, ""};
    static constexpr F<std::uint8_t> reserved3b{"Reserved3b", octet(95, 5), 3, Show::reserved, ""};
    static constexpr F<std::uint16_t> alternate_local_lid{"AlternateLocalPortLID", octet(96), 16, Show::hex, ""};
    static constexpr F<std::uint16_t> alternate_remote_lid{"AlternateRemotePortLID", octet(98), 16, Show::hex, ""};
    static constexpr F<Gid> alternate_local_gid{"AlternateLocalPortGID", octet(100), 128, Show::gid, ""};
    static constexpr F<Gid> alternate_remote_gid{"AlternateRemotePortGID", octet(116), 128, Show::gid, ""};
    static constexpr F<std::uint32_t> alternate_flow_label{"AlternateFlowLabel", octet(132), 20, Show::hex, ""};
    static constexpr F<std::uint8_t> reserved6b{"Reserved6b", octet(134, 4), 6, Show::reserved, ""};
    static constexpr F<std::uint8_t> alternate_rate{"AlternatePacketRate", octet(135, 2), 6, Show::dec, "", rate_names};
    static constexpr F<std::uint8_t> alternate_traffic_class{"AlternateTrafficClass", octet(136), 8, Show::hex, ""};
    static constexpr F<std::uint8_t> alternate_hop_limit{"AlternateHopLimit", octet(137), 8, Show::dec, ""};
    static constexpr F<std::uint8_t> alternate_sl{"AlternateSL", octet(138), 4, Show::dec, ""};
    static constexpr F<bool> alternate_subnet_local{"AlternateSubnetLocal", octet(138, 4), 1, Show::flag, ""};
    static constexpr F<std::uint8_t> reserved3c{"Reserved3c", octet(138, 5), 3, Show::reserved, ""};
    static constexpr F<std::uint8_t> alternate_ack_timeout{"AlternateLocalACKTimeout", octet(139), 5, Show::dec, ""};
    static constexpr F<bool> sap_supported{"SAPSupported", octet(139, 5), 1, Show::flag, "Suggested alternate path"};
    static constexpr F<std::uint8_t> reserved2{"Reserved2", octet(139, 6), 2, Show::reserved, ""};
    static constexpr F<OctetArray<92>> private_data{"PrivateData", octet(140), 736, Show::octets, "RFC 4755, 6"};
    static constexpr auto fields = table(
        local_comm_id, reserved32a, service_id, local_ca_guid, reserved32b, local_q_key, local_qpn, responder_resources,
        local_eecn, initiator_depth, remote_eecn, remote_cm_response_timeout, transport_service_type, flow_control,
        starting_psn, local_cm_response_timeout, retry_count, p_key, path_mtu, rdc_exists, rnr_retry_count,
        max_cm_retries, srq, extended_transport, primary_local_lid, primary_remote_lid, primary_local_gid,
        primary_remote_gid, primary_flow_label, reserved6a, primary_rate, primary_traffic_class, primary_hop_limit,
        primary_sl, primary_subnet_local, reserved3a, primary_ack_timeout, reserved3b, alternate_local_lid,
        alternate_remote_lid, alternate_local_gid, alternate_remote_gid, alternate_flow_label, reserved6b,
        alternate_rate, alternate_traffic_class, alternate_hop_limit, alternate_sl, alternate_subnet_local, reserved3c,
        alternate_ack_timeout, sap_supported, reserved2, private_data);
};
static_assert(tiles(CmReq::fields, CmReq::size));

/// Message receipt acknowledgement. IBTA Vol 1, 12.6.6.
struct CmMra {
    static constexpr std::string_view key = "cm_mra", name = "MRA", title = "CM: message receipt acknowledgement";
    static constexpr std::size_t size = cm_size;
    template <class T>
    using F = Field<CmMra, T>;

    static constexpr F<std::uint32_t> local_comm_id{"LocalCommunicationID", octet(0), 32, Show::hex, ""};
    static constexpr F<std::uint32_t> remote_comm_id{"RemoteCommunicationID", octet(4), 32, Show::hex, ""};
    static constexpr F<std::uint8_t> message{"MessageMRAed", octet(8), 2, Show::dec, "", rejected_message_names};
    static constexpr F<std::uint8_t> reserved6{"Reserved6", octet(8, 2), 6, Show::reserved, ""};
    static constexpr F<std::uint8_t> service_timeout{"ServiceTimeout", octet(9), 5, Show::dec, "4.096 us * 2^value"};
    static constexpr F<std::uint8_t> reserved3{"Reserved3", octet(9, 5), 3, Show::reserved, ""};
    static constexpr F<OctetArray<222>> private_data{"PrivateData", octet(10), 1776, Show::octets, ""};
    static constexpr auto fields =
        table(local_comm_id, remote_comm_id, message, reserved6, service_timeout, reserved3, private_data);
};
static_assert(tiles(CmMra::fields, CmMra::size));

/// Rejection. IBTA Vol 1, 12.6.7.
struct CmRej {
    static constexpr std::string_view key = "cm_rej", name = "REJ", title = "CM: rejection";
    static constexpr std::size_t size = cm_size;
    template <class T>
    using F = Field<CmRej, T>;

    static constexpr F<std::uint32_t> local_comm_id{"LocalCommunicationID", octet(0), 32, Show::hex, ""};
    static constexpr F<std::uint32_t> remote_comm_id{"RemoteCommunicationID", octet(4), 32, Show::hex, ""};
    static constexpr F<std::uint8_t> message{"MessageREJected", octet(8), 2, Show::dec, "", rejected_message_names};
    static constexpr F<std::uint8_t> reserved6{"Reserved6", octet(8, 2), 6, Show::reserved, ""};
    static constexpr F<std::uint8_t> reject_info_length{"RejectInfoLength", octet(9), 7, Show::dec, "Octets of ARI"};
    static constexpr F<bool> reserved1{"Reserved1", octet(9, 7), 1, Show::reserved, ""};
    static constexpr F<std::uint16_t> reason{"Reason", octet(10), 16, Show::dec, "", rej_reason_names};
    static constexpr F<OctetArray<72>> ari{"AdditionalRejectInformation", octet(12), 576, Show::octets, "By reason"};
    static constexpr F<OctetArray<148>> private_data{"PrivateData", octet(84), 1184, Show::octets, ""};
    static constexpr auto fields = table(local_comm_id, remote_comm_id, message, reserved6, reject_info_length,
                                         reserved1, reason, ari, private_data);
};
static_assert(tiles(CmRej::fields, CmRej::size));

/// Reply to a request for a connection. IBTA Vol 1, 12.6.8.
struct CmRep {
    static constexpr std::string_view key = "cm_rep", name = "REP", title = "CM: connection reply";
    static constexpr std::size_t size = cm_size;
    template <class T>
    using F = Field<CmRep, T>;

    static constexpr F<std::uint32_t> local_comm_id{"LocalCommunicationID", octet(0), 32, Show::hex, ""};
    static constexpr F<std::uint32_t> remote_comm_id{"RemoteCommunicationID", octet(4), 32, Show::hex, ""};
    static constexpr F<std::uint32_t> local_q_key{"LocalQ_Key", octet(8), 32, Show::hex, "Reliable datagram only"};
    static constexpr F<std::uint32_t> local_qpn{"LocalQPN", octet(12), 24, Show::hex, "QP of the connection"};
    static constexpr F<std::uint8_t> reserved8a{"Reserved8a", octet(15), 8, Show::reserved, ""};
    static constexpr F<std::uint32_t> local_eecn{"LocalEEContextNumber", octet(16), 24, Show::hex, ""};
    static constexpr F<std::uint8_t> reserved8b{"Reserved8b", octet(19), 8, Show::reserved, ""};
    static constexpr F<std::uint32_t> starting_psn{"StartingPSN", octet(20), 24, Show::dec,
                                                   "PSN that the peer begins with"};
    static constexpr F<std::uint8_t> reserved8c{"Reserved8c", octet(23), 8, Show::reserved, ""};
    static constexpr F<std::uint8_t> responder_resources{"ResponderResources", octet(24), 8, Show::dec, ""};
    static constexpr F<std::uint8_t> initiator_depth{"InitiatorDepth", octet(25), 8, Show::dec, ""};
    static constexpr F<std::uint8_t> target_ack_delay{"TargetACKDelay", octet(26), 5, Show::dec, ""};
    static constexpr F<std::uint8_t> failover_accepted{"FailoverAccepted", octet(26, 5), 2, Show::dec, ""};
    static constexpr F<bool> flow_control{"EndToEndFlowControl", octet(26, 7), 1, Show::flag, ""};
    static constexpr F<std::uint8_t> rnr_retry_count{"RNRRetryCount", octet(27), 3, Show::dec, ""};
    static constexpr F<bool> srq{"SRQ", octet(27, 3), 1, Show::flag, "Shared receive queue"};
    static constexpr F<std::uint8_t> reserved4{"Reserved4", octet(27, 4), 4, Show::reserved, ""};
    static constexpr F<std::uint64_t> local_ca_guid{"LocalCAGUID", octet(28), 64, Show::hex, ""};
    static constexpr F<OctetArray<196>> private_data{"PrivateData", octet(36), 1568, Show::octets, "RFC 4755, 6"};
    static constexpr auto fields =
        table(local_comm_id, remote_comm_id, local_q_key, local_qpn, reserved8a, local_eecn, reserved8b, starting_psn,
              reserved8c, responder_resources, initiator_depth, target_ack_delay, failover_accepted, flow_control,
              rnr_retry_count, srq, reserved4, local_ca_guid, private_data);
};
static_assert(tiles(CmRep::fields, CmRep::size));

/// Ready to use. IBTA Vol 1, 12.6.9.
struct CmRtu {
    static constexpr std::string_view key = "cm_rtu", name = "RTU", title = "CM: ready to use";
    static constexpr std::size_t size = cm_size;
    template <class T>
    using F = Field<CmRtu, T>;

    static constexpr F<std::uint32_t> local_comm_id{"LocalCommunicationID", octet(0), 32, Show::hex, ""};
    static constexpr F<std::uint32_t> remote_comm_id{"RemoteCommunicationID", octet(4), 32, Show::hex, ""};
    static constexpr F<OctetArray<224>> private_data{"PrivateData", octet(8), 1792, Show::octets, ""};
    static constexpr auto fields = table(local_comm_id, remote_comm_id, private_data);
};
static_assert(tiles(CmRtu::fields, CmRtu::size));

/// Request to end a connection. IBTA Vol 1, 12.6.10.
struct CmDreq {
    static constexpr std::string_view key = "cm_dreq", name = "DREQ", title = "CM: disconnection request";
    static constexpr std::size_t size = cm_size;
    template <class T>
    using F = Field<CmDreq, T>;

    static constexpr F<std::uint32_t> local_comm_id{"LocalCommunicationID", octet(0), 32, Show::hex, ""};
    static constexpr F<std::uint32_t> remote_comm_id{"RemoteCommunicationID", octet(4), 32, Show::hex, ""};
    static constexpr F<std::uint32_t> remote_qpn{"RemoteQPN_EECN", octet(8), 24, Show::hex, ""};
    static constexpr F<std::uint8_t> reserved8{"Reserved8", octet(11), 8, Show::reserved, ""};
    static constexpr F<OctetArray<220>> private_data{"PrivateData", octet(12), 1760, Show::octets, ""};
    static constexpr auto fields = table(local_comm_id, remote_comm_id, remote_qpn, reserved8, private_data);
};
static_assert(tiles(CmDreq::fields, CmDreq::size));

/// Reply to a request to end a connection. IBTA Vol 1, 12.6.11.
struct CmDrep {
    static constexpr std::string_view key = "cm_drep", name = "DREP", title = "CM: disconnection reply";
    static constexpr std::size_t size = cm_size;
    template <class T>
    using F = Field<CmDrep, T>;

    static constexpr F<std::uint32_t> local_comm_id{"LocalCommunicationID", octet(0), 32, Show::hex, ""};
    static constexpr F<std::uint32_t> remote_comm_id{"RemoteCommunicationID", octet(4), 32, Show::hex, ""};
    static constexpr F<OctetArray<224>> private_data{"PrivateData", octet(8), 1792, Show::octets, ""};
    static constexpr auto fields = table(local_comm_id, remote_comm_id, private_data);
};
static_assert(tiles(CmDrep::fields, CmDrep::size));

/// What a REQ or a REP of an IPoIB connection begins its private data with. RFC 4755, 6.
struct CmPrivateData {
    static constexpr std::string_view key = "cm_private_data", name = "CMPrivateData",
                                      title = "IPoIB connected mode private data";
    static constexpr std::size_t size = 8;
    template <class T>
    using F = Field<CmPrivateData, T>;

    static constexpr F<std::uint8_t> reserved{"Reserved", octet(0), 8, Show::reserved, ""};
    static constexpr F<std::uint32_t> ud_qpn{"UD QPN", octet(1), 24, Show::hex, "The sender's IPoIB-UD QPN"};
    static constexpr F<std::uint32_t> receive_mtu{"Receive MTU", octet(4), 32, Show::dec,
                                                  "Largest packet the sender accepts, in octets"};
    static constexpr auto fields = table(reserved, ud_qpn, receive_mtu);
};
static_assert(tiles(CmPrivateData::fields, CmPrivateData::size));

/// ServiceID of an IPoIB connection, as REQ:ServiceID holds it. RFC 4755, 3.5.
struct IpoibServiceId {
    static constexpr std::string_view key = "service_id", name = "ServiceID", title = "IPoIB service ID";
    static constexpr std::size_t size = 8;
    static constexpr std::uint8_t ietf = 0x01;
    static constexpr std::array<Named, 2> prefix_names{{{ietf, "IETF"}, {0x10, "IETF, as Linux writes it"}}};
    template <class T>
    using F = Field<IpoibServiceId, T>;

    static constexpr F<std::uint8_t> prefix{"Prefix", octet(0), 8, Show::hex, "The block for IETF use", prefix_names};
    static constexpr F<std::uint8_t> type{"Type", octet(1), 8, Show::hex, "Zero"};
    static constexpr F<std::uint32_t> reserved{"Reserved", octet(2), 24, Show::reserved, ""};
    static constexpr F<std::uint32_t> qpn{"QPN", octet(5), 24, Show::hex, "UD QP of the address resolution"};
    static constexpr auto fields = table(prefix, type, reserved, qpn);
};
static_assert(tiles(IpoibServiceId::fields, IpoibServiceId::size));

/// The private data of a message, to its end.
template <class Message>
constexpr Octets private_data(const View<Message>& message) noexcept {
    return message ? message.octets().subspan(Message::private_data.at.bit / 8) : Octets{};
}

/// What RFC 4755, 6 puts at the beginning of the private data of a REQ or a REP.
template <class Message>
constexpr View<CmPrivateData> ipoib_private_data(const View<Message>& message) noexcept {
    return View<CmPrivateData>::at(private_data(message));
}

/// REQ:ServiceID taken apart.
constexpr View<IpoibServiceId> ipoib_service_id(const View<CmReq>& req) noexcept {
    return req ? View<IpoibServiceId>::at(req.octets().subspan(CmReq::service_id.at.bit / 8)) : View<IpoibServiceId>{};
}

/// Whether a REQ asks for a connection of IPoIB: by its ServiceID, as RFC 4755, 3.5 has it or as Linux writes it.
constexpr bool asks_for_ipoib(const View<CmReq>& req) noexcept {
    const auto id = ipoib_service_id(req);
    return id && !name_of(IpoibServiceId::prefix_names, id[IpoibServiceId::prefix]).empty() &&
           id[IpoibServiceId::type] == 0 && id[IpoibServiceId::reserved] == 0;
}

}  // namespace ipoib::wire
