// SPDX-License-Identifier: GPL-2.0-or-later
// How the captures of multicast that does not work are made. Three hosts come up, resolve and reach each other; then
// one sends to an IP group that the others want to receive.
#include "captures/causes.hpp"

#include "captures/recorder.hpp"
#include "protocol/build/dhcp.hpp"
#include "protocol/build/management.hpp"
#include "protocol/build/samples.hpp"
#include "protocol/wire/igmp.hpp"
#include "protocol/wire/mgid.hpp"

#include <array>

namespace ipoib::captures {
namespace {

using namespace build;
using namespace wire;
using M = McMemberRecord;
using component = McMemberRecord::component;

constexpr std::int64_t second = 1'000'000'000;
constexpr std::uint32_t group_address = 0xef010203, other_address = 0xef070707;
constexpr std::uint16_t group_mlid = 0xc002, other_mlid = 0xc001;
constexpr std::size_t size = 64;
constexpr std::uint8_t ten_gigabit = 3;

const Node sender = samples::host(1), receiver = samples::host(2), third = samples::host(3), sa = samples::sa();

/// Packets of one link, and what the SA and the hosts say to each other about it.
class Story {
public:
    explicit Story(const std::string& path) : record_(capture::Writer::pcap(path, capture::LinkType::erf)) {}

    Story& operator()(const PacketBuilder& packet) {
        record_(packet);
        return *this;
    }
    Story& pause(std::int64_t seconds) {
        record_.pause(seconds * second);
        return *this;
    }

    /// The join that the life of a port on the link begins with.
    void join_broadcast(const Node& host) {
        const auto mgid = link.broadcast_gid();
        ask(host, plain(host, mgid, join_state::full_member).set(M::p_key, link.p_key),
            component::join | component::p_key);
        grant(host, mgid, link.broadcast_mlid, join_state::full_member, component::join | component::p_key);
    }
    void subscribe(const Node& host) {
        for (const auto number : {trap::multicast_group_created, trap::multicast_group_deleted}) {
            ++transaction_;
            (*this)(subscription(host, sa, Method::set, transaction_, number));
            (*this)(subscription(sa, host, Method::get_resp, transaction_, number));
        }
        subscribers_.push_back(host);
    }
    void forget_subscribers() { subscribers_.clear(); }
    /// ARP, the paths and an echo, in both directions.
    void resolve(const Node& from, const Node& to) {
        (*this)(arp_request(from, to.ipv4, link));
        path(to, from);
        (*this)(arp_reply(to, from, link));
        path(from, to);
        ping(from, to, 1);
    }
    void ping(const Node& from, const Node& to, std::uint16_t sequence) {
        (*this)(echo_request(from, to, link, sequence))(echo_reply(to, from, link, sequence));
    }

