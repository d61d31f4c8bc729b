// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

namespace {

/// How often the DUT has asked the SA about the broadcast group of a partition, in any scope.
std::size_t questions(Bench& bench, std::uint16_t p_key) {
    constexpr std::uint8_t widest = 14;
    std::size_t all = 0;
    for (std::uint8_t scope = 1; scope <= widest; ++scope)
        all += bench.count(request_about(broadcast_gid(p_key, scope)));
    return all;
}

}  // namespace

const Case interface_has_configured_p_key{
    .id = "IPOIB-4391-9.1.2-VAL-003",
    .title = "An interface asks for the link of the P_Key that it was configured with",
    .checks = {&rfc4391::pkey_configured},
    .pass_if =
        "a new interface asks the SA about the broadcast group of its own P_Key, which is neither the first nor the "
        "last of the port's table",
    .tags = {"sa", "pkey", "broadcast"},
    .impact = Impact::link,
    .needs = Ability::see_all | Ability::fabric_control,
    .dut_can = {"create_child", "delete_child"},
    .lasts_at_most = 120s,
    .steps =
        [](Bench& bench) {
            constexpr std::uint16_t configured = 0x8345, unused = 0x8567;
            const auto port = port_of_dut(bench);
            bench.step("The port's table gets two P_Keys more");
            for (const auto p_key : {configured, unused}) bench.fabric.change(SetPKey{port, p_key});
            bench.pass_time(2s);
            // Who makes an interface for each P_Key of the table may have been configured to.
            if (questions(bench, unused) != 0) bench.note("the DUT asks about a partition that no request named");
            bench.step("An interface is made for the first of them");
            bench.dut.begins_child(configured);
            bench.pass_time(5s);
            bench.require(questions(bench, configured) > 0,
                          "a question about the broadcast group of P_Key " + hex(configured, 4), "none");
        },
};

}  // namespace ipoib::conformance
