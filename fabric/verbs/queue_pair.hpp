// SPDX-License-Identifier: GPL-2.0-or-later
// A UD queue pair at a port of this host's HCA, by libibverbs.
#pragma once

#include "fabric/verbs/datagram.hpp"

#include <memory>
#include <optional>
#include <span>
#include <string>

namespace ipoib::fabric {

struct UdOptions {
    std::string device;  ///< as in /sys/class/infiniband
    std::uint8_t port = 1;
    std::uint16_t p_key = 0xffff;  ///< value, membership bit included
    std::uint32_t q_key = 0x0b1b;
    int gid_index = 0;  ///< of the SGID in a GRH
};

class UdQueuePair {
public:
    /// Ready to send and to receive. Throws std::runtime_error with what is missing.
    explicit UdQueuePair(const UdOptions& options);
    ~UdQueuePair();
    UdQueuePair(const UdQueuePair&) = delete;
    UdQueuePair& operator=(const UdQueuePair&) = delete;

    /// What it puts into its datagrams. LID and GID as they are now.
    [[nodiscard]] const UdSource& source() const noexcept;
    /// Code of the port's active MTU.
    [[nodiscard]] std::uint8_t mtu() const noexcept;
    /// Looks LID, GID and MTU up again.
    void refresh();

    /// Posts them together, small ones inline, and asks for few completions. Why the one that stopped it was not sent,
    /// or empty; `sent` counts those before it.
    [[nodiscard]] std::string send(std::span<const UdRequest> requests, std::size_t& sent);
    /// Each of these: why not, or empty.
    [[nodiscard]] std::string set_q_key(std::uint32_t q_key);
    [[nodiscard]] std::string attach(const wire::Gid& mgid, std::uint16_t mlid);
    void detach(const wire::Gid& mgid, std::uint16_t mlid);

    /// Readable when a datagram may have come.
    [[nodiscard]] int descriptor() const noexcept;
    /// The next that has come, valid until the next call. Throws std::runtime_error when the device is gone.
    [[nodiscard]] std::optional<UdArrival> receive();

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace ipoib::fabric
