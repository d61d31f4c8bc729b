// SPDX-License-Identifier: GPL-2.0-or-later
// What a tester expects: which packet is the one, and what must be true of it.
#pragma once

#include "conformance/bench/situation.hpp"
#include "fabric/port.hpp"

#include <functional>
#include <string>
#include <vector>

namespace ipoib::conformance {

/// Whose eyes count.
enum class SeenBy : std::uint8_t {
    either,  ///< where the fabric shows everything it is enough that the packet was sent; else the tester must get it
    tester,  ///< the tester must get it: its queue pair takes it (P_Key, Q_Key, DestQP, group are right)
    anyone,  ///< it must be seen wherever it goes: a request to the SA. Needs Ability::see_all
};

/// ARP's addresses where they have 20 octets, whatever the lengths in its header say. RFC 4391, 9.2.
[[nodiscard]] wire::View<wire::ArpAddresses> arp_addresses_of(const wire::Packet& packet);

/// A header of a packet, where it stands.
template <class Header>
[[nodiscard]] const std::uint8_t* header_in(const wire::Packet& packet) {
    if constexpr (std::is_same_v<Header, wire::ArpAddresses>)
        return arp_addresses_of(packet).data();
    else
        return packet.get<Header>().data();
}

/// A packet that is looked for among those the DUT (or the SA) sends. `is_it` decides by exact fields and the nonce
/// whether it is the one; each claim is then judged.
class Expectation {
public:
    using IsIt = std::function<bool(const wire::Packet&, const Situation&)>;
    /// One field that the packet must have right.
    struct Claim {
        const wire::HeaderSpec* header;
        const wire::FieldSpec* field;
        std::function<const std::uint8_t*(const wire::Packet&)> header_at;  ///< null: the packet lacks the header
        std::function<bool(const std::uint8_t* header, const Situation&)> holds;
        std::string expected;  ///< in words
        /// That the header is there is the claim itself. A claim on a field of a GRH supposes that there is one:
        /// without it the case is INCONC, since that is a matter of RFC4391-6-07 and not of the field.
        bool is_presence = false;
    };

    Expectation(std::string what, IsIt is_it, SeenBy seen_by = SeenBy::either)
        : what_(std::move(what)), is_it_(std::move(is_it)), seen_by_(seen_by) {}

    /// Claims that a field has a value.
    template <class Header, class T>
    [[nodiscard]] Expectation with(const wire::Field<Header, T>& field, const std::type_identity_t<T>& value) const {
        return where(
            field, [value](const T& actual, const Situation&) { return actual == value; },
            wire::value_text(field, wire::Bytes<Header>{}.set(field, value).octets.data()));
    }
    /// Claims anything else of a field, in words.
    template <class Header, class T>
    [[nodiscard]] Expectation where(const wire::Field<Header, T>& field,
                                    std::function<bool(const std::type_identity_t<T>&, const Situation&)> holds,
                                    std::string expected) const {
        return claiming({&wire::spec_of<Header>, &field, header_in<Header>,
                         [field, holds = std::move(holds)](const std::uint8_t* header, const Situation& situation) {
                             return holds(wire::View<Header>::at({header, Header::size})[field], situation);
                         },
                         std::move(expected)});
    }
    /// Claims that a part of a GID, as `Part` divides it, is that of `right`: `with_part(R::mgid, Mgid::scope, mgid)`.
    template <class Header, class Part, class T>
    [[nodiscard]] Expectation with_part(const wire::Field<Header, wire::Gid>& field, const wire::Field<Part, T>& part,
                                        const wire::Gid& right) const {
        const auto of = [part](const wire::Gid& gid) { return wire::Bytes<Part>{gid.octets}[part]; };
        return where(
            field, [of, wanted = of(right)](const wire::Gid& gid, const Situation&) { return of(gid) == wanted; },
            std::string(part.name) + ' ' + wire::value_text(part, right.octets.data()) + ", as in " +
                wire::text(right));
    }
    /// Claims that the packet has a header (GRH) or has none.
    template <class Header>
    [[nodiscard]] Expectation having() const {
        return claiming({&wire::spec_of<Header>, &Header::fields[0], header_in<Header>,
                         [](const std::uint8_t*, const Situation&) { return true; }, "present", true});
    }
    /// Claims a field of the Source or Target Link-layer Address option, of whatever length it is. RFC 4391, 9.3.
    template <class T>
    [[nodiscard]] Expectation with_option(const wire::Field<wire::LinkAddressOption, T>& field,
                                          const std::type_identity_t<T>& value) const {
        return where_option(
            field, [value](const T& actual) { return actual == value; },
            wire::value_text(field, wire::Bytes<wire::LinkAddressOption>{}.set(field, value).octets.data()));
    }
    /// Claims anything else of such a field, in words.
    template <class T>
    [[nodiscard]] Expectation where_option(const wire::Field<wire::LinkAddressOption, T>& field,
                                           std::function<bool(const std::type_identity_t<T>&)> holds,
                                           std::string expected) const {
        using Option = wire::LinkAddressOption;
        return claiming({&wire::spec_of<Option>, &field,
                         [end = (field.at.bit + field.width) / 8u](const wire::Packet& packet) {
                             return link_address_option(packet, end);
                         },
                         [field, holds = std::move(holds)](const std::uint8_t* option, const Situation&) {
                             return holds(wire::View<Option>::at({option, Option::size})[field]);
                         },
                         std::move(expected)});
    }
    /// Claims that the IP packet of the family has so many octets, its header among them; or at most so many.
    [[nodiscard]] Expectation with_ip_length(Family family, std::size_t octets) const;
    [[nodiscard]] Expectation with_ip_length_up_to(Family family, std::size_t octets) const;
    /// Claims that there is such an option.
    [[nodiscard]] Expectation claiming_link_address_option() const;
    /// Means a packet only that has one.
    [[nodiscard]] Expectation with_link_address_option() const;
    /// Narrows which packet it is, without claiming anything.
    [[nodiscard]] Expectation such_that(const std::string& words, IsIt also) const;
    [[nodiscard]] Expectation claiming(Claim claim) const;

