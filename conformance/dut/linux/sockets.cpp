// SPDX-License-Identifier: GPL-2.0-or-later
// ip(7), ipv6(7), udp(7).
#include "conformance/dut/linux/sockets.hpp"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace ipoib::host {
namespace {

constexpr std::size_t most_sockets = 500;

template <class Value>
void set(const Descriptor& socket, int level, int name, const Value& value, const char* what) {
    if (::setsockopt(socket.value(), level, name, &value, sizeof value) != 0)
        fail(std::string(what) + ": " + error_text(errno));
}

Descriptor open_socket(const Link& link, bool is_v4, int type, int protocol) {
    Descriptor socket{::socket(is_v4 ? AF_INET : AF_INET6, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol)};
    if (!socket) fail("no socket: " + error_text(errno));
    if (::setsockopt(socket.value(), SOL_SOCKET, SO_BINDTODEVICE, link.name.c_str(),
                     static_cast<socklen_t>(link.name.size())) != 0)
        fail(link.name + ": " + error_text(errno));
    return socket;
}

void join_group(const Descriptor& socket, const Link& link, const Address& group) {
    group_req request{};
    request.gr_interface = link.index;
    std::memcpy(&request.gr_group, &group.socket_address, sizeof group.socket_address);
    set(socket, group.is_v4() ? IPPROTO_IP : IPPROTO_IPV6, MCAST_JOIN_GROUP, request, "cannot join");
}

std::string key_of(const Link& link, const std::string& text) { return std::to_string(link.index) + ' ' + text; }

std::string hex(std::span<const std::uint8_t> octets) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text;
    for (const auto octet : octets) {
        text += digits[octet >> 4];
        text += digits[octet & 15];
    }
    return text;
}

/// What came with a datagram: where it was sent to and its TTL.
struct Ancillary {
    std::string to;
    int ttl = 0;
};

Ancillary ancillary_of(msghdr& message) {
    Ancillary found;
    for (auto* head = CMSG_FIRSTHDR(&message); head; head = CMSG_NXTHDR(&message, head)) {
        const auto is = [&](int level, int type) { return head->cmsg_level == level && head->cmsg_type == type; };
        sockaddr_storage to{};
        if (is(IPPROTO_IP, IP_PKTINFO)) {
            in_pktinfo info{};
            std::memcpy(&info, CMSG_DATA(head), sizeof info);
            sockaddr_in v4{.sin_family = AF_INET, .sin_addr = info.ipi_addr};
            std::memcpy(&to, &v4, sizeof v4);
            found.to = text_of(to);
        } else if (is(IPPROTO_IPV6, IPV6_PKTINFO)) {
            in6_pktinfo info{};
            std::memcpy(&info, CMSG_DATA(head), sizeof info);
            sockaddr_in6 v6{.sin6_family = AF_INET6, .sin6_addr = info.ipi6_addr};
            std::memcpy(&to, &v6, sizeof v6);
            found.to = text_of(to);
        } else if (is(IPPROTO_IP, IP_TTL) || is(IPPROTO_IPV6, IPV6_HOPLIMIT)) {
            std::memcpy(&found.ttl, CMSG_DATA(head), sizeof found.ttl);
        }
    }
    return found;
}

/// Type and code are those of an echo request.
std::vector<std::uint8_t> echo_request(bool is_v4, std::uint16_t identifier, std::size_t size) {
    constexpr std::uint8_t v4_request = 8, v6_request = 128;
    std::vector<std::uint8_t> message(8 + size);
    message[0] = is_v4 ? v4_request : v6_request;
    std::memcpy(&message[4], &identifier, sizeof identifier);
    message[7] = 1;
    for (std::size_t i = 8; i < message.size(); ++i) message[i] = static_cast<std::uint8_t>(i);
    if (is_v4) {
        const auto sum = htons(internet_checksum(message));
        std::memcpy(&message[2], &sum, sizeof sum);
    }
    return message;
}

/// Whether what a raw socket received is the answer; an IPv4 one gives the IP header too.
bool is_echo_reply(std::span<const std::uint8_t> packet, bool is_v4, std::span<const std::uint8_t> request) {
    constexpr std::uint8_t v4_reply = 0, v6_reply = 129;
    if (is_v4) {
        const std::size_t header = packet.empty() ? 0 : (packet[0] & 15u) * 4u;
        if (packet.size() < header) return false;
        packet = packet.subspan(header);
    }
    return packet.size() == request.size() && packet[0] == (is_v4 ? v4_reply : v6_reply) &&
           std::memcmp(&packet[4], &request[4], request.size() - 4) == 0;
}

}  // namespace

