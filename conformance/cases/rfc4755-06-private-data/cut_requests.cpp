// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case cut_requests_do_no_harm{
    .id = "IPOIB-4755-6-INV-002",
    .title = "Messages of communication management that are cut, also within their private data, do no harm",
    .checks = {&rfc4391::encap_type_demultiplexing, &rfc4755::cm_private_data_format},
    .pass_if =
        "after REQs of other than 256 octets, and messages of connections that do not exist, ordinary requests are "
        "answered, and a whole REQ is accepted",
    .tags = {"connected", "cm", "robust"},
    .needs = Ability::any_frame | Ability::see_all,
    .dut_can = {"set_mode"},
    .lasts_at_most = 15s,
    .steps =
        [](Bench& bench) {
            const auto& demultiplexing = rfc4391::encap_type_demultiplexing;
            const auto req = cm_req();
            bench.step("A REQ is accepted, and the connection ended");
            bench.connection.dut_takes_part();
            bench.send(cm_dreq(bench.connection.establish()));
            bench.control();
            bench.must_outlive("REQs that are cut before their private data",
                               {req.cut_to(0), req.cut_to(Mad::size), req.cut_to(Mad::size + 1),
                                req.cut_to(Mad::size + 56), req.cut_to(Mad::size + 139), req.cut_to(Mad::size + 140)},
                               demultiplexing);
            bench.must_outlive("REQs that are cut within their private data",
                               {req.cut_to(Mad::size + 141), req.cut_to(Mad::size + 144), req.cut_to(Mad::size + 147),
                                req.cut_to(Mad::size + 148), req.cut_to(255), req.followed_by(4)},
                               demultiplexing);
            std::vector<Message> of_none;
            for (std::uint16_t attribute = cm_attribute::mra; attribute <= cm_attribute::apr + 5; ++attribute)
                of_none.push_back(req.with(Mad::attribute_id, attribute));
            bench.must_outlive("Messages of connections that do not exist", of_none, demultiplexing);
            bench.step("A whole REQ is accepted", rfc4755::cm_private_data_format);
            bench.send(req);
            bench.require(rep_of_dut(), within(2s));
        },
};

}  // namespace ipoib::conformance
