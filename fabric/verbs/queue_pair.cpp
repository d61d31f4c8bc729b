// SPDX-License-Identifier: GPL-2.0-or-later
// libibverbs: one queue pair, one completion queue for what comes and one for what goes.
#include "fabric/verbs/queue_pair_state.hpp"

#include "protocol/wire/grh.hpp"
#include "protocol/wire/lrh.hpp"
#include "protocol/wire/text.hpp"

#include <arpa/inet.h>
#include <endian.h>
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <map>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

namespace ipoib::fabric {
using namespace wire;
using namespace queue_pair;

namespace {

[[noreturn]] void fail(const UdOptions& options, const std::string& what, int error) {
    std::string hint;
    if (error == ENOMEM) {
        rlimit limit{};
        if (getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
            hint =
                " (ulimit -l is " + std::to_string(limit.rlim_cur / 1024) + " KiB: memory for the adapter is locked)";
    } else if (error == EACCES || error == EPERM) {
        hint = " (/dev/infiniband/uverbs* must be readable and writable)";
    }
    throw std::runtime_error(options.device + '/' + std::to_string(options.port) + ": " + what + ": " +
                             error_text(error) + hint);
}

/// Made by verbs, or the reason why not. verbs sets errno only sometimes.
template <class Owner, class Make>
Owner made(const UdOptions& options, const char* what, const Make& make) {
    errno = 0;
    Owner owner{make()};
    if (!owner) fail(options, std::string(what) + " cannot be made", errno ? errno : EINVAL);
    return owner;
}

Owned<ibv_context, ibv_close_device> open_device(const UdOptions& options) {
    int count = 0;
    const Owned<ibv_device*, ibv_free_device_list> list{ibv_get_device_list(&count)};
    if (!list) throw std::runtime_error("the kernel offers no verbs: " + error_text(errno));
    for (int i = 0; i < count; ++i)
        if (options.device == ibv_get_device_name(list.get()[i]))
            return made<Owned<ibv_context, ibv_close_device>>(options, "a context for verbs",
                                                              [&] { return ibv_open_device(list.get()[i]); });
    throw std::runtime_error("verbs knows no device '" + options.device +
                             "': the module ib_uverbs or the provider of rdma-core for this adapter is missing");
}

}  // namespace

UdQueuePair::State::State(const UdOptions& given) : options(given), context(open_device(given)) {
    memory.resize((receive_depth + send_depth) * slot_size);
    domain = made<decltype(domain)>(options, "a protection domain", [&] { return ibv_alloc_pd(context.get()); });
    region = made<decltype(region)>(options, "a memory region", [&] {
        constexpr int access = IBV_ACCESS_LOCAL_WRITE;  // verbs.h combines it with values of another enumeration
        return ibv_reg_mr(domain.get(), memory.data(), memory.size(), access);
    });
    channel = made<decltype(channel)>(options, "a completion channel",
                                      [&] { return ibv_create_comp_channel(context.get()); });
    received = made<decltype(received)>(options, "a completion queue", [&] {
        return ibv_create_cq(context.get(), receive_depth, nullptr, channel.get(), 0);
    });
    sent = made<decltype(sent)>(options, "a completion queue",
                                [&] { return ibv_create_cq(context.get(), send_depth, nullptr, nullptr, 0); });
    make_queue_pair();
    source.qpn = pair->qp_num;
    source.p_key = options.p_key;
    source.q_key = options.q_key;
    find_p_key();
    bring_up();
    for (unsigned slot = 0; slot < receive_depth; ++slot) post(slot);
    // What has come is looked for; nothing here waits.
    const int flags = ::fcntl(channel->fd, F_GETFL);
    if (flags < 0 || ::fcntl(channel->fd, F_SETFL, flags | O_NONBLOCK) < 0)
        fail(options, "the completion channel cannot be asked without waiting", errno);
    if (const int error = ibv_req_notify_cq(received.get(), 0)) fail(options, "no notice of what comes", error);
}

void UdQueuePair::State::make_queue_pair() {
    ibv_qp_init_attr wanted{};
    wanted.send_cq = sent.get();
    wanted.recv_cq = received.get();
    wanted.cap = {.max_send_wr = send_depth,
                  .max_recv_wr = receive_depth,
                  .max_send_sge = 1,
                  .max_recv_sge = 1,
                  .max_inline_data = small_datagram};
    wanted.qp_type = IBV_QPT_UD;
    auto granted = wanted;
    pair.reset(ibv_create_qp(domain.get(), &granted));
    if (!pair) {
        // Not every adapter takes data with the request.
        granted = wanted;
        granted.cap.max_inline_data = 0;
        pair = made<decltype(pair)>(options, "a UD queue pair", [&] { return ibv_create_qp(domain.get(), &granted); });
    }
    inline_size = granted.cap.max_inline_data;
}

void UdQueuePair::State::find_p_key() {
    ibv_device_attr device{};
    if (const int error = ibv_query_device(context.get(), &device))
        fail(options, "the device does not tell what it is", error);
    for (std::uint16_t i = 0; i < device.max_pkeys; ++i) {
        std::uint16_t value = 0;
        if (ibv_query_pkey(context.get(), options.port, i, &value) == 0 && ntohs(value) == options.p_key) {
            p_key_index = i;
            return;
        }
    }
    throw std::runtime_error(options.device + '/' + std::to_string(options.port) + " has no P_Key " +
                             hex(options.p_key, 4) + " in its table");
}

void UdQueuePair::State::bring_up() {
    ibv_qp_attr to{};
    to.qp_state = IBV_QPS_INIT;
    to.pkey_index = p_key_index;
    to.port_num = options.port;
    to.qkey = options.q_key;
    if (const int error = ibv_modify_qp(pair.get(), &to, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY))
        fail(options, "the queue pair takes no P_Key " + hex(options.p_key, 4) + " and Q_Key " + hex(options.q_key, 8),
             error);
    to.qp_state = IBV_QPS_RTR;
    if (const int error = ibv_modify_qp(pair.get(), &to, IBV_QP_STATE))
        fail(options, "the queue pair cannot receive", error);
    to.qp_state = IBV_QPS_RTS;
    to.sq_psn = 0;
    if (const int error = ibv_modify_qp(pair.get(), &to, IBV_QP_STATE | IBV_QP_SQ_PSN))
        fail(options, "the queue pair cannot send", error);
}

void UdQueuePair::State::post(unsigned slot) {
    ibv_sge place{.addr = reinterpret_cast<std::uintptr_t>(memory.data() + slot * slot_size),
                  .length = slot_size,
                  .lkey = region->lkey};
    ibv_recv_wr request{};
    request.wr_id = slot;
    request.sg_list = &place;
    request.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    if (const int error = ibv_post_recv(pair.get(), &request, &bad))
        fail(options, "the queue pair takes no receive buffer", error);
}

UdQueuePair::UdQueuePair(const UdOptions& options) : state_(std::make_unique<State>(options)) { refresh(); }

UdQueuePair::~UdQueuePair() {
    auto& s = *state_;
    for (const auto& [mgid, mlid] : s.groups) {
        const auto gid = gid_of(mgid);
        (void)ibv_detach_mcast(s.pair.get(), &gid, mlid);
    }
    if (s.unacknowledged) ibv_ack_cq_events(s.received.get(), s.unacknowledged);
    // The queue pair first: nothing of it may be under way when its paths and queues go.
    s.pair.reset();
}

const UdSource& UdQueuePair::source() const noexcept { return state_->source; }
std::uint8_t UdQueuePair::mtu() const noexcept { return state_->mtu; }
int UdQueuePair::descriptor() const noexcept { return state_->channel->fd; }

void UdQueuePair::refresh() {
    auto& s = *state_;
    ibv_port_attr port{};
    if (ibv_query_port(s.context.get(), s.options.port, &port) == 0) {
        s.source.lid = port.lid;
        s.mtu = static_cast<std::uint8_t>(port.active_mtu);
    }
    ibv_gid gid{};
    if (ibv_query_gid(s.context.get(), s.options.port, s.options.gid_index, &gid) == 0)
        s.source.gid = Gid::of(be64toh(gid.global.subnet_prefix), be64toh(gid.global.interface_id));
}

std::string UdQueuePair::set_q_key(std::uint32_t q_key) {
    auto& s = *state_;
    if (q_key == s.source.q_key) return {};
    ibv_qp_attr to{};
    to.qp_state = IBV_QPS_RTS;
    to.qkey = q_key;
    if (const int error = ibv_modify_qp(s.pair.get(), &to, IBV_QP_STATE | IBV_QP_QKEY)) {
        const bool is_refused = error == EPERM || error == EACCES;
        return "the queue pair does not take Q_Key " + hex(q_key, 8) + ": " + error_text(error) +
               (is_refused ? " (a controlled Q_Key needs CAP_NET_RAW)" : "");
    }
    s.source.q_key = q_key;
    return {};
}

std::string UdQueuePair::attach(const Gid& mgid, std::uint16_t mlid) {
    auto& s = *state_;
    if (const auto at = s.groups.find(mgid); at != s.groups.end()) {
        if (at->second == mlid) return {};
        detach(mgid, at->second);
    }
    const auto gid = gid_of(mgid);
    if (const int error = ibv_attach_mcast(s.pair.get(), &gid, mlid))
        return "the adapter does not attach to the group: " + error_text(error);
    s.groups[mgid] = mlid;
    return {};
}

void UdQueuePair::detach(const Gid& mgid, std::uint16_t mlid) {
    auto& s = *state_;
    const auto gid = gid_of(mgid);
    if (s.groups.erase(mgid)) (void)ibv_detach_mcast(s.pair.get(), &gid, mlid);
}

std::optional<UdArrival> UdQueuePair::receive() {
    auto& s = *state_;
    if (s.lent) s.post(*s.lent);
    s.lent.reset();
    for (bool has_looked_again = false;;) {
        ibv_wc done{};
        const int count = ibv_poll_cq(s.received.get(), 1, &done);
        if (count < 0) throw std::runtime_error(s.options.device + " does not tell what has come");
        if (count == 0) {
            if (has_looked_again) return {};
            // Notices are taken off first, then asked for anew; what came between is seen by looking once more.
            ibv_cq* of = nullptr;
            void* unused = nullptr;
            while (ibv_get_cq_event(s.channel.get(), &of, &unused) == 0) ++s.unacknowledged;
            if (const int error = ibv_req_notify_cq(s.received.get(), 0))
                throw std::runtime_error(s.options.device + " gives no notice of what comes: " + error_text(error));
            has_looked_again = true;
            continue;
        }
        if (done.status == IBV_WC_WR_FLUSH_ERR)
            throw std::runtime_error(s.options.device + " is gone: its queue pair is in error");
        const auto slot = static_cast<unsigned>(done.wr_id);
        if (done.status != IBV_WC_SUCCESS || done.byte_len < Grh::size || done.byte_len > slot_size) {
            s.post(slot);
            continue;
        }
        s.lent = slot;
        const Octets octets{s.memory.data() + slot * slot_size, done.byte_len};
        UdArrival arrival{.slid = done.slid,
                          .dlid = static_cast<std::uint16_t>(s.source.lid | done.dlid_path_bits),
                          .sl = done.sl,
                          .src_qp = done.src_qp,
                          .grh = done.wc_flags & IBV_WC_GRH ? octets.first(Grh::size) : Octets{},
                          .payload = octets.subspan(Grh::size)};
        if (done.wc_flags & IBV_WC_WITH_IMM) arrival.immediate = ntohl(done.imm_data);
        const auto grh = View<Grh>::at(arrival.grh);
        if (grh && grh[Grh::dgid].is_multicast()) {
            const auto group = s.groups.find(grh[Grh::dgid]);
            arrival.dlid = group == s.groups.end() ? std::uint16_t{0xffff} : group->second;
        }
        return arrival;
    }
}

}  // namespace ipoib::fabric
