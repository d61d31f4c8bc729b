// SPDX-License-Identifier: GPL-2.0-or-later
// The guest's fabric, changed from outside: OpenSM, its partitions, and the cables of the module vib.
#pragma once

#include "conformance/dut/linux/line_protocol.hpp"
#include "fabric/change/change.hpp"
#include "lab/guest/fabric_control/partitions.hpp"
#include "lab/guest/fabric_control/ports.hpp"

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
    [[nodiscard]] host::Json change(const host::Request& request);
    void apply(const fabric::SetScenario& change);
    void apply(const fabric::SetManager& change);
    void apply(const fabric::SetPort& change);
    void apply(const fabric::SetPKey& change);
    void apply(const fabric::SetLid& change);
    void apply(const fabric::SetPrefix& change);
    void apply(const fabric::SetFaults& change);
    void apply(const fabric::Restore& change);
    /// OpenSM does as it does: what a case wants of the SA is refused.
    template <class Change>
    [[noreturn]] void apply(const Change&) {
        host::refuse_as_unsupported("OpenSM cannot be made to do that");
    }

    /// What OpenSM's cache of LIDs is to hold: those of now, but for one port.
    [[nodiscard]] std::string lids_with(std::uint64_t moved, std::uint16_t lid) const;
    /// One that no port has.
    [[nodiscard]] std::uint16_t next_lid() const;
    [[nodiscard]] std::uint64_t manager_guid() const;
    /// Writes OpenSM's configuration for partitions_ and prefix_.
    void configure() const;
    /// It has no memberships any more, and of LIDs only these, as its cache has them.
    void start_afresh(const std::string& lids = {});
    void resume_manager();
    void wait_for_subnet(host::milliseconds patience) const;
    void wait_for_p_keys(const EndPort& port, std::uint16_t p_key, bool is_there) const;
    void look_for_ports();
    [[nodiscard]] EndPort port_of(const fabric::PortName& name);
    [[nodiscard]] std::string manager_cable() const;
    void command(const std::string& line) const;
    void cut(const std::string& cable);
    void mend(const std::string& cable);

    const host::Interruption& interruption_;
    host::milliseconds patience_{};  ///< of the request that is carried out
    host::Json answer_;              ///< to it
    Partitions partitions_;
    std::uint64_t prefix_ = wire::default_subnet_prefix;
    std::map<std::uint64_t, EndPort> known_;  ///< by GUID; ports that are down are remembered
    std::set<std::string> cut_, faulty_;      ///< cables
    bool is_manager_cut_ = false;
    bool is_partitioned_ = false;  ///< partitions.conf is not that of the boot any more
    std::string boot_partitions_, boot_options_;
};

}  // namespace ipoib::lab
