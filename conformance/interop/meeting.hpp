// SPDX-License-Identifier: GPL-2.0-or-later
// What the steps of an exchange speak to: it steers both by their adapters, sends nothing itself, and finds in the
// frames between them who owed what.
#pragma once

#include "conformance/bench/recorder.hpp"
#include "conformance/bench/situation.hpp"
#include "conformance/interop/chain.hpp"
#include "conformance/interop/ledger.hpp"
#include "conformance/interop/place.hpp"
#include "protocol/wire/dhcp.hpp"

#include <set>
#include <vector>

namespace ipoib::conformance::interop {

/// One of the two as it stands on the link, by its adapter and by the subnet manager.
struct Peer {
    Side side{};
    InterfaceFacts facts;
    std::uint64_t guid = 0;          ///< of its port; 0: not known yet
    wire::Gid gid;                   ///< of its port, by the subnet manager
    std::set<std::uint16_t> lids{};  ///< in the exchange
    std::uint32_t qpn = 0;           ///< as its adapter tells
    wire::IpAddress ipv4, ipv6;      ///< zero: it has none
    [[nodiscard]] const wire::IpAddress& address(Family family) const noexcept {
        return family == Family::ipv4 ? ipv4 : ipv6;
    }
};

/// One of them was asked and could not.
struct SideRefused : std::runtime_error {
    SideRefused(Side which, const std::string& why) : std::runtime_error(why), side(which) {}
    Side side;
};

/// Its adapter tells of no port of this fabric: nobody knows which frames are its own.
struct SideUnknown : std::runtime_error {
    SideUnknown(Side which, const std::string& why) : std::runtime_error(why), side(which) {}
    Side side;
};

/// What one is set to once it is up.
struct Settings {
    std::string mode{};   ///< "datagram", "connected"; empty: as it is
    std::size_t mtu = 0;  ///< octets of an IP packet; 0: as it is
};

struct MeetingOptions {
    std::uint64_t seed = 1;
    double timeout_scale = 1;
    Each<Settings> settings{};
    /// Told of each charge, in words, when it is made; null: nobody listens.
    std::function<void(const std::string&)> charged{};
};

class Meeting {
public:
    /// Nothing is owned.
    Meeting(Place& place, Recorder& recorder, Ledger& ledger, const MeetingOptions& options);

    // What exchanges are made of. Each throws CaseEnds where it cannot be done here.

    /// Each is told to come up and must be a FullMember of the broadcast group: RFC 4391, 5.
    void bring_up();
    void take_down();
    /// One of them begins anew, with whatever queue pair it gets. A note tells where its QPN stays.
    void restart(Side side);
    /// "It asks for the other's address, gets it, asks, and is answered."
    /// Whether it did.
    bool ping(Way way, Family family, std::size_t size);
    /// The same, to another address of the other.
    bool ping(Way way, const wire::IpAddress& to, std::size_t size);
    /// Payloads of echo requests that matter: none, few octets, a whole packet, and what goes in fragments.
    [[nodiscard]] std::vector<std::size_t> sizes(Family family) const;
    /// The most that fits into a packet of both.
    [[nodiscard]] std::size_t most_in_one_packet(Family family) const;
    /// A datagram that goes to a group or to everybody; who is to get it must be in the group.
    void datagram(Way way, const wire::IpAddress& to);
    void join(Side side, const wire::IpAddress& group);
    void leave(Side side, const wire::IpAddress& group);
    /// A group that nobody has used before.
    [[nodiscard]] wire::IpAddress fresh_group(Family family);
    /// Both forget what they know of each other's address, as far as they can.
    void forget_each_other();
    /// Whether it takes the mode.
    [[nodiscard]] bool set_mode(Side side, std::string_view mode);
    /// A lease from the one's DHCP server for the other's client; then the address works.
    void lease(Way server_to_client);
    /// Stops subnet manager and administrator and starts them again without what they knew. Both must join again.
    void restart_manager();

    /// Begins the titles of what is charged.
    void step(std::string_view title);
    [[nodiscard]] bool can(Side side, std::string_view request) { return place_.dut(side).can(request); }
    /// Ends the exchange as NA where one of them has no address of the family.
    void need(Family family);
    /// Ends the exchange as NA, for what `side` lacks.
    [[noreturn]] void not_applicable(Side side, const std::string& lacks) const;
    /// The same for what both lack together.
    [[noreturn]] void not_applicable(const std::string& why) const;
    /// Something that no text of IPoIB forbids, and that users suffer from.
    void find(Side side, std::string finding, std::string text) {
        ledger_[side].findings.emplace_back(std::move(finding), std::move(text));
    }
    void note(Side side, const std::string& text) { ledger_[side].notes.push_back(text); }

