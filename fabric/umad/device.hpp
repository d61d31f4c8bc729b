// SPDX-License-Identifier: GPL-2.0-or-later
// The MAD device of a host's HCA, by libibumad. With libumad2sim loaded beforehand it is one of ibsim.
#pragma once

#include "fabric/umad/mad_device.hpp"

namespace ipoib::fabric {

struct UmadOptions {
    std::string device;  ///< as in /sys/class/infiniband; empty: the only one with an active InfiniBand port
    int port = 0;        ///< from 1; 0: the only active one
    /// Raises the IsSM bit of the port while it is used. ibsim lets reports through to such a port only; on a real
    /// fabric the subnet manager takes notice.
    bool raises_issm = false;
};

/// Rate code (IBTA Vol 1, 15.2.5.16) of a link that the host says has so many Gb/s, fractions left out; 0: none.
[[nodiscard]] std::uint8_t rate_code(unsigned gigabits) noexcept;

class UmadDevice : public MadDevice {
public:
    /// Throws std::invalid_argument when the options name no InfiniBand port or several, and std::runtime_error when it
    /// cannot be opened.
    explicit UmadDevice(const UmadOptions& options);
    ~UmadDevice() override;
    UmadDevice(const UmadDevice&) = delete;
    UmadDevice& operator=(const UmadDevice&) = delete;

    [[nodiscard]] PortFacts facts() override;
    [[nodiscard]] std::string send(const MadPath& path, const MadOctets& mad, Duration patience) override;
    [[nodiscard]] std::optional<ReceivedMad> receive() override;
    [[nodiscard]] int descriptor() const noexcept override;
    [[nodiscard]] bool hears_reports() const noexcept override;

    [[nodiscard]] const std::string& device() const noexcept;
    /// DEVICE/PORT.
    [[nodiscard]] std::string name() const;
    /// Whether it is a port of ibsim: there is no file behind its descriptor.
    [[nodiscard]] bool is_simulated() const noexcept;
    /// PortInfo's number of the port.
    [[nodiscard]] std::uint8_t port_number() const noexcept;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace ipoib::fabric
