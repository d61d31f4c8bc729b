// SPDX-License-Identifier: GPL-2.0-or-later
// A port of a real HCA: data through a UD queue pair of verbs, the SA through its MAD device.
#pragma once

#include "fabric/umad/managed_port.hpp"

#include <functional>
#include <string>

namespace ipoib::fabric {

struct VerbsPortOptions {
    UmadOptions port{};
    std::uint16_t p_key = 0;  ///< of the link; 0: the first of the table that makes its port a full member
    int gid_index = 0;
    std::uint64_t sm_key = 0;
};

class VerbsPort : public Port {
public:
    /// Throws std::invalid_argument when the options name no port, std::runtime_error when it cannot be used.
    VerbsPort(Loop& loop, const VerbsPortOptions& options);
    ~VerbsPort() override;
    VerbsPort(const VerbsPort&) = delete;
    VerbsPort& operator=(const VerbsPort&) = delete;

    [[nodiscard]] PortFacts facts() const override;
    [[nodiscard]] std::string send(wire::Octets frame) override;
    [[nodiscard]] std::string send_all(std::span<const wire::Octets> frames, std::size_t& sent) override;
    [[nodiscard]] std::string attach(const wire::Gid& mgid, std::uint16_t mlid) override;
    void detach(const wire::Gid& mgid, std::uint16_t mlid) override;
    void set_q_key(std::uint32_t q_key) override;
    void on_datagram(std::function<void(wire::Octets frame)> listener) override;
    [[nodiscard]] SaAnswer ask_sa(const SaRequest& request, Duration patience) override;
    void on_report(std::function<void(wire::View<wire::Notice>)> listener) override;

    /// Every datagram and MAD that is sent or comes, as a frame.
    std::function<void(const Sighting&)> tap;
    [[nodiscard]] std::string name() const;
    [[nodiscard]] bool hears_reports() const noexcept;
    /// As ManagedPort; then there is a queue pair. Throws std::runtime_error.
    void bring_up(Time deadline);
    /// Why the port cannot be used any more; empty as long as it can.
    [[nodiscard]] std::string problem() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace ipoib::fabric