    [[nodiscard]] const Peer& peer(Side side) const noexcept { return peers_[side]; }
    /// How many frames there were when both were up.
    [[nodiscard]] std::size_t began() const noexcept { return began_; }
    void begins_now() noexcept { began_ = recorder_.size(); }
    /// Of the port, in the frames so far.
    [[nodiscard]] std::optional<Side> sender(const wire::Packet& packet) const;

private:
    /// Asks its adapter. Throws SideBroken, SideRefused, Unsupported.
    template <class Ask>
    auto ask(Side side, const Ask& request);
    [[nodiscard]] fabric::Loop& loop() { return place_.fabric().loop(); }
    [[nodiscard]] fabric::Duration scaled(fabric::Duration usual) const;
    bool wait_until(const std::function<bool()>& done, fabric::Duration usual);
    /// Asks the adapter and the subnet manager where it stands; whether it is up and a FullMember.
    bool look_at(Side side);
    void give_addresses(Side side);
    void apply_settings(Side side);
    void wait_for_ipv6(Side side);
    [[nodiscard]] bool is_member(Side side, const wire::Gid& mgid, std::uint8_t states);
    [[nodiscard]] wire::Gid mgid_of(const wire::IpAddress& group) const;
    void kept(Side side, const requirements::Requirement& by) { ++ledger_[side].kept[&by]; }
    /// Throws CaseEnds where the run is told to stop.
    void charge(Side side, const requirements::Requirement& by, std::size_t frame, std::string expected,
                std::string actual);
    /// Who can ping whom where something did not come.
    struct Probe {
        Way way;
        wire::IpAddress to;
    };
    /// Charges the first leg that is missing, or the effect; counts those before it as kept.
    void settle(const std::vector<Leg>& legs, const Effect& effect, bool is_effective, std::size_t begin,
                const std::string& said, const std::optional<Probe>& probe = {});
    /// Ends the exchange where the last that was seen came when who had asked for it need not wait any more.
    void demand_in_time(const std::vector<Leg>& legs, const Reached& far) const;
    /// Ends the exchange where a Series of short pings tells that packets are lost, which is nobody's fault.
    void demand_no_loss(const Probe& probe);
    [[nodiscard]] std::vector<Leg> resolution(Way way, const wire::IpAddress& to);
    [[nodiscard]] std::vector<Leg> connection(Way way) const;
    [[nodiscard]] std::vector<Leg> echo(Way way, const wire::IpAddress& to) const;
    /// A request of a client that has named itself otherwise in its discovery, since this frame.
    [[nodiscard]] Astray renamed_since(std::size_t begin, const wire::Packet& request) const;
    [[nodiscard]] Leg dhcp_leg(Side owes, wire::DhcpType type, const requirements::Requirement& by);
    /// Whether it is in the group in which its IPv6 address is solicited; else that is charged to it.
    bool can_be_solicited(Side side, const wire::IpAddress& address);
    void listen(Side side);
    /// What has come to listening_port with this payload, since the last call.
    [[nodiscard]] bool has_received(Side side, const std::string& payload);
    /// Who of them has since left the broadcast group, or asked for it: it was not there all the time.
    [[nodiscard]] std::optional<Side> left_link_since(std::size_t begin) const;
    /// Why a unicast frame does not get to it.
    [[nodiscard]] Astray astray_to(Side to, const wire::Packet& packet) const;
    [[nodiscard]] Astray astray_to_group(Side from, const wire::Gid& mgid, const wire::Packet& packet);
    /// A link-layer address that it has told, since it began anew.
    struct Announced {
        std::size_t frame;
        std::uint32_t qpn;
        wire::Gid gid;
    };
    [[nodiscard]] std::vector<Announced> announced(Side side) const;
    /// Nobody can reach who tells of another port as its own: whether it did.
    bool charge_wrong_address(Side side);

    Place& place_;
    Recorder& recorder_;
    Ledger& ledger_;
    const MeetingOptions& options_;
    build::Link link_;
    Each<Peer> peers_;
    std::string step_;
    std::size_t began_ = 0, step_began_ = 0;
    std::uint16_t number_ = 0;
    std::set<Side> listening_;
    Each<std::size_t> anew_;  ///< frames before the last restart: what was announced there holds no more
};

}  // namespace ipoib::conformance::interop
