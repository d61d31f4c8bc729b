// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-or-later
// Judges packets of one's own by the rules of the suite: one right, one whose Reserved field is not zero. A stack takes
// the octets that it is about to send, or has received, in place of those that are built here.
#include "protocol/build/ipoib.hpp"
#include "protocol/build/samples.hpp"
#include "protocol/inspection/inspector.hpp"

#include <cstdio>
#include <string>
#include <vector>

namespace {

using namespace ipoib;

/// Hears what each rule says of the frame taken last.
struct Report {
    const inspection::Inspector& inspector;
    std::uint64_t frame;
    unsigned& violations;

    void unjudged(std::size_t, state::Facts) const {}
    void observed(std::size_t) const {}
    void kept(std::size_t) const {}
    void overlooked(std::size_t) const {}
    void noted(std::size_t) const {}
    void violated(std::size_t index) const {
        const auto& rule = *inspector.rules()[index];
        tell(rule, inspection::describe(rule, inspector.packet(), inspector.known()));
    }
    void accused(const inspection::Accusation& one) const { tell(*inspector.rules()[one.rule], one.what); }
    void undecided(const inspection::Accusation&, std::string_view) const {}

    void tell(const rules::Rule& rule, const inspection::Violation& what) const {
        ++violations;
        std::printf("frame %u: %s: %s is %s, expected %s\n", static_cast<unsigned>(frame),
                    std::string(rule.checks[0]->id).c_str(), what.field_name().c_str(), what.actual.c_str(),
                    what.expected.c_str());
    }
};

}  // namespace

int main() {
    const auto a = build::samples::host(1), b = build::samples::host(2);
    const auto link = build::samples::controlled();
    const std::vector<std::vector<std::uint8_t>> frames{
        build::echo_request(a, b, link, 1).build(),
        build::echo_request(a, b, link, 2).set(wire::Encap::reserved, 0xabcd).build(),
    };

    inspection::Inspector inspector{rules::every(), {.is_all_ipoib = true}};
    unsigned violations = 0;
    std::uint64_t number = 0;
    for (const auto& octets : frames) {
        ++number;
        if (!inspector.take({.octets = octets, .wire_length = octets.size(), .sight = {number, 0, 0}})) continue;
        inspector.judge(Report{inspector, number, violations});
    }
    inspector.finish(Report{inspector, number, violations});
    std::printf("%u violations in %u packets\n", violations, static_cast<unsigned>(number));
    return violations == 0 ? 0 : 1;
}