    /// A FullMember join that gives all of the link's parameters, as it must in case the group does not exist.
    void join(const Node& host, const Gid& mgid, std::uint16_t mlid, bool creates = false) {
        ask(host, creation(host, mgid), creation_components);
        grant(host, mgid, mlid, join_state::full_member, creation_components);
        if (creates)
            for (const auto& subscriber : subscribers_) report_creation(subscriber, mgid);
    }
    void join_to_send(const Node& host, const Gid& mgid, std::uint16_t mlid) {
        ask(host, plain(host, mgid, join_state::send_only_non_member), component::join);
        grant(host, mgid, mlid, join_state::send_only_non_member, component::join);
    }
    void refused_join_to_send(const Node& host, const Gid& mgid) {
        ask(host, plain(host, mgid, join_state::send_only_non_member), component::join);
        refuse(host, component::join);
    }
    /// A FullMember join with one value that is not the group's.
    template <class T>
    void refused_join(const Node& host, const Gid& mgid, const Field<M, T>& field, T value) {
        ask(host, creation(host, mgid).set(field, value), creation_components);
        refuse(host, creation_components);
    }
    /// A FullMember join that would create the group, for which the SA has no room.
    void refused_group(const Node& host, const Gid& mgid) {
        ask(host, creation(host, mgid), creation_components);
        refuse(host, creation_components, sa_status::no_resources);
    }
    /// A join of the broadcast group with another P_Key than the link has.
    void refused_join_with_p_key(const Node& host, std::uint16_t p_key) {
        constexpr auto components = component::join | component::p_key;
        ask(host, plain(host, link.broadcast_gid(), join_state::full_member).set(M::p_key, p_key), components);
        refuse(host, components);
    }
    /// An echo of so many octets from the sender to the receiver.
    void echo_of(std::size_t octets, bool is_answered) {
        ++echoes_;
        (*this)(echo_request(sender, receiver, link, echoes_, octets));
        if (is_answered) (*this)(echo_reply(receiver, sender, link, echoes_, octets));
        pause(1);
    }
    /// A lease that a port gets from the receiver's server, by the client identifier of `named`.
    void lease(const Node& host, const Node& named, std::uint32_t address) {
        const auto request =
            dhcp_request(named, link, ++dhcp_transaction_, address, receiver.ipv4).set(Grh::sgid, host.gid);
        (*this)(request)(dhcp_reply(receiver, host, link, DhcpType::ack, request.get<Dhcp>(), {.address = address}));
    }
    void report_membership(const Node& host) {
        (*this)(igmp(host, igmp_type::report_v2, group_address, group_mlid, link));
    }
    /// The SM tells a port that it has forgotten what the port had registered.
    void ask_to_register_anew(const Node& host) {
        constexpr std::uint8_t four_lanes = 2, single_data_rate = 1;
        Bytes<PortInfo> info;
        info.set(PortInfo::gid_prefix, samples::default_prefix)
            .set(PortInfo::lid, host.lid)
            .set(PortInfo::master_sm_lid, sa.lid)
            .set(PortInfo::neighbor_mtu, link.mtu)
            .set(PortInfo::client_reregister, true);
        constexpr std::uint8_t management_lane = 15;
        auto told = port_info(sa, host, Method::set, info);
        info.set(PortInfo::port_state, PortState::active)
            .set(PortInfo::link_width_active, four_lanes)
            .set(PortInfo::link_speed_active, single_data_rate);
        auto answer = port_info(host, sa, Method::get_resp, info);
        (*this)(told.set(Lrh::vl, management_lane))(answer.set(Lrh::vl, management_lane));
    }

    [[nodiscard]] Gid group() const { return mgid_for_ipv4(group_address, link.p_key, link.scope); }
    [[nodiscard]] PacketBuilder datagram() const { return udp_to_group(sender, group_address, group_mlid, link, size); }

    const build::Link link = samples::controlled();

private:
    static constexpr std::uint64_t creation_components = component::create | component::mtu_selector | component::mtu |
                                                         component::rate_selector | component::rate |
                                                         component::hop_limit;

    [[nodiscard]] static Bytes<M> plain(const Node& host, const Gid& mgid, std::uint8_t state) {
        Bytes<M> asked;
        return asked.set(M::mgid, mgid).set(M::port_gid, host.gid).set(M::join_state, state);
    }
    [[nodiscard]] Bytes<M> creation(const Node& host, const Gid& mgid) const {
        return build::group_record(host, link, mgid, 0, join_state::full_member)
            .set(M::lifetime_selector, 0)
            .set(M::scope, 0);
    }
    void ask(const Node& host, const Bytes<M>& asked, std::uint64_t components) {
        (*this)(mc_member(host, sa, Method::set, ++transaction_, asked, components));
    }
    void grant(const Node& host, const Gid& mgid, std::uint16_t mlid, std::uint8_t state, std::uint64_t components) {
        const auto granted = build::group_record(host, link, mgid, mlid, state);
        (*this)(mc_member(sa, host, Method::get_resp, transaction_, granted, components));
    }
    void refuse(const Node& host, std::uint64_t components, std::uint16_t status = sa_status::invalid_request) {
        auto answer = mc_member(sa, host, Method::get_resp, transaction_, Bytes<M>{}, components);
        (*this)(answer.set(Mad::status, status));
    }
    void path(const Node& from, const Node& to) {
        ++transaction_;
        auto asked = path_record(from, sa, Method::get, transaction_, from, to, 0, 0);
        auto told = path_record(sa, from, Method::get_resp, transaction_, from, to, link.sl, ten_gigabit);
        (*this)(asked.set(PathRecord::p_key, link.p_key))(told.set(PathRecord::p_key, link.p_key));
    }
    void report_creation(const Node& subscriber, const Gid& mgid) {
        ++transaction_;
        auto report = group_report(sa, subscriber, trap::multicast_group_created, mgid);
        auto thanks = group_report(subscriber, sa, trap::multicast_group_created, mgid);
        thanks.set(Mad::method, Method::report_resp).set(Notice::issuer_lid, sa.lid).set(Notice::issuer_gid, sa.gid);
        (*this)(report.set(Mad::transaction_id, transaction_))(thanks.set(Mad::transaction_id, transaction_));
    }

