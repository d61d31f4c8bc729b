// SPDX-License-Identifier: GPL-2.0-or-later
// A tester's port that can ask the subnet administrator and hear its reports, and has no queue pair for data.
#pragma once

#include "fabric/node/sa_client.hpp"
#include "fabric/umad/gsi.hpp"

namespace ipoib::fabric {

class UmadPort : public Port {
public:
    /// Not owned.
    explicit UmadPort(UmadGsi& gsi) : gsi_(gsi), client_(gsi) { client_.tells_repeated_reports = false; }

    [[nodiscard]] PortFacts facts() const override;
    /// Refuses: libibumad carries management datagrams only.
    [[nodiscard]] std::string send(wire::Octets frame) override;
    [[nodiscard]] std::string attach(const wire::Gid& mgid, std::uint16_t mlid) override;
    void detach(const wire::Gid&, std::uint16_t) override {}
    void set_q_key(std::uint32_t) override {}
    /// Never told of any.
    void on_datagram(std::function<void(wire::Octets frame)>) override {}
    [[nodiscard]] SaAnswer ask_sa(const SaRequest& request, Duration patience) override;
    void on_report(std::function<void(wire::View<wire::Notice>)> listener) override {
        client_.on_report(std::move(listener));
    }
    /// The SM_Key of trusted requests; 0: none.
    void set_sm_key(std::uint64_t sm_key) { client_.sm_key = sm_key; }
    /// Asks the SA for the port's PortInfoRecord, since the host does not tell the MTU; why that fails, or empty.
    [[nodiscard]] std::string learn_mtu(std::uint8_t port_number, Duration patience);

private:
    UmadGsi& gsi_;
    SaClient client_;
    std::uint8_t mtu_ = 0;
};

}  // namespace ipoib::fabric
