// SPDX-License-Identifier: GPL-2.0-or-later
// The subnet administrator's part played by hand, for the tests of its clients.
#pragma once

#include "fabric/node/sa_client.hpp"
#include "fabric/node/test_node.hpp"
#include "protocol/wire/rmpp.hpp"

namespace ipoib::fabric::testing {

using namespace std::chrono_literals;

inline constexpr std::size_t record_size = 56;

/// `count` records of 56 octets, each all its own number.
inline std::vector<std::uint8_t> records(std::size_t count) {
    std::vector<std::uint8_t> all(count * record_size);
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint8_t>(i / record_size);
    return all;
}

/// A node that is up; the test plays the administrator at the other end of its cable.
struct Administered : Node {
    Administered() { bring_up(); }

    /// Lets the loop run and takes the MADs that were sent meanwhile.
    std::vector<MadOctets> requests(Duration time = 0s) {
        loop.run_for(time);
        std::vector<MadOctets> mads;
        for (const auto& frame : cable.sent) {
            Packet packet;
            decode(frame.octets(), packet);
            REQUIRE(packet.bth[Bth::dest_qp] == 1);
            MadOctets mad{};
            std::copy(packet.payload.begin(), packet.payload.end(), mad.begin());
            mads.push_back(mad);
        }
        cable.sent.clear();
        return mads;
    }
    void deliver(const MadOctets& mad) { hca.receive(mad_frame({.slid = test_sm_lid, .dlid = test_lid}, mad)); }
};

inline View<Mad> header(const MadOctets& mad) { return View<Mad>::at(mad); }
inline View<Rmpp> rmpp_of(const MadOctets& mad) { return View<Rmpp>::at(Octets{mad}.subspan(Mad::size)); }

inline MadOctets answer_to(const MadOctets& request, std::uint16_t status = 0, Octets data = {}) {
    auto answer = request;
    const auto method = static_cast<unsigned>(header(request)[Mad::method]) | response_bit;
    set_field(MutableOctets{answer}, Mad::method, static_cast<Method>(method));
    set_field(MutableOctets{answer}, Mad::status, status);
    std::copy(data.begin(), data.end(), answer.begin() + SaHeader::data_offset);
    return answer;
}

/// Segment `number` of `count`.
inline MadOctets segment_of(const MadOctets& request, const std::vector<std::uint8_t>& table, std::uint32_t number) {
    const auto count = (table.size() + 199) / 200;
    const auto from = (number - 1) * std::size_t{200};
    const auto size = std::min<std::size_t>(200, table.size() - from);
    auto segment = answer_to(request, 0, Octets{table}.subspan(from, size));
    const auto rmpp = MutableOctets{segment}.subspan(Mad::size);
    set_field(rmpp, Rmpp::version, 1);
    set_field(rmpp, Rmpp::type, RmppType::data);
    set_field(rmpp, Rmpp::active, true);
    set_field(rmpp, Rmpp::first, number == 1);
    set_field(rmpp, Rmpp::last, number == count);
    set_field(rmpp, Rmpp::segment_number, number);
    const auto length = number == 1 ? table.size() + 20 * count : number == count ? size + 20 : 0;
    set_field(rmpp, Rmpp::payload_length, static_cast<std::uint32_t>(length));
    set_field(rmpp.subspan(Rmpp::size), SaHeader::attribute_offset, record_size / 8);
    return segment;
}

/// A request and what became of it.
struct Asked {
    Asked(SaClient& client, const SaRequest& request, SaClient::Patience patience = {}) {
        client.ask(
            request, [this](const SaAnswer& a) { answers.push_back(a); }, patience);
    }
    std::vector<SaAnswer> answers;
};

inline const SaRequest get_member{.method = Method::get,
                                  .attribute = attribute::mc_member_record,
                                  .modifier = 5,
                                  .component_mask = 0x10003,
                                  .record = {1, 2, 3}};
inline const SaRequest get_table{.method = Method::get_table, .attribute = attribute::mc_member_record};

}  // namespace ipoib::fabric::testing
