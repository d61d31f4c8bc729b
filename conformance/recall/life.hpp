// SPDX-License-Identifier: GPL-2.0-or-later
// The life of a link as the generator plays it: what hosts say, what is changed, and what each packet would be had its
// sender stayed with a value of before.
#pragma once

#include "conformance/metamorphic/keeper.hpp"
#include "conformance/recall/stale.hpp"
#include "protocol/build/connection.hpp"
#include "traffic-gen/profile.hpp"

#include <functional>
#include <set>
#include <tuple>

namespace ipoib::recall {

/// What a packet is made of.
struct View {
    build::Node from, to;
    build::Link link;
    wire::Gid mgid{};  ///< of the group that it goes to; zero: none
    std::uint16_t mlid = 0;
    std::size_t size = 64;             ///< of the payload
    std::uint32_t receive_mtu = 2044;  ///< of a connection
    build::ConnectionEnd own{}, remote{};
};

enum class Family : std::uint8_t { ipv4, ipv6 };

struct LifeOptions {
    Family family = Family::ipv4;
    std::uint64_t seed = 1;
    bool is_connected = false;  ///< interfaces have connected mode, and two of them use it
    bool has_machine = false;   ///< a virtual machine is at the second host's port
    bool has_router = false;    ///< the last host routes IP multicast
};

class Life {
public:
    Life(const LifeOptions& options, Trace& trace);

    using Make = std::function<build::PacketBuilder(const View& view)>;
    /// Sends a packet, and notes it with each former value that it could have.
    void say(Talk talk, const View& view, const Make& make);
    /// What a change demands, and what is broken when it is left out.
    template <class Act>
    void duty(std::string_view kind, Claim claim, const Act& act) {
        const auto begin = trace_.frames.size();
        act();
        left_out(kind, std::move(claim), begin, trace_.frames.size());
    }

    /// Ports come up, interfaces join, neighbours find each other.
    void comes_up();
    /// What goes on on the link, over and over, for some seconds each time.
    void goes_on(unsigned rounds);

    void manager_fails_over(bool asks_to_register, bool has_new_parameters);
    void restarts(std::size_t host, bool is_clean);
    void bounces(std::size_t host, bool asks_to_register);
    void address_moves(std::size_t from, std::size_t to);
    void machine_moves();
    void lid_changes(std::size_t host, bool asks_to_register);
    void partition_changes();
    void p_key_is_taken();
    void group_is_made_anew();
    void sender_leaves_and_rejoins();
    void listener_leaves_and_rejoins();
    void connection_is_made_anew(bool restarts);
    void prefix_changes();
    void group_is_new_to_router();

    [[nodiscard]] bool is_second_life() const noexcept { return options_.seed % 2 == 0; }
    [[nodiscard]] std::vector<Violation> take_violations() noexcept { return std::move(violations_); }

private:
    static constexpr std::size_t sender = 0, neighbour = 1, listener = 2, router = 3;

    /// A value that was another one. Flows that have used the new one are past the handover.
    struct Former {
        Field field;
        std::int64_t since;  ///< ns
        std::function<void(View& view)> back;
        std::set<std::tuple<Talk, std::uint32_t, std::uint32_t>> used{};
    };

    [[nodiscard]] bool is_ipv6() const noexcept { return options_.family == Family::ipv6; }
    void left_out(std::string_view kind, Claim claim, std::size_t begin, std::size_t end);
    /// What a sender may send no more, instead of the packet that it has sent last.
    void instead(std::string_view kind, Claim claim, build::PacketBuilder packet);
    void former(Field field, std::function<void(View& view)> back);
    [[nodiscard]] std::int64_t now() const { return trace_.frames.empty() ? 0 : trace_.frames.back().time; }
    /// Twelve seconds in which nobody speaks but others.
    void time_passes();
    void pause(std::int64_t milliseconds) { stage_.pause(std::chrono::milliseconds{milliseconds}); }

    [[nodiscard]] View view(std::size_t from, std::size_t to) const;
    [[nodiscard]] View group_view(std::size_t from, const wire::Gid& mgid);
    [[nodiscard]] wire::Gid group_mgid() const;
    [[nodiscard]] wire::Gid solicited_mgid(std::size_t host) const;
    [[nodiscard]] wire::Gid routers_mgid() const;
    [[nodiscard]] std::size_t largest() const;

    void port_is_set(std::size_t host, wire::PortState state, bool asks_to_register);
    void p_keys_are_set(std::size_t host, std::uint16_t p_key);
    void joins(std::size_t host, const wire::Gid& mgid, std::uint8_t state);
    void subscribes(std::size_t host);
    /// What is owed by who comes to the link: nothing that a statement demands, memberships, or subscriptions, too.
    enum class Owed : std::uint8_t { nothing, joins, all };
    void enters(std::size_t host, Owed owed);
    void uses_groups(bool is_anew);
    void listens(bool is_anew);
    void joins_to_send(bool is_anew);
    void announces(std::size_t host);
    void reports(bool is_join);
    void is_told(std::uint16_t trap, const wire::Gid& mgid);
    void resolves(std::size_t from, std::size_t to);
    void asks_for_path(std::size_t from, std::size_t to);
    void all_find(std::size_t host);
    void speaks(std::size_t from, std::size_t to, std::size_t size);
    void speaks_to_group(std::size_t size);
    [[nodiscard]] build::PacketBuilder group_packet(const View& view) const;
    void connects(std::uint32_t receive_mtu);
    void speaks_connected();
    void disconnects();
    void have_prefix(std::uint64_t prefix);
    void reads_table();
    void routes(bool is_anew);
    void queries();
    void others();

    LifeOptions options_;
    Trace& trace_;
    traffic::Scene scene_;
    metamorphic::Keeper keeper_;
    traffic::Stage stage_;
    build::Link link_;
    std::vector<build::Node> hosts_;
    std::size_t group_ = 0;  ///< of the scene's, which is listened and sent to
    std::uint32_t next_qpn_ = 0x300000, next_connection_ = 1;
    std::size_t others_ = 0;
    std::vector<Former> formers_;
    std::vector<Violation> violations_;
    bool is_connected_ = false;
    std::array<build::ConnectionEnd, 2> ends_{};
    std::array<std::uint32_t, 2> sent_{}, taken_{};
    std::uint32_t receive_mtu_ = 0;
};

}  // namespace ipoib::recall
