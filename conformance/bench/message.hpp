// SPDX-License-Identifier: GPL-2.0-or-later
// What a tester says: a whole valid packet by its purpose, with the fields that are the point of the case set by name.
#pragma once

#include "conformance/bench/situation.hpp"
#include "protocol/build/headers.hpp"
#include "protocol/build/management.hpp"

#include <functional>
#include <string>
#include <vector>

namespace ipoib::conformance {

/// A packet that is made when it is sent, out of the situation then. Everything unsaid is right by RFC 4391.
class Message {
public:
    using Make = std::function<build::PacketBuilder(const Situation&)>;
    Message(std::string what, Make make) : what_(std::move(what)), make_(std::move(make)) {}

    /// Sets a field of the packet to what the case needs, right or wrong; all else follows from it.
    template <class Header, class T>
    [[nodiscard]] Message with(const wire::Field<Header, T>& field, const std::type_identity_t<T>& value) const {
        return edited(" with " + words(wire::spec_of<Header>, field, value),
                      [=](build::PacketBuilder& packet) { packet.set(field, value); });
    }
    /// One for each value.
    template <class Header, class T>
    [[nodiscard]] std::vector<Message> with_each(const wire::Field<Header, T>& field,
                                                 const std::vector<T>& values) const {
        std::vector<Message> all;
        all.reserve(values.size());
        for (const auto& value : values) all.push_back(with(field, value));
        return all;
    }
    /// Takes a header away.
    template <class Header>
    [[nodiscard]] Message without() const {
        return edited(" without " + std::string(Header::name),
                      [](build::PacketBuilder& packet) { packet.template remove<Header>(); });
    }
    /// Sets the field of whichever header the packet has, in IPv4 and IPv6.
    template <class Header, class Other, class T>
    [[nodiscard]] Message with_either(const wire::Field<Header, T>& field, const wire::Field<Other, T>& other,
                                      const std::type_identity_t<T>& value) const {
        return edited(" with " + words(wire::spec_of<Header>, field, value), [=](build::PacketBuilder& packet) {
            if (packet.has(wire::spec_of<Header>))
                packet.set(field, value);
            else
                packet.set(other, value);
        });
    }
    /// Any other change, with its words (" with ...").
    [[nodiscard]] Message edited(const std::string& words,
                                 const std::function<void(build::PacketBuilder&)>& edit) const;

    /// Only the first octets of what the datagram carries, from the encapsulation header or the MAD header on: every
    /// field in them says what it said, and the frame around them is whole.
    [[nodiscard]] Message cut_to(std::size_t octets) const;
    /// With so many octets behind it of which no length in it knows.
    [[nodiscard]] Message followed_by(std::size_t octets) const;

    /// How many octets its datagram carries, as cut_to() counts them.
    [[nodiscard]] std::size_t carries(const Situation& situation) const;

    [[nodiscard]] build::PacketBuilder make(const Situation& situation) const { return make_(situation); }
    /// "ICMP echo request with Encap.Reserved 0xffff".
    [[nodiscard]] const std::string& what() const noexcept { return what_; }

private:
    template <class Header, class T>
    static std::string words(const wire::HeaderSpec& header, const wire::Field<Header, T>& field, const T& value) {
        return std::string(header.name) + '.' + std::string(field.name) + ' ' +
               wire::value_text(field, wire::Bytes<Header>{}.set(field, value).octets.data());
    }
    std::string what_;
    Make make_;
};

/// Echo request to the DUT, in the family of the situation: unicast, without GRH; its identifier is the nonce.
[[nodiscard]] Message echo_request(std::size_t payload = 56);
/// The same in IPv6.
[[nodiscard]] Message echo_request6(std::size_t payload = 56);
/// As echo_request(), with a GRH.
[[nodiscard]] Message echo_request_with_grh(std::size_t payload = 56);
/// The answer to an echo request of the DUT that came whole.
[[nodiscard]] Message echo_answer(std::uint16_t identifier, std::uint16_t sequence, std::vector<std::uint8_t> payload);
/// The tester tells everybody of its link-layer address, unasked: gratuitous ARP, or to the DUT a Neighbour
/// Advertisement with the Override flag, in the family of the situation.
[[nodiscard]] Message announcement();
/// The same by the answer that all hear: an ARP reply by broadcast; in IPv6 an advertisement to all nodes, whose group
/// has this MLID.
[[nodiscard]] Message announcement_to_all(std::uint16_t mlid_of_all_nodes);
/// Who has the DUT's address, in the family of the situation? ARP to the broadcast group; Neighbour Solicitation to the
/// DUT itself, as the solicited-node group asks for a join.
[[nodiscard]] Message address_request();
/// The same from another address of the family, which is told as the tester's.
[[nodiscard]] Message address_request_from(const wire::IpAddress& sender);
/// Straight to the DUT, with a GRH.
[[nodiscard]] Message address_request_with_grh();
/// ARP request for the DUT's IPv4 address to the broadcast group. RFC 4391, 9.2.
[[nodiscard]] Message arp_request();
/// The same straight to the DUT.
[[nodiscard]] Message unicast_arp_request();
/// Neighbour Solicitation for the DUT's link-local address, to it directly: the answer may leave the link-layer address
/// out. RFC 4391, 9.3.
[[nodiscard]] Message unicast_neighbour_solicitation();
/// The same to the address's solicited-node group, which has this MLID.
[[nodiscard]] Message neighbour_solicitation(std::uint16_t mlid);
/// UDP datagram to an IP group that the tester has joined or knows (BenchSa::join); its source port is the nonce.
[[nodiscard]] Message udp_to_group(const wire::IpAddress& group, std::uint16_t mlid, std::uint16_t port,
                                   std::size_t payload = 32);
/// UDP datagram to 255.255.255.255 over the broadcast group.
[[nodiscard]] Message udp_broadcast(std::uint16_t port, std::size_t payload = 32);
/// A reply, or an advertisement, that nobody asked for: the tester's own address, straight to the DUT.
[[nodiscard]] Message unasked_arp_reply();
[[nodiscard]] Message unasked_neighbour_advertisement();
/// A piece of an IP datagram to the DUT, an echo request as far as it begins as one. RFC 791; RFC 8200, 4.5.
struct Fragment {
    std::uint16_t identification = 0;
    std::uint16_t offset = 0;  ///< in units of 8 octets
    std::size_t octets = 0;
    bool has_more = false;
};
[[nodiscard]] Message echo_fragment(const Fragment& fragment);
/// What a datagram or an echo request carries: the nonce in the first two octets, then each octet's own number.
[[nodiscard]] std::vector<std::uint8_t> payload_of(std::uint16_t nonce, std::size_t size);
/// UDP datagram straight to the DUT, in the family of the situation.
[[nodiscard]] Message udp_to_dut(std::uint16_t port, std::size_t payload = 32);

}  // namespace ipoib::conformance
