// SPDX-License-Identifier: GPL-2.0-or-later
// The requirements that no case can decide, each with the reason and what to look at instead.
#include "conformance/documents/coverage.hpp"

#include <array>

namespace ipoib::conformance {

std::span<const Ground> grounds() noexcept {
    using enum Manner;
    static constexpr std::array list{
        Ground{&rfc4391::broadcast_group_topology, inspection,
               "The audit judges the HopLimit where the SA's records show that a link spans subnets. Which TClass and "
               "FlowLabel let any two nodes talk depends on what routers and switches do with them: hold the record of "
               "the broadcast group against the plan of the fabric."},
        Ground{&rfc4391::pkey_known_beforehand, construction,
               "The broadcast-GID contains the P_Key, so nobody can form it before a P_Key is known."},
        Ground{&rfc4391::pkey_configured, inspection,
               "A case shows that an interface uses the P_Key that it was given. Where the first interface of a port "
               "has its own from is not seen from outside: look at how it is set.",
               true},
        Ground{&rfc4391::multicast_resources, inspection,
               "How many groups are enough depends on the applications. Compare the groups in use with the limits of "
               "SA, switches and adapters."},
        Ground{&rfc4391::setup_protected, inspection,
               "The adapter tries as an unprivileged user to change the interface and to open the management devices. "
               "What remains: try over verbs to attach a queue pair to a group of the link, and to use its Q_Key where "
               "that is a controlled one.",
               true},
        Ground{&rfc4391::reserved_bits_by_rfc, inspection,
               "It binds the authors of later documents and no implementation. The two bits that RFC 4755 takes are "
               "judged by the statements of RFC 4755."},
        Ground{&rfc4392::pkey_and_scope_known, construction,
               "The MGID in the request to join the broadcast group contains both, so nobody can join without them."},
        Ground{&rfc4392::invariant_qpn_for_static_entries, inspection,
               "It is about entries that people make. Look for static entries, and whether the interfaces that they "
               "name keep their QPN."},
        Ground{&udmc::qp_in_group_partition, inspection,
               "The P_Key of a queue pair is set inside its host; from outside a wrong one looks like lost packets. "
               "Query the queue pairs of the interface for their P_Key index."},
        Ground{&udmc::switch_multicast_capability, inspection,
               "The audit looks at the switches that members are attached to. Of those between switches, read "
               "MulticastFDBCap in the SwitchInfo of each one on the way."},
        Ground{&udmc::one_port_per_qp, construction,
               "A UD queue pair is given its one port when it is set up, and has no way to another."},
    };
    return list;
}

}  // namespace ipoib::conformance
