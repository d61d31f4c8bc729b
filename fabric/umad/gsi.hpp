// SPDX-License-Identifier: GPL-2.0-or-later
// A MAD device as a GSI: its MADs as the frames that they were on the wire, segments of tables told one by one.
#pragma once

#include "fabric/node/gsi.hpp"
#include "fabric/umad/mad_device.hpp"

#include <map>
#include <vector>

namespace ipoib::fabric {

/// The segments of an answer that the MAD layer put together: DATA, the last one marked. IBTA Vol 1, 13.6.2.
/// `whole` has at least the headers, 56 octets.
[[nodiscard]] std::vector<MadOctets> segments_of(wire::Octets whole);

/// Watches the device while the loop runs. Acknowledgements of segments are not sent: the MAD layer has sent them.
class UmadGsi : public Gsi {
public:
    /// Neither is owned.
    UmadGsi(Loop& loop, MadDevice& device);
    ~UmadGsi() override;
    UmadGsi(const UmadGsi&) = delete;
    UmadGsi& operator=(const UmadGsi&) = delete;

    [[nodiscard]] Loop& loop() noexcept override { return loop_; }
    /// As last looked up, at most a second ago.
    [[nodiscard]] PortFacts facts() const override { return facts_; }
    [[nodiscard]] std::uint32_t new_transaction() noexcept override { return ++last_transaction_; }
    void on_mad(wire::MgmtClass mgmt_class, std::function<void(const Datagram&)> handler) override;
    void send_mad(const MadPath& path, const MadOctets& mad, Duration patience) override;

    /// Every MAD that is sent or comes, as a frame of UD: LRH, BTH and DETH are made of what the device tells of its
    /// way.
    std::function<void(const Frame& frame, bool is_sent)> tap;
    /// Why the device cannot be used any more; empty: it can.
    [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

private:
    void look();
    void look_again();
    void refresh();
    void take(const ReceivedMad& received);
    void deliver(const MadPath& path, const MadOctets& mad, bool is_cut);

    Loop& loop_;
    MadDevice& device_;
    PortFacts facts_;
    std::string problem_;
    std::uint32_t last_transaction_ = 0;
    std::map<wire::MgmtClass, std::function<void(const Datagram&)>> handlers_;
    TimerId look_timer_{}, refresh_timer_{};
};

}  // namespace ipoib::fabric