    [[nodiscard]] bool is_it(const wire::Packet& packet, const Situation& situation) const {
        return is_it_(packet, situation);
    }
    [[nodiscard]] SeenBy seen_by() const noexcept { return seen_by_; }
    /// The same packet, seen wherever it goes.
    [[nodiscard]] Expectation sent_anywhere() const { return seen_by(SeenBy::anyone); }
    /// The same packet, when the tester gets it.
    [[nodiscard]] Expectation that_arrives() const { return seen_by(SeenBy::tester); }
    [[nodiscard]] const std::vector<Claim>& claims() const noexcept { return claims_; }
    /// "an ICMP echo reply to it".
    [[nodiscard]] const std::string& what() const noexcept { return what_; }

private:
    /// The first of them that has `octets` octets; else null.
    [[nodiscard]] Expectation seen_by(SeenBy whom) const {
        auto other = *this;
        other.seen_by_ = whom;
        return other;
    }
    static const std::uint8_t* link_address_option(const wire::Packet& packet, std::size_t octets);
    std::string what_;
    IsIt is_it_;
    SeenBy seen_by_;
    std::vector<Claim> claims_;
};

/// Answers to the message sent last, from the DUT to the tester; `echo_reply` and `address_reply` in the family of the
/// situation.
[[nodiscard]] Expectation echo_reply();
/// The DUT says that nobody listens at this UDP port of its: an error of ICMP. RFC 792; RFC 4443, 3.1.
[[nodiscard]] Expectation port_unreachable(std::uint16_t port);
[[nodiscard]] Expectation echo_reply6();
[[nodiscard]] Expectation address_reply();
[[nodiscard]] Expectation arp_reply();
[[nodiscard]] Expectation neighbour_advertisement();
/// What the DUT sends of its own accord or because it was told to.
[[nodiscard]] Expectation arp_request_for(std::uint32_t address);
[[nodiscard]] Expectation neighbour_solicitation_for(const wire::Gid& address);
/// One of both, by the address.
[[nodiscard]] Expectation address_request_for(const wire::IpAddress& address);
/// A UDP datagram of the DUT to an IP destination and port, over whichever group it goes.
[[nodiscard]] Expectation udp_from_dut(const wire::IpAddress& to, std::uint16_t port);
/// The DUT's request to the SA about a group: a join (Set), a leave (Delete), a query (Get or GetTable).
[[nodiscard]] Expectation join_of(const wire::Gid& mgid);
/// Such a join that gives the parameters of a new group too.
[[nodiscard]] Expectation creating_join_of(const wire::Gid& mgid);
[[nodiscard]] Expectation leave_of(const wire::Gid& mgid);
[[nodiscard]] Expectation query_of(const wire::Gid& mgid);
/// The DUT's question to the SA for a path between it and a port, whichever way: by Get, by a table that tells of more
/// paths, by GetMulti.
[[nodiscard]] Expectation path_question_about(const wire::Gid& gid);
/// The DUT's question to the SA for the list of all groups.
[[nodiscard]] Expectation list_of_groups();
/// A join of any group whose group ID ends in the same 16 bits as that of an IP group: also a wrongly mapped one.
[[nodiscard]] Expectation join_like(const wire::IpAddress& group);
/// Any request about such a group.
[[nodiscard]] Expectation request_like(const wire::IpAddress& group);
/// Any request of the DUT about a group.
[[nodiscard]] Expectation request_about(const wire::Gid& mgid);
/// Any packet of IPoIB.
[[nodiscard]] Expectation any_ipoib();
/// A fragment, or the whole, of a UDP datagram of the DUT to the tester, in the family of the situation.
[[nodiscard]] Expectation udp_piece();
/// The DUT's subscription to a trap by InformInfo (66, 67, or 0xffff for all).
[[nodiscard]] Expectation subscription_to(std::uint16_t trap);

}  // namespace ipoib::conformance