bool Address::is_multicast() const noexcept {
    if (is_v4()) return IN_MULTICAST(ntohl(reinterpret_cast<const sockaddr_in*>(&socket_address)->sin_addr.s_addr));
    return IN6_IS_ADDR_MULTICAST(&reinterpret_cast<const sockaddr_in6*>(&socket_address)->sin6_addr);
}

const sockaddr* Address::get() const noexcept { return reinterpret_cast<const sockaddr*>(&socket_address); }

void Address::set_port(std::uint16_t port) noexcept {
    // At the same place in both.
    reinterpret_cast<sockaddr_in*>(&socket_address)->sin_port = htons(port);
}

std::optional<Address> parse_address(const std::string& text, unsigned interface_index) {
    Address address{.text = text};
    sockaddr_in v4{.sin_family = AF_INET};
    sockaddr_in6 v6{.sin6_family = AF_INET6, .sin6_scope_id = interface_index};
    if (::inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) {
        std::memcpy(&address.socket_address, &v4, sizeof v4);
    } else if (::inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) == 1) {
        std::memcpy(&address.socket_address, &v6, sizeof v6);
    } else {
        return {};
    }
    address.text = text_of(address.socket_address);
    return address;
}

std::string text_of(const sockaddr_storage& address) {
    std::array<char, INET6_ADDRSTRLEN> text{};
    const void* octets = &reinterpret_cast<const sockaddr_in*>(&address)->sin_addr;
    if (address.ss_family == AF_INET6) octets = &reinterpret_cast<const sockaddr_in6*>(&address)->sin6_addr;
    return ::inet_ntop(address.ss_family, octets, text.data(), text.size()) ? text.data() : std::string{};
}

std::uint16_t internet_checksum(std::span<const std::uint8_t> octets) {
    std::uint32_t sum = 0;
    for (std::size_t i = 0; i < octets.size(); ++i)
        sum += i % 2 ? octets[i] : static_cast<std::uint32_t>(octets[i]) << 8;
    while (sum >> 16) sum = (sum & 0xffff) + (sum >> 16);
    return static_cast<std::uint16_t>(~sum);
}

void Sockets::join(const Link& link, const Address& group) {
    if (!group.is_multicast()) fail(group.text + " is no multicast address");
    const auto key = key_of(link, group.text);
    if (memberships_.contains(key)) return;
    if (memberships_.size() >= most_sockets) fail("too many groups");
    // A socket each: the kernel bounds the groups of one.
    auto socket = open_socket(link, group.is_v4(), SOCK_DGRAM, 0);
    join_group(socket, link, group);
    memberships_.emplace(key, std::move(socket));
}

void Sockets::leave(const Link& link, const Address& group) {
    if (memberships_.erase(key_of(link, group.text)) == 0) fail("not joined");
}

void Sockets::send(const Link& link, Address to, std::uint16_t port, std::span<const std::uint8_t> payload, int ttl) {
    const auto socket = open_socket(link, to.is_v4(), SOCK_DGRAM, 0);
    const int yes = 1, index = static_cast<int>(link.index);
    if (to.is_v4()) {
        const ip_mreqn by{.imr_ifindex = index};
        set(socket, SOL_SOCKET, SO_BROADCAST, yes, "SO_BROADCAST");
        set(socket, IPPROTO_IP, IP_MULTICAST_IF, by, "IP_MULTICAST_IF");
        set(socket, IPPROTO_IP, IP_MULTICAST_TTL, ttl, "IP_MULTICAST_TTL");
        // A socket refuses to send unicast with 0; the option for multicast takes it.
        if (!to.is_multicast()) set(socket, IPPROTO_IP, IP_TTL, ttl, "IP_TTL");
    } else {
        set(socket, IPPROTO_IPV6, IPV6_MULTICAST_IF, index, "IPV6_MULTICAST_IF");
        set(socket, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, ttl, "IPV6_MULTICAST_HOPS");
        set(socket, IPPROTO_IPV6, IPV6_UNICAST_HOPS, ttl, "IPV6_UNICAST_HOPS");
    }
    to.set_port(port);
    if (::sendto(socket.value(), payload.data(), payload.size(), 0, to.get(), to.size()) < 0)
        fail("cannot send: " + error_text(errno));
}

void Sockets::listen(const Link& link, const std::optional<Address>& to, std::uint16_t port) {
    if (to) return listen_to(link, *to, port);
    listen_to(link, *parse_address("0.0.0.0", link.index), port);
    listen_to(link, *parse_address("::", link.index), port);
}

