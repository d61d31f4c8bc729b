// SPDX-License-Identifier: GPL-2.0-or-later
// The subnet management agent of a channel adapter with one port: what a subnet manager reads and sets. IBTA Vol 1, 14.
#pragma once

#include "fabric/node/hca.hpp"
#include "fabric/node/mad_frame.hpp"
#include "protocol/wire/node_record.hpp"
#include "protocol/wire/port_info.hpp"

#include <array>

namespace ipoib::fabric {

class SubnetManagementAgent {
public:
    explicit SubnetManagementAgent(const HcaConfig& config);

    struct Outcome {
        bool is_answered = false;  ///< false: IBTA has the SMP dropped without a word
        MadOctets answer{};
        std::vector<PortEvent> events{};  ///< what the SMP changed
    };
    /// Handles an SMP (256 octets) of either kind with method Get or Set.
    [[nodiscard]] Outcome handle(wire::Octets smp);

    /// The cable: plugged in, the port goes to INIT; out, to Down. Whether the port was up before.
    bool set_link(bool is_up);
    void count_bad_p_key() noexcept { count(wire::PortInfo::p_key_violations); }
    void count_bad_q_key() noexcept { count(wire::PortInfo::q_key_violations); }

    [[nodiscard]] wire::PortState state() const noexcept { return state_; }
    [[nodiscard]] bool is_active() const noexcept { return state_ == wire::PortState::active; }
    [[nodiscard]] std::uint16_t lid() const noexcept { return lid_; }
    /// Whether a unicast LID is one of the port's (LMC).
    [[nodiscard]] bool is_own_lid(std::uint16_t lid) const noexcept {
        return lid_ != 0 && lid >= lid_ && lid - lid_ < 1 << lmc_;
    }
    [[nodiscard]] bool is_own_gid(const wire::Gid& gid) const noexcept;
    [[nodiscard]] const wire::Bytes<wire::PortInfo>& port_info() const noexcept { return port_info_; }
    [[nodiscard]] std::uint8_t active_mtu() const noexcept { return mtu_; }
    /// The P_Key table up to its last entry that is set.
    [[nodiscard]] std::span<const std::uint16_t> p_keys() const noexcept { return {p_keys_.data(), p_keys_used_}; }

private:
    static constexpr std::size_t partitions = 128, guids = 8;
    struct Request;
    [[nodiscard]] std::uint16_t answer_to(const Request& request, wire::MutableOctets data,
                                          std::vector<PortEvent>& events);
    [[nodiscard]] bool is_locked_for(const Request& request);
    [[nodiscard]] std::uint16_t port_info_of(const Request& request, wire::MutableOctets data,
                                             std::vector<PortEvent>& events);
    [[nodiscard]] std::uint16_t guid_info_of(const Request& request, wire::MutableOctets data);
    [[nodiscard]] std::uint16_t p_key_table_of(const Request& request, wire::MutableOctets data,
                                               std::vector<PortEvent>& events);
    [[nodiscard]] std::uint16_t vl_arbitration_of(const Request& request, wire::MutableOctets data);
    [[nodiscard]] bool is_settable(const wire::View<wire::PortInfo>& wanted) const noexcept;
    void set_port_info(const wire::View<wire::PortInfo>& wanted, std::vector<PortEvent>& events);
    void set_state(wire::PortState state) noexcept;
    void count(const wire::Field<wire::PortInfo, std::uint16_t>& counter) noexcept;

    wire::OctetArray<64> description_{};
    wire::Bytes<wire::NodeInfo> node_info_;
    wire::Bytes<wire::PortInfo> port_info_;
    std::array<std::uint64_t, guids> guids_{};
    std::array<std::uint16_t, partitions> p_keys_{};
    std::size_t p_keys_used_ = 1;
    wire::OctetArray<8> sl_to_vl_{};
    std::array<wire::OctetArray<64>, 4> vl_arbitration_{};
    // Of port_info_, for the frame path.
    wire::PortState state_ = wire::PortState::down;
    std::uint16_t lid_ = 0;
    std::uint8_t lmc_ = 0, mtu_ = 0;
};

}  // namespace ipoib::fabric
