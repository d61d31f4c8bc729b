// SPDX-License-Identifier: GPL-2.0-or-later
// The RDMA ports of this host as Linux lists them, and what keeps a program from using each.
#pragma once

#include "fabric/host/host_interfaces.hpp"
#include "protocol/wire/field.hpp"

namespace ipoib::fabric {

struct HostPort {
    std::string device;  ///< as in /sys/class/infiniband
    unsigned number = 0;
    std::string link_layer;  ///< "InfiniBand", "Ethernet"
    std::string state;       ///< "ACTIVE", "INIT", "DOWN" ...
    std::string rate;        ///< "100 Gb/sec (4X EDR)"
    std::uint16_t lid = 0, sm_lid = 0;
    wire::Gid gid;
    std::vector<std::uint16_t> p_keys;      ///< the entries of its table that are set
    std::vector<HostInterface> interfaces;  ///< IPoIB interfaces on it, as far as this network namespace sees them
    /// What must be different before --fabric verbs: can use it, and how; empty: nothing.
    std::vector<std::string> obstacles;

    [[nodiscard]] std::string name() const { return device + '/' + std::to_string(number); }
};

/// What a program here may do.
struct HostRights {
    std::uint64_t lockable = 0;    ///< octets of memory; ~0: any number
    bool has_raw_network = false;  ///< CAP_NET_RAW: a queue pair takes a controlled Q_Key
    [[nodiscard]] static HostRights mine();
};

/// In the order of their names. `root` is where /sys and /dev begin: "" but in tests.
[[nodiscard]] std::vector<HostPort> host_ports(const std::string& root, const HostRights& rights);
/// Why there are none at all.
[[nodiscard]] std::string why_no_ports(const std::string& root);

}  // namespace ipoib::fabric
