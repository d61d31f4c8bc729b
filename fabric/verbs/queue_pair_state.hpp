// SPDX-License-Identifier: GPL-2.0-or-later
// What a UD queue pair consists of, for its own files only.
#pragma once

#include "fabric/verbs/queue_pair.hpp"
#include "protocol/wire/grh.hpp"

#include <infiniband/verbs.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <vector>

namespace ipoib::fabric {

namespace queue_pair {

inline constexpr unsigned receive_depth = 512, send_depth = 128, small_datagram = 128;
inline constexpr std::size_t slot_size = wire::Grh::size + 4096;
inline constexpr std::size_t most_paths = 256;

template <auto Free>
struct Freed {
    template <class T>
    void operator()(T* it) const noexcept {
        Free(it);
    }
};
template <class T, auto Free>
using Owned = std::unique_ptr<T, Freed<Free>>;

inline std::string error_text(int error) { return std::strerror(error); }

inline ibv_gid gid_of(const wire::Gid& gid) noexcept {
    ibv_gid raw{};
    std::ranges::copy(gid.octets, raw.raw);
    return raw;
}

}  // namespace queue_pair

struct UdQueuePair::State {
    explicit State(const UdOptions& given);
    void find_p_key();
    void bring_up();
    void post(unsigned slot);
    /// Until so many more can be under way.
    [[nodiscard]] std::string wait_for_room(unsigned count);
    [[nodiscard]] std::string prepare(const UdRequest& request, ibv_send_wr& work, ibv_sge& octets);
    [[nodiscard]] std::string post_chain(std::span<ibv_send_wr> chain, std::size_t& posted);
    void make_queue_pair();
    [[nodiscard]] std::string path_to(const UdPath& path, ibv_ah*& handle);
    [[nodiscard]] wire::Octets octets_of(const ibv_wc& completed, std::size_t& slot) const;

    UdOptions options;
    UdSource source;
    std::uint8_t mtu = 0;
    std::uint16_t p_key_index = 0;
    std::vector<std::uint8_t> memory;
    queue_pair::Owned<ibv_context, ibv_close_device> context;
    queue_pair::Owned<ibv_pd, ibv_dealloc_pd> domain;
    queue_pair::Owned<ibv_mr, ibv_dereg_mr> region;
    queue_pair::Owned<ibv_comp_channel, ibv_destroy_comp_channel> channel;
    queue_pair::Owned<ibv_cq, ibv_destroy_cq> received, sent;
    /// Before the queue pair in the list, since its sends use them until it is gone.
    std::map<UdPath, queue_pair::Owned<ibv_ah, ibv_destroy_ah>> paths;
    std::map<wire::Gid, std::uint16_t> groups;
    queue_pair::Owned<ibv_qp, ibv_destroy_qp> pair;
    unsigned next_send = 0, under_way = 0,
             unsignalled = 0;      ///< works: sent, of these without a completion of their own so far
    std::size_t inline_size = 0;   ///< up to so many octets go with the work request
    std::optional<unsigned> lent;  ///< the slot that the last arrival points into
    unsigned unacknowledged = 0;
};

}  // namespace ipoib::fabric
