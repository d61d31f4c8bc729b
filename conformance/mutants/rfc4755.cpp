// SPDX-License-Identifier: GPL-2.0-or-later
// Wrong connected mode. RFC 4755.
#include "conformance/mutants/prelude.hpp"

namespace ipoib::conformance {

const Mutant deaf_to_datagrams{
    .name = "ud-deaf-in-connected-mode",
    .what = "drops unicast IP over UD in connected mode",
    .breaks = {&rfc4755::cm_keeps_ud, &rfc4755::cm_accepts_all_modes},
    .stack =
        [](Policy& policy) {
            policy.accepts_datagrams = [](bool is_connected_mode, std::size_t) { return !is_connected_mode; };
        },
    .spares = {"IPOIB-4755-7-VAL-002", "IPOIB-4755-3.1-INO-002", "IPOIB-4755-3.4-VAL-002", "IPOIB-4755-3.1-INO-001",
               "IPOIB-4755-3.4-VAL-003", "IPOIB-4755-7-VAL-003"},
    .twin = Twin{.breaks = Broken{&rfc4755::cm_keeps_ud, &rfc4755::cm_accepts_all_modes, &rfc4755::cm_minimum_mtu}},
};

const Mutant deaf_to_datagrams_of_peers{
    .name = "ud-deaf-with-connection",
    .what = "drops unicast IP over UD once there is a connection",
    .breaks = {&rfc4755::cm_accepts_all_modes},
    .stack =
        [](Policy& policy) {
            policy.accepts_datagrams = [](bool, std::size_t connections) { return connections == 0; };
        },
    .sometimes = {&rfc4755::cm_keeps_ud, &rfc4755::cm_connection_record},
    .spares = {"IPOIB-4755-7-VAL-002"},
    .twin = Twin{},
};

const Mutant deaf_over_connections{
    .name = "rc-deaf",
    .what = "makes connections and drops what comes over them",
    .breaks = {&rfc4755::cm_accepts_all_modes},
    .stack =
        [](Policy& policy) { policy.accepts_over_connection = [](bool, std::size_t, std::size_t) { return false; }; },
    .spares = {"IPOIB-4755-7-VAL-001"},
    .twin = Twin{},
};

const Mutant wants_long_packets{
    .name = "rc-drops-short",
    .what = "drops packets of less than 100 octets over a connection that it requested",
    .breaks = {&rfc4755::cm_smaller_packets},
    .stack =
        [](Policy& policy) {
            policy.accepts_over_connection = [](bool is_requester, std::size_t datagram, std::size_t) {
                return !is_requester || datagram >= 100;
            };
        },
};

const Mutant connection_on_ud_qp{
    .name = "cm-gives-ud-qpn",
    .what = "gives the QPN of its UD queue pair for its connections",
    .breaks = {&rfc4755::cm_queue_pairs},
    .stack = [](Policy& policy) { policy.connection_qpn = [](std::uint32_t, std::uint32_t ud_qpn) { return ud_qpn; }; },
    .sometimes = {&rfc4755::cm_setup_carries_ud_qpn},
};

const Mutant takes_flags_as_a_whole{
    .name = "flags-as-a-whole",
    .what = "takes a peer for one with RC only if no other flag is set",
    .breaks = {&rfc4755::cm_flags_reserved_rx},
    .stack =
        [](Policy& policy) {
            policy.kept_flags = [](std::uint8_t heard, bool is_connected) -> std::uint8_t {
                return is_connected && heard == flag_rc ? flag_rc : 0;
            };
        },
};

const Mutant connects_in_datagram_mode{
    .name = "connects-in-datagram-mode",
    .what = "requests connections of peers with RC though it has no connected mode",
    .breaks = {&rfc4755::ud_only_ignores_flags},
    .stack =
        [](Policy& policy) {
            policy.kept_flags = [](std::uint8_t heard, bool) { return heard; };
            policy.begins_connection = [](bool, std::uint8_t flags) { return (flags & flag_rc) != 0; };
        },
};

const Mutant private_qpn_wrong{
    .name = "cm-private-qpn",
    .what = "puts a QPN that is not its own into private data",
    .breaks = {&rfc4755::cm_setup_carries_ud_qpn, &rfc4755::cm_reject_carries_ud_qpn},
    .stack = [](Policy& policy) { policy.private_qpn = [](std::uint32_t ud_qpn) { return ud_qpn ^ 1; }; },
};

const Mutant private_reserved_set{
    .name = "cm-reserved-not-zero",
    .what = "sets the Reserved octet of private data",
    .breaks = {&rfc4755::cm_private_data_reserved_tx},
    .stack = [](Policy& policy) { policy.private_reserved = 0x5a; },
};

const Mutant private_reserved_judged{
    .name = "cm-reserved-not-ignored",
    .what = "rejects a REQ with the Reserved octet of its private data set",
    .breaks = {&rfc4755::cm_private_data_reserved_rx},
    .stack =
        [](Policy& policy) { policy.accepts_private_reserved = [](std::uint8_t reserved) { return reserved == 0; }; },
};

const Mutant rej_without_qpn{
    .name = "rej-without-qpn",
    .what = "sends REJ without private data",
    .breaks = {&rfc4755::cm_reject_carries_ud_qpn},
    .stack = [](Policy& policy) { policy.rej_has_qpn = false; },
};

const Mutant service_id_shifted{
    .name = "service-id-10",
    .what = "begins the Service-ID with 10h",
    .breaks = {&rfc4755::cm_service_id},
    .stack =
        [](Policy& policy) {
            policy.service_id = [](std::uint32_t ud_qpn) { return std::uint64_t{0x10} << 56 | ud_qpn; };
        },
};

const Mutant receive_mtu_missing{
    .name = "cm-no-receive-mtu",
    .what = "leaves the Receive MTU zero",
    .breaks = {&rfc4755::cm_receive_mtu, &rfc4755::cm_minimum_mtu},
    .stack = [](Policy& policy) { policy.receive_mtu = [](std::size_t) { return 0u; }; },
    .spares = {"IPOIB-4755-5-VAL-001"},
};

const Mutant accepts_every_crossing{
    .name = "crossing-accepted",
    .what = "accepts every REQ that crosses its own",
    .breaks = {&rfc4755::cm_crossing_requests},
    .stack =
        [](Policy& policy) {
            policy.accepts_crossing = [](const stack::HardwareAddress&, const stack::HardwareAddress&) { return true; };
        },
    .spares = {"IPOIB-4755-3.3-INO-002"},
};

const Mutant compares_flags{
    .name = "crossing-compares-flags",
    .what = "compares link-layer addresses with their flags when REQs cross",
    .breaks = {&rfc4755::cm_crossing_requests},
    .stack =
        [](Policy& policy) {
            policy.accepts_crossing = [](const stack::HardwareAddress& local, const stack::HardwareAddress& remote) {
                return local.octets < remote.octets;
            };
        },
    .spares = {"IPOIB-4755-3.3-INO-001"},
};

const Mutant leaves_connections{
    .name = "never-disconnects",
    .what = "goes down without ending its connections",
    .breaks = {&rfc4755::cm_teardown},
    .stack = [](Policy& policy) { policy.disconnects = false; },
};

const Mutant forgets_connections{
    .name = "forgets-connections",
    .what = "drops a connection when its peer requests another one",
    .breaks = {&rfc4755::cm_connection_record},
    .stack = [](Policy& policy) { policy.keeps_connections = false; },
    .spares = {"IPOIB-4755-3.2-INO-002", "IPOIB-4755-3.4-VAL-002", "IPOIB-4755-3.4-VAL-003"},
};

const Mutant refuses_1280{
    .name = "refuses-1280",
    .what = "drops datagrams of more than 1000 octets",
    .breaks = {&rfc4755::cm_minimum_mtu, &rfc4391::ip_mtu_2044},
    .stack = [](Policy& policy) { policy.accepts_length = [](std::size_t datagram) { return datagram <= 1000; }; },
    .spares = {"IPOIB-4391-7-VAL-004", "IPOIB-4391-7-VAL-005"},
    .twin = Twin{},
};

const Mutant ignores_receive_mtu{
    .name = "rc-ignores-receive-mtu",
    .what = "sends over a connection what its own Receive MTU allows",
    .breaks = {&rfc4755::cm_connection_mtu},
    .stack =
        [](Policy& policy) { policy.connection_mtu = [](std::size_t own, std::size_t) { return own - Encap::size; }; },
    .sometimes = {&rfc4755::cm_default_mtu},
    .twin = Twin{},
};

const Mutant forgets_encapsulation_header{
    .name = "rc-four-octets-too-long",
    .what = "takes the Receive MTU of a peer for the MTU of IP",
    .breaks = {&rfc4755::cm_connection_mtu},
    .stack =
        [](Policy& policy) {
            policy.connection_mtu = [](std::size_t own, std::size_t of_peer) {
                return own < of_peer ? own - Encap::size : of_peer;
            };
        },
    .sometimes = {&rfc4755::cm_default_mtu},
    .twin = Twin{},
};

const Mutant loses_what_is_longer{
    .name = "rc-loses-longer",
    .what = "loses datagrams that are longer than the MTU of the connection",
    .breaks = {&rfc4755::cm_connection_mtu},
    .stack = [](Policy& policy) { policy.fragments_for_connection = false; },
    .twin = Twin{},
};

const Mutant buffers_without_header{
    .name = "rc-buffer-without-header",
    .what = "takes over connections what is four octets shorter than it announced",
    .breaks = {&rfc4755::cm_takes_receive_mtu},
    .stack =
        [](Policy& policy) {
            policy.accepts_over_connection = [](bool, std::size_t datagram, std::size_t receive_mtu) {
                return datagram + 2 * Encap::size <= receive_mtu;
            };
        },
    .twin = Twin{},
};

const Mutant takes_short_only{
    .name = "rc-takes-1500",
    .what = "takes over connections no more than 1500 octets",
    .breaks = {&rfc4755::cm_takes_receive_mtu},
    .stack =
        [](Policy& policy) {
            policy.accepts_over_connection = [](bool, std::size_t datagram, std::size_t) { return datagram <= 1500; };
        },
    .twin = Twin{},
};

const Mutant end_not_confirmed{
    .name = "dreq-not-answered",
    .what = "does not answer DREQ",
    .breaks = {&rfc4755::cm_connection_record},
    .stack = [](Policy& policy) { policy.confirms_end = [](bool) { return false; }; },
    .spares = {"IPOIB-4755-3.2-INO-002"},
};

const Mutant end_of_own_not_confirmed{
    .name = "dreq-of-own-not-answered",
    .what = "does not answer DREQ for a connection that it requested",
    .breaks = {&rfc4755::cm_connection_record},
    .stack = [](Policy& policy) { policy.confirms_end = [](bool is_requester) { return !is_requester; }; },
    .spares = {"IPOIB-4755-3.2-INO-001", "IPOIB-4755-3.2-INO-002", "IPOIB-4755-3.4-VAL-002"},
};

const Mutant uses_ended_connection{
    .name = "rc-used-after-end",
    .what = "goes on using a connection that its peer has ended",
    .breaks = {&rfc4755::cm_keeps_ud},
    .stack = [](Policy& policy) { policy.forgets_ended = [](bool is_requester) { return !is_requester; }; },
    .spares = {"IPOIB-4755-2-VAL-001", "IPOIB-4755-3.1-INO-001", "IPOIB-4755-3.1-INO-002", "IPOIB-4755-3.4-VAL-002",
               "IPOIB-4755-7-VAL-003"},
};

const Mutant rejection_sticks{
    .name = "rej-sticks",
    .what = "sends nothing any more to a peer that rejected a connection",
    .breaks = {&rfc4755::cm_keeps_ud},
    .stack =
        [](Policy& policy) {
            policy.without_connection = [](bool was_rejected) {
                return was_rejected ? stack::Unconnected::silence : stack::Unconnected::datagrams;
            };
        },
    .spares = {"IPOIB-4755-2-VAL-001", "IPOIB-4755-3.1-INO-002", "IPOIB-4755-3.4-VAL-002", "IPOIB-4755-3.4-VAL-003",
               "IPOIB-4755-7-VAL-003"},
};

const Mutant unanswered_sticks{
    .name = "unanswered-req-sticks",
    .what = "sends nothing any more to a peer that did not answer a REQ",
    .breaks = {&rfc4755::cm_keeps_ud},
    .stack =
        [](Policy& policy) {
            policy.without_connection = [](bool was_rejected) {
                return was_rejected ? stack::Unconnected::datagrams : stack::Unconnected::silence;
            };
        },
    .spares = {"IPOIB-4755-2-VAL-001", "IPOIB-4755-3.1-INO-001", "IPOIB-4755-3.4-VAL-002", "IPOIB-4755-3.4-VAL-003",
               "IPOIB-4755-7-VAL-003"},
};

const Mutant dead_connection_stays{
    .name = "rc-dead-stays",
    .what = "keeps a connection for ever whose peer acknowledges nothing",
    .breaks = {&rfc4755::cm_connection_record},
    .stack = [](Policy& policy) { policy.gives_up_lost = false; },
    .spares = {"IPOIB-4755-3.2-INO-001", "IPOIB-4755-3.4-VAL-002", "IPOIB-4755-3.4-VAL-003"},
};

const Mutant full_ring_stays_full{
    .name = "rc-ring-stays-full",
    .what = "sends nothing any more over a connection that had too much to be acknowledged",
    .breaks = {&rfc4755::cm_keeps_ud},
    .stack = [](Policy& policy) { policy.full_ring = stack::FullRing::stays_full; },
    .spares = {"IPOIB-4755-2-VAL-001", "IPOIB-4755-3.1-INO-001", "IPOIB-4755-3.1-INO-002", "IPOIB-4755-3.4-VAL-002",
               "IPOIB-4755-3.4-VAL-003"},
};

const Mutant full_ring_ends_the_peer{
    .name = "rc-ring-ends-peer",
    .what = "takes a peer that is slow to acknowledge for gone",
    .breaks = {&rfc4755::cm_keeps_ud},
    .stack = [](Policy& policy) { policy.full_ring = stack::FullRing::ends_the_peer; },
    .spares = {"IPOIB-4755-2-VAL-001", "IPOIB-4755-3.1-INO-001", "IPOIB-4755-3.1-INO-002", "IPOIB-4755-3.4-VAL-002",
               "IPOIB-4755-3.4-VAL-003"},
};

}  // namespace ipoib::conformance
