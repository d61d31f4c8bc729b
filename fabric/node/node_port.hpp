// SPDX-License-Identifier: GPL-2.0-or-later
// A tester's port made of an adapter of ours: on the simulated fabric and behind a raw port.
#pragma once

#include "fabric/node/hca.hpp"
#include "fabric/node/sa_client.hpp"

namespace ipoib::fabric {

class NodePort : public Port {
public:
    explicit NodePort(Hca& hca);
    ~NodePort() override;
    [[nodiscard]] PortFacts facts() const override;
    [[nodiscard]] std::string send(wire::Octets frame) override;
    [[nodiscard]] std::string attach(const wire::Gid& mgid, std::uint16_t mlid) override;
    void detach(const wire::Gid& mgid, std::uint16_t mlid) override;
    void set_q_key(std::uint32_t q_key) override;
    void on_datagram(std::function<void(wire::Octets frame)> listener) override;
    [[nodiscard]] SaAnswer ask_sa(const SaRequest& request, Duration patience) override;
    void on_report(std::function<void(wire::View<wire::Notice>)> listener) override;
    /// The SM_Key of trusted requests; 0: none.
    void set_sm_key(std::uint64_t sm_key);

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace ipoib::fabric
