// SPDX-License-Identifier: GPL-2.0-or-later
#include "protocol/build/connection.hpp"
#include "traffic-gen/profile.hpp"

namespace ipoib::traffic {
using namespace wire;

namespace {

/// One host at its end of a connection.
struct Party {
    build::Node node;
    build::ConnectionEnd end;
    std::uint32_t sent = 0, taken = 0;  ///< messages
};

build::ConnectionEnd end(std::uint32_t number) {
    constexpr std::uint32_t first_id = 0x100, first_qpn = 0x800000, qpns = 0x100000;
    return {.id = first_id + number, .qpn = first_qpn + number % qpns, .psn = number % qpns};
}

auto unflagged(const Party& party) { return party.node.link_address().set(LinkAddress::flags, 0).octets; }

class Connection {
public:
    /// The `number`th of all: it has communication IDs and queue pairs of its own.
    Connection(Stage& stage, const Net& net, std::size_t from, std::size_t to, std::uint32_t number)
        : stage_(stage),
          link_(net.link),
          active_{.node = net.host(from), .end = end(3 * number)},
          passive_{.node = net.host(to), .end = end(3 * number + 1)},
          refused_(end(3 * number + 2)) {
        active_.node.link_flags = passive_.node.link_flags = flag_rc;
    }

    /// By addresses that announce RC. RFC 4755, 3.1.
    void resolve() {
        stage_.send(build::arp_request(active_.node, passive_.node.ipv4, link_));
        stage_.send(build::arp_reply(passive_.node, active_.node, link_));
    }
    /// RFC 4755, 3.2.
    void begin() {
        stage_.send(build::connection_request(active_.node, passive_.node, link_, active_.end));
        accept();
    }
    /// Where REQs cross, the side with the smaller link-layer address is the one that accepts. RFC 4755, 3.3.
    void begin_crossing() {
        constexpr std::uint16_t consumer_reject = 28;
        if (unflagged(active_) < unflagged(passive_)) std::swap(active_, passive_);
        stage_.send(build::connection_request(active_.node, passive_.node, link_, active_.end));
        stage_.send(build::connection_request(passive_.node, active_.node, link_, refused_));
        stage_.send(build::connection_rejection(active_.node, passive_.node, link_, refused_.id, consumer_reject));
        accept();
    }
    /// RFC 4755, 4.
    void echo(std::uint16_t sequence, std::size_t size) {
        say(active_, passive_, build::echo_request(active_.node, passive_.node, link_, sequence, size));
        say(passive_, active_, build::echo_reply(passive_.node, active_.node, link_, sequence, size));
    }
    void close() {
        stage_.send(build::disconnection_request(active_.node, passive_.node, link_, active_.end, passive_.end));
        stage_.send(build::disconnection_reply(passive_.node, active_.node, link_, passive_.end, active_.end));
    }

private:
    void accept() {
        stage_.send(build::connection_reply(passive_.node, active_.node, link_, passive_.end, active_.end.id));
        stage_.send(build::connection_ready(active_.node, passive_.node, link_, active_.end, passive_.end));
    }
    void say(Party& from, Party& to, build::PacketBuilder datagram) {
        const auto psn = (to.end.psn + from.sent++) & 0xffffff;
        const auto message = build::over_connection(std::move(datagram), to.end.qpn, psn);
        stage_.send(message);
        stage_.send(build::acknowledgement(message.get<Lrh>(), message.get<Bth>(), from.end.qpn,
                                           {.psn = psn, .messages = ++to.taken}));
    }

    Stage& stage_;
    build::Link link_;
    Party active_, passive_;
    build::ConnectionEnd refused_;  ///< of the REQ that is in vain where two cross
};

}  // namespace

const Profile connected{
    .name = "connected",
    .what = "echo over reliable connections between neighbours, which are made and ended by CM",
    .no_fabric = "there are no queue pairs behind its connections",
    .play =
        [](Stage& stage) {
            const auto& net = stage.scene().net();
            constexpr std::uint16_t echoes = 4;
            for (std::uint32_t i = 0; stage.goes_on(); ++i) {
                Connection connection{stage, net, i, i + 1, i};
                connection.resolve();
                const bool is_crossing = i % 2 != 0;
                is_crossing ? connection.begin_crossing() : connection.begin();
                for (std::uint16_t n = 0; n < echoes; ++n) connection.echo(n, stage.size());
                connection.close();
            }
        },
};

}  // namespace ipoib::traffic
