// SPDX-License-Identifier: GPL-2.0-or-later
// Tests of DHCP messages as IPoIB sends them. RFC 2131, RFC 4361, RFC 4390.
#include "protocol/wire/dhcp.hpp"

#include "protocol/wire/table_check.hpp"

using namespace ipoib::wire;
using namespace ipoib::wire::testing;

namespace {

/// A DHCPDISCOVER as RFC 4390, 2 wants it, with the options given.
std::vector<std::uint8_t> message(std::string_view options) {
    // By hand from RFC 2131, figure 1; Wireshark 4.0 shows the same values.
    auto octets = hex("01 20 00 00 3903f326 0007 8000 00000000 00000000 00000000 00000000");
    octets.resize(236);
    const auto rest = hex(std::string{"63825363"} + std::string{options});
    octets.insert(octets.end(), rest.begin(), rest.end());
    return octets;
}

/// Pad, type, requested address 10.1.0.9, client identifier (IAID, DUID-LLT over InfiniBand), End, and what none reads.
constexpr std::string_view discover_options =
    "00 350101 32040a010009 00 3d17 ff 20001491 0001 0020 2a3b4c5d fe800002c9030000 1491 ff 350106";

}  // namespace

TEST_CASE("DHCP: the fixed part reads and writes back") {
    auto golden =
        hex("02 20 00 01 3903f326 0007 8123 0a010001 0a010002 0a010003 0a010004 a1a2a3a4a5a6a7a8a9aaabacadaeafb0");
    golden.resize(Dhcp::size);
    golden[44] = 's', golden[107] = 'S', golden[108] = 'f', golden[235] = 'F';
    const auto cookie = hex("63825363");
    std::copy(cookie.begin(), cookie.end(), golden.begin() + 236);
    OctetArray<64> sname{};
    sname.front() = 's', sname.back() = 'S';
    OctetArray<128> file{};
    file.front() = 'f', file.back() = 'F';
    check_table<Dhcp>(golden, row(Dhcp::op, Dhcp::reply), row(Dhcp::htype, Dhcp::infiniband), row(Dhcp::hlen, 0),
                      row(Dhcp::hops, 1), row(Dhcp::xid, 0x3903f326), row(Dhcp::secs, 7), row(Dhcp::broadcast, true),
                      row(Dhcp::reserved15, 0x123), row(Dhcp::ciaddr, 0x0a010001), row(Dhcp::yiaddr, 0x0a010002),
                      row(Dhcp::siaddr, 0x0a010003), row(Dhcp::giaddr, 0x0a010004),
                      row(Dhcp::chaddr, octets<16>("a1a2a3a4a5a6a7a8a9aaabacadaeafb0")), row(Dhcp::sname, sname),
                      row(Dhcp::file, file), row(Dhcp::cookie, Dhcp::magic));
}

TEST_CASE("DHCP: options are walked up to End, without Pad") {
    const auto octets = message(discover_options);
    std::vector<std::pair<unsigned, std::size_t>> seen;
    const auto rest = for_each_dhcp_option(Octets{octets}.subspan(Dhcp::size),
                                           [&](unsigned code, Octets value) { seen.emplace_back(code, value.size()); });
    CHECK(rest.empty());
    CHECK(seen == std::vector<std::pair<unsigned, std::size_t>>{{53, 1}, {50, 4}, {61, 23}});
}

TEST_CASE("DHCP: the options that IPoIB needs are found") {
    const auto octets = message(discover_options);
    CHECK(dhcp_type(octets) == DhcpType::discover);
    CHECK(dhcp_number(octets, dhcp_option::requested_address) == 0x0a010009u);
    CHECK_FALSE(find_dhcp_option(octets, dhcp_option::server_identifier));
    CHECK_FALSE(dhcp_number(octets, dhcp_option::server_identifier));
    const auto value = find_dhcp_option(octets, dhcp_option::client_identifier);
    REQUIRE(value);
    const auto id = client_identifier(*value);
    REQUIRE(id);
    CHECK(id->iaid == 0x20001491);
    CHECK(std::vector<std::uint8_t>(id->duid.begin(), id->duid.end()) ==
          hex("00010020 2a3b4c5d fe800002c9030000 1491"));
}

TEST_CASE("DHCP: of an option that comes twice the first counts, and a wrong length does not") {
    CHECK(dhcp_type(message("350102 350105 ff")) == DhcpType::offer);
    CHECK_FALSE(dhcp_type(message("35020101 ff")));
    CHECK_FALSE(dhcp_type(message("3500 ff")));
    CHECK(dhcp_type(message("35014d ff")) == DhcpType{77});
    CHECK_FALSE(dhcp_number(message("32030a0100 ff"), dhcp_option::requested_address));
    CHECK_FALSE(dhcp_number(message("32050a01000900 ff"), dhcp_option::requested_address));
}

TEST_CASE("DHCP: a message cut anywhere gives what is whole before the cut") {
    const auto octets = message(discover_options);
    const std::size_t begins = 240, pad = begins + 1, type = pad + 3, address = type + 6, id = address + 1 + 25;
    for (std::size_t length = 0; length <= octets.size(); ++length) {
        CAPTURE(length);
        const std::vector<std::uint8_t> cut(octets.begin(), octets.begin() + static_cast<std::ptrdiff_t>(length));
        CHECK(dhcp_type(cut).has_value() == (length >= type));
        CHECK(dhcp_number(cut, dhcp_option::requested_address).has_value() == (length >= address));
        CHECK(find_dhcp_option(cut, dhcp_option::client_identifier).has_value() == (length >= id));
        if (length < begins) continue;
        const auto rest = for_each_dhcp_option(Octets{cut}.subspan(begins), [](unsigned, Octets) {});
        const bool is_cut = (length > pad && length < type) || (length > type && length < address) ||
                            (length > address + 1 && length < id);
        CHECK(rest.empty() == !is_cut);
        CHECK((rest.empty() || rest.data() + rest.size() == cut.data() + length));
    }
}

TEST_CASE("DHCP: an option that is longer than the message is refused where it begins") {
    const auto octets = hex("350101 3dff ff");
    std::size_t found = 0;
    const auto rest = for_each_dhcp_option(octets, [&](unsigned, Octets) { ++found; });
    CHECK(found == 1);
    CHECK(rest.data() == octets.data() + 3);
}

TEST_CASE("DHCP: the head of a client identifier reads and writes back") {
    check_table<DhcpClientId>(hex("ff 12345678 0004"), row(DhcpClientId::type, DhcpClientId::iaid_and_duid),
                              row(DhcpClientId::iaid, 0x12345678), row(DhcpClientId::duid_type, 4));
}

TEST_CASE("DHCP: a client identifier of another form than RFC 4361's is none") {
    CHECK(client_identifier(hex("ff 12345678 0003 01")));
    CHECK_FALSE(client_identifier(hex("20 12345678 0003 01")));
    const auto octets = hex("ff 12345678 0003 01");
    for (std::size_t length = 0; length < octets.size(); ++length)
        CHECK_FALSE(client_identifier(Octets{octets}.first(length)));
    std::vector<std::uint8_t> longest(5 + 130, 0xff);
    REQUIRE(client_identifier(longest));
    CHECK(client_identifier(longest)->duid.size() == 130);
    longest.push_back(0);
    CHECK_FALSE(client_identifier(longest));
}
