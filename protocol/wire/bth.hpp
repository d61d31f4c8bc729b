// SPDX-License-Identifier: GPL-2.0-or-later
// Base Transport Header and the extended headers behind it. IBTA Vol 1, 9.2 and 9.3.
#pragma once

#include "protocol/wire/field.hpp"

namespace ipoib::wire {

/// Operation codes that IPoIB and its management meet. The upper three bits name the service. IBTA Vol 1, 9.2.1.
enum class Opcode : std::uint8_t {
    rc_send_first = 0x00,
    rc_send_middle = 0x01,
    rc_send_last = 0x02,
    rc_send_only = 0x04,
    rc_acknowledge = 0x11,
    uc_send_first = 0x20,
    uc_send_middle = 0x21,
    uc_send_last = 0x22,
    uc_send_only = 0x24,
    ud_send_only = 0x64,
    ud_send_only_immediate = 0x65,
};
/// The transport service of an operation code: its upper three bits. IBTA Vol 1, 9.2.1.
enum class TransportService : std::uint8_t {
    reliable_connection = 0,
    unreliable_connection = 1,
    reliable_datagram = 2,
    unreliable_datagram = 3,
};
/// The operation of an operation code: its lower five bits. No service has all of them. IBTA Vol 1, 9.2.1.
enum class Operation : std::uint8_t {
    send_first = 0x00,
    send_middle = 0x01,
    send_last = 0x02,
    send_last_immediate = 0x03,
    send_only = 0x04,
    send_only_immediate = 0x05,
    rdma_write_first = 0x06,
    rdma_write_middle = 0x07,
    rdma_write_last = 0x08,
    rdma_write_last_immediate = 0x09,
    rdma_write_only = 0x0a,
    rdma_write_only_immediate = 0x0b,
    rdma_read_request = 0x0c,
    rdma_read_response_first = 0x0d,
    rdma_read_response_middle = 0x0e,
    rdma_read_response_last = 0x0f,
    rdma_read_response_only = 0x10,
    acknowledge = 0x11,
    atomic_acknowledge = 0x12,
};
constexpr TransportService service_of(Opcode opcode) noexcept {
    return static_cast<TransportService>(static_cast<unsigned>(opcode) >> 5);
}
constexpr Operation operation_of(Opcode opcode) noexcept {
    return static_cast<Operation>(static_cast<unsigned>(opcode) & 0x1f);
}
constexpr Opcode opcode_of(TransportService service, Operation operation) noexcept {
    return static_cast<Opcode>(static_cast<unsigned>(service) << 5 | static_cast<unsigned>(operation));
}
static_assert(opcode_of(TransportService::unreliable_datagram, Operation::send_only) == Opcode::ud_send_only);
static_assert(service_of(Opcode::uc_send_last) == TransportService::unreliable_connection);
static_assert(operation_of(Opcode::uc_send_last) == Operation::send_last);

/// Base Transport Header. IBTA Vol 1, 9.2.
struct Bth {
    static constexpr std::string_view key = "bth", name = "BTH", title = "Base Transport Header";
    static constexpr std::size_t size = 12;
    /// DestQP of every multicast packet. IBTA Vol 1, 9.2.4.
    static constexpr std::uint32_t multicast_qp = 0xffffff;
    static constexpr std::array<Named, 11> opcode_names{{{0x00, "RC SEND First"},
                                                         {0x01, "RC SEND Middle"},
                                                         {0x02, "RC SEND Last"},
                                                         {0x04, "RC SEND Only"},
                                                         {0x11, "RC Acknowledge"},
                                                         {0x20, "UC SEND First"},
                                                         {0x21, "UC SEND Middle"},
                                                         {0x22, "UC SEND Last"},
                                                         {0x24, "UC SEND Only"},
                                                         {0x64, "UD SEND Only"},
                                                         {0x65, "UD SEND Only with Immediate"}}};
    template <class T>
    using F = Field<Bth, T>;