    Recorder record_;
    std::vector<Node> subscribers_;
    std::uint64_t transaction_ = 0;
    std::uint16_t echoes_ = 100;  ///< beside those of ping()
    std::uint32_t dhcp_transaction_ = 7;
};

/// All hosts are on the link and reach each other.
void come_up(Story& story) {
    for (const auto& host : {sender, receiver, third}) {
        story.join_broadcast(host);
        story.subscribe(host);
    }
    story.pause(1);
    story.resolve(sender, receiver);
    story.resolve(sender, third);
    story.pause(1);
}

/// The first receiver creates the group, unless someone else has.
void receive(Story& story, const Node& host, bool creates = false) {
    story.join(host, story.group(), group_mlid, creates);
    story.report_membership(host);
}

/// Some packets, and so much time that nobody can still be about to do what he has not done.
void stream(Story& story, const PacketBuilder& packet) {
    for (int i = 0; i < 3; ++i) story(packet).pause(1);
    story.pause(40)(packet);
    story.ping(sender, third, 2);
}

/// What the sender does to the packets; all else is right.
template <class Change>
void with_datagrams(const std::string& path, Change&& change) {
    Story story{path};
    come_up(story);
    receive(story, receiver, true);
    receive(story, third);
    story.join_to_send(sender, story.group(), group_mlid);
    auto packet = story.datagram();
    change(packet);
    stream(story, packet);
}

/// The third host's join disagrees with the group's record; it asks again, as Linux does, and never becomes a member.
template <class T>
void with_refusal(const std::string& path, const Field<M, T>& field, T value) {
    Story story{path};
    come_up(story);
    receive(story, receiver, true);
    story.join_to_send(sender, story.group(), group_mlid);
    for (const std::int64_t backoff : {1, 2, 4}) {
        story.refused_join(third, story.group(), field, value);
        story(story.datagram()).pause(backoff);
    }
    stream(story, story.datagram());
}

void join_refused_rate(const std::string& path) {
    constexpr std::uint8_t two_and_a_half_gigabit = 2;
    with_refusal(path, M::rate, two_and_a_half_gigabit);
}

void join_refused_mtu(const std::string& path) {
    constexpr std::uint8_t four_thousand = 5;
    with_refusal(path, M::mtu, four_thousand);
}

/// The sender maps the address to another MGID, and makes a group of its own. As an SA creates groups for FullMember
/// joins only, it joins as one.
void with_other_group(const std::string& path, void (*change)(Gid&)) {
    Story story{path};
    come_up(story);
    receive(story, receiver, true);
    receive(story, third);
    auto mgid = story.group();
    change(mgid);
    story.join(sender, mgid, other_mlid, true);
    auto packet = udp_to_group(sender, group_address, other_mlid, story.link, size);
    stream(story, packet.set(Grh::dgid, mgid));
}

void p_key_without_membership_bit(const std::string& path) {
    with_other_group(path, [](Gid& mgid) { mgid.octets[4] &= 0x7f; });
}

void mapping_32_bit(const std::string& path) {
    with_other_group(path, [](Gid& mgid) { mgid.octets[12] |= 0xe0; });
}

/// The sender drops its packets when it may not join, and does not heed the report of the group's creation.
void sender_before_group(const std::string& path) {
    Story story{path};
    come_up(story);
    story.refused_join_to_send(sender, story.group());
    story.pause(5);
    receive(story, receiver, true);
    receive(story, third);
    story.pause(1);
    story.ping(sender, receiver, 2);
    story.pause(40);
    story.ping(sender, third, 2);
}

/// The sender takes the MLID of the group that it receives itself.
void dlid_not_mlid(const std::string& path) {
    Story story{path};
    come_up(story);
    story.join(sender, mgid_for_ipv4(other_address, story.link.p_key, story.link.scope), other_mlid, true);
    receive(story, receiver, true);
    receive(story, third);
    story.join_to_send(sender, story.group(), group_mlid);
    // Nothing that was queued before is on its way any more.
    story.pause(2);
    stream(story, story.datagram().set(Lrh::dlid, other_mlid));
}

void no_grh(const std::string& path) {
    with_datagrams(path, [](PacketBuilder& packet) { packet.remove<Grh>(); });
}

void wrong_q_key(const std::string& path) {
    static constexpr std::uint32_t usual_q_key = 0x0b1b;
    with_datagrams(path, [](PacketBuilder& packet) { packet.set(Deth::q_key, usual_q_key); });
}

/// The SM forgets everyone. The sender and the first receiver register anew, the third host does not.
void sm_restarted(const std::string& path) {
    Story story{path};
    come_up(story);
    receive(story, receiver, true);
    receive(story, third);
    story.join_to_send(sender, story.group(), group_mlid);
    story(story.datagram()).pause(1)(story.datagram()).pause(10);
    story.forget_subscribers();
    for (const auto& host : {sender, receiver, third}) story.ask_to_register_anew(host);
    for (const auto& host : {sender, receiver}) {
        story.join_broadcast(host);
        story.subscribe(host);
    }
    story.join(receiver, story.group(), group_mlid, true);
    story.join_to_send(sender, story.group(), group_mlid);
    stream(story, story.datagram());
}

/// What people suffer from and no text forbids, one after the other: an echo that arrives only if it is small, a lease
/// that another client identifier loses, a join with a P_Key that is none, and an SA without room for a group.
void field_troubles(const std::string& path) {
    Story story{path};
    come_up(story);
    story.echo_of(56, true);
    for (int i = 0; i < 5; ++i) story.echo_of(1800, false);
    story.echo_of(400, true);
    auto loader = third;
    constexpr std::uint64_t other_identifier = 0x77;
    loader.gid = Gid::of(third.gid.prefix(), other_identifier);
    constexpr std::uint32_t lease = 0x0a01000a, other_lease = 0x0a01000b;
    story.lease(third, third, lease);
    story.pause(1).lease(third, loader, lease);
    story.pause(1).lease(third, third, other_lease);
    constexpr std::uint16_t no_p_key = 0x8000;
    story.refused_join_with_p_key(samples::host(4), no_p_key);
    story.pause(1).refused_group(third, story.group());
    story.pause(1).refused_group(third, mgid_for_ipv4(other_address, story.link.p_key, story.link.scope));
}

constexpr std::array<Sample, 10> causes_made{{
    {"join-refused-rate.pcap", "a receiver asks for a Rate that the group does not have", join_refused_rate},
    {"join-refused-mtu.pcap", "a receiver asks for an MTU that the group does not have", join_refused_mtu},
    {"pkey-without-membership-bit.pcap", "the sender's MGID holds a P_Key without the full-membership bit",
     p_key_without_membership_bit},
    {"sender-before-group.pcap", "the sender asks before the group exists, and not again", sender_before_group},
    {"mapping-32-bit.pcap", "the sender maps all 32 bits of the IPv4 address", mapping_32_bit},
    {"dlid-not-mlid.pcap", "the sender's DLID is another group's MLID", dlid_not_mlid},
    {"no-grh.pcap", "the sender's multicast has no GRH", no_grh},
    {"wrong-q-key.pcap", "the sender's multicast has another Q_Key than the link", wrong_q_key},
    {"sm-restarted.pcap", "the SM asks all ports to register anew, and one receiver does not", sm_restarted},
    {"field-troubles.pcap", "no multicast: four troubles of the field that no text forbids", field_troubles},
}};

}  // namespace

std::span<const Sample> causes() { return causes_made; }

}  // namespace ipoib::captures
