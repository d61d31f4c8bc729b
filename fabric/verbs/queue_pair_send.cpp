// SPDX-License-Identifier: GPL-2.0-or-later
// The sending side of a UD queue pair: room, address handles, chains of work requests.
#include "fabric/verbs/queue_pair_state.hpp"
#include "protocol/wire/lrh.hpp"
#include "protocol/wire/text.hpp"

#include <arpa/inet.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

namespace ipoib::fabric {
using namespace wire;
using namespace queue_pair;

std::string UdQueuePair::State::wait_for_room(unsigned room) {
    using Clock = std::chrono::steady_clock;
    constexpr auto patience = std::chrono::seconds{2};
    const auto deadline = Clock::now() + patience;
    while (true) {
        std::array<ibv_wc, 16> done{};
        const int count = ibv_poll_cq(sent.get(), static_cast<int>(done.size()), done.data());
        if (count < 0) return "the adapter does not tell what it has sent";
        for (const auto& completed : std::span{done}.first(static_cast<std::size_t>(count))) {
            if (completed.status != IBV_WC_SUCCESS)
                return std::string("an earlier datagram was not sent: ") + ibv_wc_status_str(completed.status);
            under_way -= std::min(under_way, static_cast<unsigned>(completed.wr_id));
        }
        if (under_way + room <= send_depth) return {};
        if (Clock::now() > deadline) return "the adapter sends nothing any more";
        std::this_thread::sleep_for(std::chrono::microseconds{50});
    }
}

std::string UdQueuePair::State::path_to(const UdPath& path, ibv_ah*& handle) {
    if (const auto known = paths.find(path); known != paths.end()) {
        handle = known->second.get();
        return {};
    }
    ibv_ah_attr way{};
    way.dlid = path.dlid;
    way.sl = path.sl;
    way.port_num = options.port;
    if (path.global) {
        way.is_global = 1;
        way.grh = {.dgid = gid_of(path.global->dgid),
                   .flow_label = path.global->flow_label,
                   .sgid_index = static_cast<std::uint8_t>(options.gid_index),
                   .hop_limit = path.global->hop_limit,
                   .traffic_class = path.global->traffic_class};
    }
    errno = 0;
    Owned<ibv_ah, ibv_destroy_ah> made{ibv_create_ah(domain.get(), &way)};
    if (!made)
        return "the adapter takes no address handle for DLID " + hex(path.dlid, 4) + ": " +
               error_text(errno ? errno : EINVAL);
    handle = made.get();
    paths.emplace(path, std::move(made));
    return {};
}

std::string UdQueuePair::State::prepare(const UdRequest& request, ibv_send_wr& work, ibv_sge& octets) {
    if (request.payload.size() > slot_size - Grh::size) return "its payload is longer than any MTU";
    ibv_ah* way = nullptr;
    if (auto why = path_to(request.path, way); !why.empty()) return why;
    const auto size = request.payload.size();
    const bool is_inline = size != 0 && size <= inline_size;
    auto* place = const_cast<std::uint8_t*>(request.payload.data());
    if (!is_inline) {
        place = memory.data() + (receive_depth + next_send) * slot_size;
        next_send = (next_send + 1) % send_depth;
        std::ranges::copy(request.payload, place);
    }
    octets = {.addr = reinterpret_cast<std::uintptr_t>(place),
              .length = static_cast<std::uint32_t>(size),
              .lkey = region->lkey};
    work = {};
    work.sg_list = &octets;
    work.num_sge = 1;
    work.opcode = request.immediate ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND;
    if (request.is_solicited) work.send_flags |= IBV_SEND_SOLICITED;
    if (is_inline) work.send_flags |= IBV_SEND_INLINE;
    if (request.immediate) work.imm_data = htonl(*request.immediate);
    work.wr.ud = {.ah = way, .remote_qpn = request.dest_qp, .remote_qkey = request.q_key};
    return {};
}

std::string UdQueuePair::State::post_chain(std::span<ibv_send_wr> chain, std::size_t& posted) {
    for (std::size_t i = 0; i + 1 < chain.size(); ++i) chain[i].next = &chain[i + 1];
    // One completion tells of all before it.
    auto since = unsignalled;
    for (std::size_t i = 0; i < chain.size(); ++i) {
        ++since;
        if (since < send_depth / 4 && i + 1 < chain.size()) continue;
        chain[i].wr_id = std::exchange(since, 0u);
        chain[i].send_flags |= IBV_SEND_SIGNALED;
    }
    ibv_send_wr* bad = nullptr;
    const int error = ibv_post_send(pair.get(), chain.data(), &bad);
    posted = error ? static_cast<std::size_t>(bad - chain.data()) : chain.size();
    under_way += static_cast<unsigned>(posted);
    for (const auto& work : chain.first(posted))
        unsignalled = work.send_flags & IBV_SEND_SIGNALED ? 0 : unsignalled + 1;
    return error ? error_text(error) : std::string{};
}

std::string UdQueuePair::send(std::span<const UdRequest> requests, std::size_t& sent) {
    auto& s = *state_;
    constexpr std::size_t most_at_once = 32;
    std::array<ibv_send_wr, most_at_once> works;
    std::array<ibv_sge, most_at_once> places;
    for (sent = 0; sent < requests.size();) {
        const auto wanted = std::min(requests.size() - sent, most_at_once);
        // Sends that are under way need their address handles.
        const bool is_full = s.paths.size() + wanted > most_paths;
        if (auto why = s.wait_for_room(is_full ? send_depth : static_cast<unsigned>(wanted)); !why.empty()) return why;
        if (is_full) s.paths.clear();
        std::size_t ready = 0;
        std::string stopped;
        while (ready < wanted && stopped.empty()) {
            stopped = s.prepare(requests[sent + ready], works[ready], places[ready]);
            if (stopped.empty()) ++ready;
        }
        std::size_t posted = 0;
        if (ready > 0) {
            if (auto why = s.post_chain(std::span{works}.first(ready), posted); !why.empty())
                return sent += posted, why;
        }
        sent += posted;
        if (!stopped.empty()) return stopped;
    }
    return {};
}

}  // namespace ipoib::fabric
