// SPDX-License-Identifier: GPL-2.0-or-later
// The queue pairs of an adapter and the multicast groups that they are attached to. IBTA Vol 1, 10.2 and 10.5.
#pragma once

#include "base/secret_hash.hpp"
#include "fabric/node/hca.hpp"

#include <span>

namespace ipoib::fabric {

/// One queue pair's part in a group.
struct Attachment {
    std::uint16_t mlid;
    QueuePair* queue_pair;
};

class QueuePairs {
public:
    explicit QueuePairs(std::size_t most) : most_(most) {}

    [[nodiscard]] QueuePair* create(std::uint32_t q_key, std::uint16_t p_key,
                                    std::function<void(const Datagram&)> receive);
    /// Detaches it from every group and ends it; its memory stays until bury(), since it may be receiving just now.
    void destroy(QueuePair* queue_pair);
    void bury() noexcept { destroyed_.clear(); }
    [[nodiscard]] bool is_destroyed(const QueuePair* queue_pair) const noexcept;

    /// Null for a number that is not in use.
    [[nodiscard]] QueuePair* find(std::uint32_t qpn) const noexcept;
    /// All of them, by number.
    template <class Visit>
    void for_each(Visit&& visit) const {
        for (const auto& [qpn, queue_pair] : by_number_) visit(*queue_pair);
    }

    /// Attaching twice is as once.
    void attach(QueuePair& queue_pair, const wire::Gid& mgid, std::uint16_t mlid);
    void detach(const QueuePair& queue_pair, const wire::Gid& mgid, std::uint16_t mlid);
    [[nodiscard]] bool is_attached(const QueuePair& queue_pair, const wire::Gid& mgid,
                                   std::uint16_t mlid) const noexcept;
    /// In the order of attaching.
    [[nodiscard]] std::span<const Attachment> attached(const wire::Gid& mgid) const noexcept;
    /// Each with its MGID, in no order.
    template <class Visit>
    void for_each_attachment(Visit&& visit) const {
        for (const auto& [mgid, attachments] : groups_)
            for (const auto& one : attachments) visit(mgid, one);
    }
    /// Of all queue pairs to all groups.
    [[nodiscard]] std::size_t attachments() const noexcept { return attachments_; }

private:
    static constexpr std::uint32_t first_qpn = 0x48;
    struct Hash {
        std::size_t operator()(const wire::Gid& gid) const noexcept {
            return SecretHash::of(gid.prefix(), gid.interface_id());
        }
    };

    std::size_t most_, attachments_ = 0;
    std::uint32_t next_qpn_ = first_qpn;
    std::map<std::uint32_t, std::unique_ptr<QueuePair>> by_number_;
    std::unordered_map<wire::Gid, std::vector<Attachment>, Hash> groups_;
    std::vector<std::unique_ptr<QueuePair>> destroyed_;
};

}  // namespace ipoib::fabric
