// SPDX-License-Identifier: GPL-2.0-or-later
// The guest's fabric, changed from outside: OpenSM, its partitions, and the cables of the module vib.
#pragma once

#include "conformance/dut/linux/line_protocol.hpp"
#include "lab/guest/control/partitions.hpp"
#include "lab/guest/control/ports.hpp"

namespace ipoib::lab {

class Fabric {
public:
    explicit Fabric(const host::Interruption& interruption);
    Fabric(const Fabric&) = delete;
    Fabric& operator=(const Fabric&) = delete;
    /// The fabric is as it was at boot.
    ~Fabric();
    [[nodiscard]] host::Handlers handlers();

private:
    using Request = host::Request;
    void change_scenario(const Request& request, host::Json& answer);
    void change_manager(const Request& request);
    void change_port(const Request& request);
    void change_p_key(const Request& request);
    void change_faults(const Request& request);
    void restore();

    /// Writes OpenSM's configuration for partitions_.
    void configure() const;
    void start_afresh();
    void resume_manager();
    void wait_for_subnet(host::milliseconds patience) const;
    void wait_for_p_keys(const EndPort& port, std::uint16_t p_key, bool is_there) const;
    void look_for_ports();
    [[nodiscard]] EndPort port_of(const Request& request);
    [[nodiscard]] std::string manager_cable() const;
    void command(const std::string& line) const;
    void cut(const std::string& cable);
    void mend(const std::string& cable);

    const host::Interruption& interruption_;
    Partitions partitions_;
    std::map<std::uint64_t, EndPort> known_;  ///< by GUID; ports that are down are remembered
    std::set<std::string> cut_, faulty_;      ///< cables
    bool is_manager_cut_ = false;
    bool is_partitioned_ = false;  ///< partitions.conf is not that of the boot any more
    std::string boot_partitions_, boot_options_;
};

}  // namespace ipoib::lab
