// SPDX-License-Identifier: GPL-2.0-or-later
// Connections as cases speak of them: what the tester says to the DUT's communication manager, what it expects of it,
// and packets over the connection. RFC 4755, 3 and 6; IBTA Vol 1, 12.6.
#pragma once

#include "conformance/bench/claim.hpp"
#include "conformance/bench/message.hpp"

namespace ipoib::conformance {

/// REQ for a reliable connection with the DUT, at the Service-ID of its UD QPN. Its communication ID and the QPN of the
/// connection are made of the nonce. `reserved`: the octet in its private data.
[[nodiscard]] Message cm_req(std::uint8_t reserved = 0);
/// REP to a REQ of the DUT, with the Receive MTU in octets; 0: the largest that Linux has.
[[nodiscard]] Message cm_rep(const wire::Bytes<wire::CmReq>& req, std::uint32_t receive_mtu = 0);
/// REJ, Consumer Reject, to a REQ of the DUT.
[[nodiscard]] Message cm_rej(const wire::Bytes<wire::CmReq>& req);
/// RTU to a REP of the DUT.
[[nodiscard]] Message cm_rtu(const wire::Bytes<wire::CmRep>& rep);
/// DREQ for the connection that the DUT has accepted by this REP, or requested by this REQ; the latter must have been
/// accepted by the message sent last.
[[nodiscard]] Message cm_dreq(const wire::Bytes<wire::CmRep>& rep);
[[nodiscard]] Message cm_dreq(const wire::Bytes<wire::CmReq>& req, std::uint16_t nonce_of_rep);
/// A unicast message as RC SEND Only over a connection that the DUT has accepted, or requested: its `number`th packet,
/// from 0. The DUT's StartingPSN is what the tester begins with (IBTA Vol 1, 12.7.31).
[[nodiscard]] Message over_connection(const Message& message, const wire::Bytes<wire::CmRep>& accepted,
                                      std::uint32_t number);
[[nodiscard]] Message over_connection(const Message& message, const wire::Bytes<wire::CmReq>& requested,
                                      std::uint32_t number);

/// Claims that a packet came over UD and not over a connection.
[[nodiscard]] Expectation over_ud(const Expectation& message);

/// A REQ of the DUT to the tester's port.
[[nodiscard]] Expectation req_of_dut();
/// The DUT's answers to the REQ sent last: either, REP, REJ.
[[nodiscard]] Expectation answer_to_req();
[[nodiscard]] Expectation rep_of_dut();
[[nodiscard]] Expectation rej_of_dut();
/// Its RTU to the REP sent last.
[[nodiscard]] Expectation rtu_of_dut();
/// Its DREQ for the connection that it has accepted by this REP, and its DREP to the tester's.
[[nodiscard]] Expectation dreq_of_dut(const wire::Bytes<wire::CmRep>& rep);
[[nodiscard]] Expectation drep_of_dut(const wire::Bytes<wire::CmRep>& rep);

/// Its DREP to the DREQ for the connection that it requested.
[[nodiscard]] Expectation drep_of_dut(std::uint16_t nonce_of_rep);
/// Its packets of IP over a connection: a message, or the first packet of one.
[[nodiscard]] Expectation over_rc(const Expectation& message);
/// The first of the fragments of a UDP datagram of the DUT to the tester, in the family of the situation; over UD or a
/// connection.
[[nodiscard]] Expectation first_fragment();
/// The last packet of a message that is longer than a packet.
[[nodiscard]] Expectation end_of_message();
/// IP over a connection to the tester that has more octets than this, the encapsulation header counted.
[[nodiscard]] Expectation message_longer_than(std::size_t octets);

/// Where the private data of a REQ, REP, RTU or REJ begins; else null.
[[nodiscard]] const std::uint8_t* private_data_at(const wire::Packet& packet) noexcept;

/// Claims a value of a field of the private data of a REQ, REP, RTU or REJ; or anything else, in words. RFC 4755, 6.
template <class T>
[[nodiscard]] Expectation with_private_data(const Expectation& message,
                                            const wire::Field<wire::CmPrivateData, T>& field,
                                            const std::type_identity_t<T>& value) {
    return claiming_at(message, private_data_at, field, value);
}
template <class T>
[[nodiscard]] Expectation with_private_data(const Expectation& message,
                                            const wire::Field<wire::CmPrivateData, T>& field,
                                            bool (*holds)(const std::type_identity_t<T>& value), std::string expected) {
    return claiming_at(message, private_data_at, field, holds, std::move(expected));
}

}  // namespace ipoib::conformance
