// SPDX-License-Identifier: GPL-2.0-or-later
// libibverbs: one queue pair, one completion queue for what comes and one for what goes.
#include "fabric/verbs/queue_pair.hpp"

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

namespace {

constexpr unsigned receive_depth = 512, send_depth = 128, small_datagram = 128;
constexpr std::size_t slot_size = Grh::size + 4096;
constexpr std::size_t most_paths = 256;

template <auto Free>
struct Freed {
    template <class T>
    void operator()(T* it) const noexcept {
        Free(it);
    }
};
template <class T, auto Free>
using Owned = std::unique_ptr<T, Freed<Free>>;

std::string error_text(int error) { return std::strerror(error); }

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

ibv_gid gid_of(const Gid& gid) noexcept {
    ibv_gid raw{};
    std::ranges::copy(gid.octets, raw.raw);
    return raw;
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
    [[nodiscard]] Octets octets_of(const ibv_wc& completed, std::size_t& slot) const;

    UdOptions options;
    UdSource source;
    std::uint8_t mtu = 0;
    std::uint16_t p_key_index = 0;
    std::vector<std::uint8_t> memory;
    Owned<ibv_context, ibv_close_device> context;
    Owned<ibv_pd, ibv_dealloc_pd> domain;
    Owned<ibv_mr, ibv_dereg_mr> region;
    Owned<ibv_comp_channel, ibv_destroy_comp_channel> channel;
    Owned<ibv_cq, ibv_destroy_cq> received, sent;
    /// Before the queue pair in the list, since its sends use them until it is gone.
    std::map<UdPath, Owned<ibv_ah, ibv_destroy_ah>> paths;
    std::map<Gid, std::uint16_t> groups;
    Owned<ibv_qp, ibv_destroy_qp> queue_pair;
    unsigned under_way = 0, next_send = 0, unsignalled = 0;
    std::size_t inline_size = 0;   ///< up to so many octets go with the work request
    std::optional<unsigned> lent;  ///< the slot that the last arrival points into
    unsigned unacknowledged = 0;
};

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
    source.qpn = queue_pair->qp_num;
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
    queue_pair.reset(ibv_create_qp(domain.get(), &granted));
    if (!queue_pair) {
        // Not every adapter takes data with the request.
        granted = wanted;
        granted.cap.max_inline_data = 0;
        queue_pair = made<decltype(queue_pair)>(options, "a UD queue pair",
                                                [&] { return ibv_create_qp(domain.get(), &granted); });
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
    if (const int error =
            ibv_modify_qp(queue_pair.get(), &to, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY))
        fail(options, "the queue pair takes no P_Key " + hex(options.p_key, 4) + " and Q_Key " + hex(options.q_key, 8),
             error);
    to.qp_state = IBV_QPS_RTR;
    if (const int error = ibv_modify_qp(queue_pair.get(), &to, IBV_QP_STATE))
        fail(options, "the queue pair cannot receive", error);
    to.qp_state = IBV_QPS_RTS;
    to.sq_psn = 0;
    if (const int error = ibv_modify_qp(queue_pair.get(), &to, IBV_QP_STATE | IBV_QP_SQ_PSN))
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
    if (const int error = ibv_post_recv(queue_pair.get(), &request, &bad))
        fail(options, "the queue pair takes no receive buffer", error);
}

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

UdQueuePair::UdQueuePair(const UdOptions& options) : state_(std::make_unique<State>(options)) { refresh(); }

UdQueuePair::~UdQueuePair() {
    auto& s = *state_;
    for (const auto& [mgid, mlid] : s.groups) {
        const auto gid = gid_of(mgid);
        (void)ibv_detach_mcast(s.queue_pair.get(), &gid, mlid);
    }
    if (s.unacknowledged) ibv_ack_cq_events(s.received.get(), s.unacknowledged);
    // The queue pair first: nothing of it may be under way when its paths and queues go.
    s.queue_pair.reset();
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
    for (std::size_t i = 0; i < chain.size(); ++i) {
        ++unsignalled;
        if (unsignalled < send_depth / 4 && i + 1 < chain.size()) continue;
        chain[i].wr_id = std::exchange(unsignalled, 0u);
        chain[i].send_flags |= IBV_SEND_SIGNALED;
    }
    ibv_send_wr* bad = nullptr;
    const int error = ibv_post_send(queue_pair.get(), chain.data(), &bad);
    posted = error ? static_cast<std::size_t>(bad - chain.data()) : chain.size();
    under_way += static_cast<unsigned>(posted);
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

std::string UdQueuePair::set_q_key(std::uint32_t q_key) {
    auto& s = *state_;
    if (q_key == s.source.q_key) return {};
    ibv_qp_attr to{};
    to.qp_state = IBV_QPS_RTS;
    to.qkey = q_key;
    if (const int error = ibv_modify_qp(s.queue_pair.get(), &to, IBV_QP_STATE | IBV_QP_QKEY)) {
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
    if (const int error = ibv_attach_mcast(s.queue_pair.get(), &gid, mlid))
        return "the adapter does not attach to the group: " + error_text(error);
    s.groups[mgid] = mlid;
    return {};
}

void UdQueuePair::detach(const Gid& mgid, std::uint16_t mlid) {
    auto& s = *state_;
    const auto gid = gid_of(mgid);
    if (s.groups.erase(mgid)) (void)ibv_detach_mcast(s.queue_pair.get(), &gid, mlid);
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