void Sockets::listen_to(const Link& link, const Address& to, std::uint16_t port) {
    const auto key = key_of(link, to.text + ' ' + std::to_string(port));
    if (listeners_.contains(key)) return;
    if (listeners_.size() >= most_sockets) fail("too many listeners");
    auto socket = open_socket(link, to.is_v4(), SOCK_DGRAM, 0);
    const int yes = 1, room = 1 << 20;
    set(socket, SOL_SOCKET, SO_REUSEADDR, yes, "SO_REUSEADDR");
    set(socket, SOL_SOCKET, SO_RCVBUF, room, "SO_RCVBUF");
    if (to.is_v4()) {
        set(socket, IPPROTO_IP, IP_PKTINFO, yes, "IP_PKTINFO");
        set(socket, IPPROTO_IP, IP_RECVTTL, yes, "IP_RECVTTL");
    } else {
        set(socket, IPPROTO_IPV6, IPV6_V6ONLY, yes, "IPV6_V6ONLY");
        set(socket, IPPROTO_IPV6, IPV6_RECVPKTINFO, yes, "IPV6_RECVPKTINFO");
        set(socket, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, yes, "IPV6_RECVHOPLIMIT");
    }
    auto bound = to;
    bound.set_port(port);
    if (::bind(socket.value(), bound.get(), bound.size()) != 0) fail("cannot listen: " + error_text(errno));
    if (to.is_multicast()) join_group(socket, link, to);
    listeners_.emplace(key, Listener{std::move(socket), port});
}

Json Sockets::received() {
    // An answer holds 64 KiB; what finds no room waits in its socket for the next one.
    constexpr std::size_t most_octets = 28000, each = 100;
    Json datagrams = Json::array();
    std::vector<std::uint8_t> payload(65536);
    std::array<char, 256> control;
    std::size_t size = 0;
    for (auto& [key, listener] : listeners_) {
        while (size < most_octets) {
            sockaddr_storage from{};
            iovec part{payload.data(), payload.size()};
            msghdr message{.msg_name = &from,
                           .msg_namelen = sizeof from,
                           .msg_iov = &part,
                           .msg_iovlen = 1,
                           .msg_control = control.data(),
                           .msg_controllen = control.size()};
            // A first look: what does not fit into this answer is left in the socket.
            const auto peeked = ::recv(listener.socket.value(), nullptr, 0, MSG_PEEK | MSG_TRUNC);
            if (peeked < 0) break;
            const auto length = static_cast<std::size_t>(peeked);
            if (size > 0 && size + length + each > most_octets) return datagrams;
            if (::recvmsg(listener.socket.value(), &message, 0) < 0) break;
            size += length + each;
            if (length > most_octets) continue;  // no answer can hold it
            const auto extra = ancillary_of(message);
            datagrams.push_back({{"from", text_of(from)},
                                 {"to", extra.to},
                                 {"port", listener.port},
                                 {"payload", hex(std::span(payload).first(length))},
                                 {"ttl", extra.ttl}});
        }
    }
    return datagrams;
}

bool Sockets::ping(const Link& link, const Address& to, std::size_t size, milliseconds patience,
                   const Interruption& interruption) {
    static std::uint16_t count = 0;
    const auto identifier = static_cast<std::uint16_t>(static_cast<unsigned>(::getpid()) * 31u + ++count);
    const auto socket = open_socket(link, to.is_v4(), SOCK_RAW, to.is_v4() ? int{IPPROTO_ICMP} : int{IPPROTO_ICMPV6});
    const int room = 1 << 20;
    set(socket, SOL_SOCKET, SO_RCVBUF, room, "SO_RCVBUF");
    set(socket, SOL_SOCKET, SO_SNDBUF, room, "SO_SNDBUF");
    const auto request = echo_request(to.is_v4(), identifier, size);
    if (::sendto(socket.value(), request.data(), request.size(), 0, to.get(), to.size()) < 0)
        fail("cannot send: " + error_text(errno));
    std::vector<std::uint8_t> packet(size + 128);
    return wait_until(interruption, patience, [&] {
        for (;;) {
            const auto got = ::recv(socket.value(), packet.data(), packet.size(), 0);
            if (got < 0) return false;
            if (is_echo_reply(std::span(packet).first(static_cast<std::size_t>(got)), to.is_v4(), request)) return true;
        }
    });
}

void Sockets::close_all() noexcept {
    memberships_.clear();
    listeners_.clear();
}

}  // namespace ipoib::host