    static constexpr F<Opcode> opcode{"OpCode", octet(0), 8, Show::hex, "Operation and service", opcode_names};
    static constexpr F<bool> solicited{"SE", octet(1), 1, Show::flag, "Solicited event"};
    static constexpr F<bool> migration{"M", octet(1, 1), 1, Show::flag, "Migration state"};
    static constexpr F<std::uint8_t> pad{"PadCnt", octet(1, 2), 2, Show::dec, "Pad octets after the payload"};
    static constexpr F<std::uint8_t> version{"TVer", octet(1, 4), 4, Show::dec, "Transport header version"};
    static constexpr F<std::uint16_t> p_key{"P_Key", octet(2), 16, Show::hex, "Partition key"};
    static constexpr F<std::uint8_t> reserved8{"Reserved8a", octet(4), 8, Show::reserved, "FECN, BECN and reserved"};
    static constexpr F<std::uint32_t> dest_qp{"DestQP", octet(5), 24, Show::hex, "Destination queue pair"};
    static constexpr F<bool> ack{"A", octet(8), 1, Show::flag, "Acknowledge request"};
    static constexpr F<std::uint8_t> reserved7{"Reserved7", octet(8, 1), 7, Show::reserved, ""};
    static constexpr F<std::uint32_t> psn{"PSN", octet(9), 24, Show::dec, "Packet sequence number"};
    static constexpr auto fields =
        table(opcode, solicited, migration, pad, version, p_key, reserved8, dest_qp, ack, reserved7, psn);
};
static_assert(tiles(Bth::fields, Bth::size));

/// Datagram Extended Transport Header. IBTA Vol 1, 9.3.2.
struct Deth {
    static constexpr std::string_view key = "deth", name = "DETH", title = "Datagram Extended Transport Header";
    static constexpr std::size_t size = 8;
    template <class T>
    using F = Field<Deth, T>;

    static constexpr F<std::uint32_t> q_key{"Q_Key", octet(0), 32, Show::hex, "Queue key"};
    static constexpr F<std::uint8_t> reserved{"Reserved", octet(4), 8, Show::reserved, ""};
    static constexpr F<std::uint32_t> src_qp{"SrcQP", octet(5), 24, Show::hex, "Source queue pair"};
    static constexpr auto fields = table(q_key, reserved, src_qp);
};
static_assert(tiles(Deth::fields, Deth::size));

/// Immediate Data Extended Transport Header. IBTA Vol 1, 9.3.6.
struct ImmDt {
    static constexpr std::string_view key = "immdt", name = "ImmDt", title = "Immediate Data";
    static constexpr std::size_t size = 4;
    static constexpr Field<ImmDt, std::uint32_t> data{"ImmDt", octet(0), 32, Show::hex, "Immediate data"};
    static constexpr auto fields = table(data);
};
static_assert(tiles(ImmDt::fields, ImmDt::size));

/// ACK Extended Transport Header. IBTA Vol 1, 9.3.5.
struct Aeth {
    static constexpr std::string_view key = "aeth", name = "AETH", title = "ACK Extended Transport Header";
    static constexpr std::size_t size = 4;
    static constexpr Field<Aeth, std::uint8_t> syndrome{"Syndrome", octet(0), 8, Show::hex, "ACK, RNR NAK or NAK"};
    static constexpr Field<Aeth, std::uint32_t> msn{"MSN", octet(1), 24, Show::dec, "Message sequence number"};
    static constexpr auto fields = table(syndrome, msn);
};
static_assert(tiles(Aeth::fields, Aeth::size));

/// RDMA Extended Transport Header. IBTA Vol 1, 9.3.3.
struct Reth {
    static constexpr std::string_view key = "reth", name = "RETH", title = "RDMA Extended Transport Header";
    static constexpr std::size_t size = 16;
    static constexpr Field<Reth, std::uint64_t> address{"VA", octet(0), 64, Show::hex, "Virtual address"};
    static constexpr Field<Reth, std::uint32_t> r_key{"R_Key", octet(8), 32, Show::hex, "Remote key"};
    static constexpr Field<Reth, std::uint32_t> length{"DMALen", octet(12), 32, Show::dec, "Length of the DMA"};
    static constexpr auto fields = table(address, r_key, length);
};
static_assert(tiles(Reth::fields, Reth::size));

}  // namespace ipoib::wire
