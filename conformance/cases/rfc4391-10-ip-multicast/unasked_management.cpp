// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

namespace {

using Make = std::function<build::PacketBuilder(const Situation&)>;

/// A MAD in the partition of the link.
Message in_partition(std::string what, const Make& make) {
    return {std::move(what), [make](const Situation& s) { return make(s).set(Bth::p_key, s.link.p_key); }};
}

/// The report of a trap about a group that nobody has heard of.
Message unasked_report(std::uint16_t number, Method method = Method::report) {
    return in_partition("Report of trap " + std::to_string(number), [=](const Situation& s) {
        constexpr std::uint32_t group = 0x0fedcba9;
        auto mgid = mgid_for_ipv4(0xe0000000 | group, s.link.p_key, s.link.scope);
        return build::group_report(s.tester, s.dut, number, mgid).set(Mad::method, method);
    });
}

/// An answer to a question that the DUT has not asked.
Message unasked_answer(Method method) {
    return in_partition("answer that nobody waits for", [=](const Situation& s) {
        return build::mc_member(s.tester, s.dut, method, 0x4950'6f49'4200'0001, build::broadcast_record(s.dut, s.link),
                                0);
    });
}

/// A segment of a table that the DUT has not asked for.
Message segment(RmppType type, std::uint32_t number, std::uint32_t length, std::uint8_t version = 1) {
    return unasked_answer(Method::get_table_resp)
        .with(Rmpp::version, version)
        .with(Rmpp::type, type)
        .with(Rmpp::active, true)
        .with(Rmpp::segment_number, number)
        .with(Rmpp::payload_length, length);
}

}  // namespace

const Case unasked_management_does_no_harm{
    .id = "IPOIB-4391-10-INV-002",
    .title = "Reports, traps and answers that nobody asked for do no harm, nor do MADs that are too short or too long",
    .checks = {&rfc4391::encap_type_demultiplexing},
    .pass_if = "after them, ordinary requests are answered",
    .tags = {"mad", "robust", "ipv4", "ipv6"},
    .needs = Ability::any_frame,
    .in_both_families = true,
    .lasts_at_most = 15s,
    .steps =
        [](Bench& bench) {
            const auto& demultiplexing = rfc4391::encap_type_demultiplexing;
            bench.step("Ordinary traffic is answered", demultiplexing);
            bench.control();
            bench.must_outlive("Reports that nobody asked for",
                               {unasked_report(trap::gid_in_service), unasked_report(trap::multicast_group_created),
                                unasked_report(trap::multicast_group_deleted), unasked_report(trap::link_state_changed),
                                unasked_report(trap::all), unasked_report(0)},
                               demultiplexing);
            bench.must_outlive("Traps, which are for the subnet manager",
                               {unasked_report(trap::multicast_group_created, Method::trap),
                                unasked_report(trap::link_state_changed, Method::trap),
                                unasked_report(trap::multicast_group_created, Method::trap_repress)},
                               demultiplexing);
            bench.must_outlive("Answers to questions that were not asked",
                               {unasked_answer(Method::get_resp), unasked_answer(Method::delete_resp),
                                unasked_answer(Method::get_table_resp), unasked_answer(Method::report_resp)},
                               demultiplexing);
            bench.must_outlive(
                "RMPP segments out of order, of wrong lengths and unknown types",
                {segment(RmppType::data, 5, 220), segment(RmppType::data, 0, 0xffffffff),
                 segment(RmppType::data, 0xffffffff, 0), segment(RmppType::data, 1, 1), segment(RmppType::ack, 7, 1),
                 segment(RmppType::ack, 1, 0xffffffff), segment(RmppType::stop, 0, 0), segment(RmppType::abort, 0, 0),
                 segment(RmppType{9}, 1, 220), segment(RmppType::data, 1, 220, 77)},
                demultiplexing);
            for (const auto& whole : {unasked_report(trap::multicast_group_created), unasked_answer(Method::get_resp)})
                bench.must_outlive("MADs of other than 256 octets",
                                   {whole.cut_to(0), whole.cut_to(1), whole.cut_to(4), whole.cut_to(23),
                                    whole.cut_to(24), whole.cut_to(36), whole.cut_to(56), whole.cut_to(64),
                                    whole.cut_to(136), whole.cut_to(255), whole.followed_by(1), whole.followed_by(64)},
                                   demultiplexing);
        },
};

}  // namespace ipoib::conformance
