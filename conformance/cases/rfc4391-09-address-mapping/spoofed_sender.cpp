// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

const Case spoofed_senders_are_not_followed{
    .id = "IPOIB-4391-9.1.1-INV-002",
    .title = "IP goes to the link-layer address that was resolved, whatever its packets say of their sender",
    .checks = {&rfc4391::ip_to_advertised_qpn},
    .pass_if =
        "echo requests with another source QPN, another SLID and another SGID than the tester's are answered, if at "
        "all, to the QPN of its link-layer address; so are ordinary ones afterwards",
    .tags = {"spoof", "tenant", "ipv4", "ipv6"},
    .needs = Ability::any_frame | Ability::see_all,
    .in_both_families = true,
    .lasts_at_most = 30s,
    .steps =
        [](Bench& bench) {
            const auto tester = bench.situation().tester;
            constexpr std::uint32_t another_qp = 0x00ab1d;
            constexpr std::uint16_t another_lid = 0x0ba5;
            const auto another_gid = Gid::of(tester.gid.prefix(), 0x0200'00ab'1d00'0001);
            const auto reply = echo_reply().sent_anywhere().with(Bth::dest_qp, tester.qpn);
            const auto asks = [&](std::string_view title, const Message& request) {
                bench.step(title);
                bench.control();
                bench.send(request);
                // A receiver may have reasons to drop what is not from whom it says.
                if (bench.happens(reply, within(2s)))
                    bench.inspect(reply, within(0ms));
                else
                    bench.note(std::string(title) + ": not answered");
                bench.send(echo_request());
                bench.inspect(reply, within(2s));
            };
            asks("Another source QPN", echo_request().with(Deth::src_qp, another_qp));
            asks("Another SLID", echo_request().with(Lrh::slid, another_lid));
            asks("Another SGID", echo_request_with_grh().with(Grh::sgid, another_gid));
            asks("All of them", echo_request_with_grh()
                                    .with(Deth::src_qp, another_qp)
                                    .with(Lrh::slid, another_lid)
                                    .with(Grh::sgid, another_gid));
        },
};

}  // namespace ipoib::conformance
