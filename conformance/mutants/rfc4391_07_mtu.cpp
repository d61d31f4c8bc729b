// SPDX-License-Identifier: GPL-2.0-or-later
// Wrong MTUs. RFC 4391, 7.
#include "conformance/mutants/prelude.hpp"

namespace ipoib::conformance {

const Mutant mtu_2040{
    .name = "mtu-2040",
    .what = "takes 8 octets off the IB MTU",
    .breaks = {&rfc4391::ip_mtu_2044},
    .stack = [](Policy& policy) { policy.ip_mtu = [](std::size_t link_mtu) { return link_mtu - 8; }; },
    .twin = Twin{.spares = Spared{"IPOIB-4391-7-VAL-004", "IPOIB-4391-7-VAL-005"}},
};

const Mutant refuses_2044{
    .name = "refuses-2044",
    .what = "drops datagrams of more than 2040 octets",
    .breaks = {&rfc4391::ip_mtu_2044},
    .stack = [](Policy& policy) { policy.accepts_length = [](std::size_t datagram) { return datagram <= 2040; }; },
    .spares = {"IPOIB-4391-7-VAL-004", "IPOIB-4391-7-VAL-005"},
    .twin = Twin{},
};

const Mutant loses_multiples_of_64{
    .name = "multiples-of-64-lost",
    .what = "drops long datagrams that end where a cache line does",
    .breaks = {&rfc4391::ip_mtu_2044, &rfc4755::cm_minimum_mtu},
    .stack =
        [](Policy& policy) {
            policy.accepts_length = [](std::size_t datagram) {
                constexpr std::size_t long_ones = 600, line = 64;
                return datagram < long_ones || datagram % line != 0;
            };
        },
    .spares = {"IPOIB-4391-7-VAL-004", "IPOIB-4391-7-VAL-003", "IPOIB-4391-7-VAL-005"},
    .twin = Twin{},
};

const Mutant sends_2048{
    .name = "sends-2048",
    .what = "sends IP packets of up to 2048 octets",
    .breaks = {&rfc4391::frame_within_link_mtu},
    .stack = [](Policy& policy) { policy.longest_sent = [](std::size_t mtu) { return mtu + 4; }; },
    .scenario = "mtu4k",
    .sometimes = {&rfc4755::cm_connection_mtu},
    .spares = {"IPOIB-4391-7-VAL-004"},
    .twin = Twin{},
};

const Mutant mtu_of_port{
    .name = "mtu-of-port",
    .what = "takes the MTU of its port for that of the link",
    .breaks = {&rfc4391::link_mtu, &rfc4391::adopts_broadcast_parameters, &rfc4391::frame_within_link_mtu,
               &rfc4391::new_group_link_mtu, &rfc4391::new_group_broadcast_parameters},
    .stack = [](Policy& policy) { policy.adopted_mtu = [](const stack::Group&) { return std::uint8_t{5}; }; },
    .scenario = "mtu4k",
    .spares = {"IPOIB-4391-5-VAL-006"},
};

const Mutant mtu_at_will{
    .name = "mtu-beyond-link",
    .what = "can be set to an MTU that the link does not have",
    .breaks = {&rfc4391::frame_within_link_mtu},
    .stack = [](Policy& policy) { policy.can_have_mtu = [](std::size_t, std::size_t) { return true; }; },
    .spares = {"IPOIB-4391-7-INV-001", "IPOIB-4391-7-VAL-004"},
};

const Mutant mtu_stays_low{
    .name = "mtu-stays-low",
    .what = "keeps the smallest MTU that it was ever set to",
    .breaks = {&rfc4391::ip_mtu_2044},
    .stack = [](Policy& policy) { policy.raises_mtu = false; },
    .spares = {"IPOIB-4391-7-VAL-004", "IPOIB-4391-7-VAL-001", "IPOIB-4391-7-VAL-005"},
};

const Mutant mtu_1280{
    .name = "mtu-1280",
    .what = "sends IP in pieces of 1280 octets",
    .breaks = {&rfc4391::ip_mtu_2044},
    .stack = [](Policy& policy) { policy.ip_mtu = [](std::size_t) { return std::size_t{1280}; }; },
    .sometimes = {&rfc4391::frame_within_link_mtu},
    .twin = Twin{.spares = Spared{"IPOIB-4391-7-VAL-004", "IPOIB-4391-7-VAL-005"}},
};

}  // namespace ipoib::conformance
