// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/command/asking.hpp"

#include "conformance/terminal/numbers.hpp"

#include <fmt/format.h>

#include <chrono>
#include <memory>

namespace ipoib::conformance {

void add_rate_option(CLI::App& command, double& rate) {
    command
        .add_option("--rate", rate,
                    fmt::format("At most so many questions to the administrator in a second ({})", usual_sa_rate))
        ->check(from_to(0.1, 1e6))
        ->type_name("R");
}

audit::Pace pace_of(fabric::Loop& loop, double rate) {
    const auto step = std::chrono::duration_cast<fabric::Duration>(std::chrono::duration<double>(1 / rate));
    return [&loop, step, next = std::make_shared<fabric::Time>()] {
        if (*next > loop.now()) loop.run_for(*next - loop.now());
        *next = loop.now() + step;
    };
}

std::string audit_rehearsal(const std::string& fabric, double rate) {
    return fmt::format(
        "Nothing is sent. The subnet administrator of {} would be asked, one question after the other and at most {} "
        "in a "
        "second, by SubnAdmGet and SubnAdmGetTable alone:\n"
        "  tables of the groups: one, and with the SM_Key another one of their members, or one for each group\n"
        "  each port that is in an IP group: NodeRecord, PortInfoRecord, LinkRecord, SwitchInfoRecord, with the SM_Key "
        "its "
        "P_Keys: 5 questions\n"
        "  routers: one\n"
        "  paths between members of one link: at most {}\n"
        "A question without an answer is put three times. Where 5000 ports are in groups that takes {:.0f} s and "
        "more.\n",
        fabric, rate, audit::most_paths, (5 * 5000.0 + audit::most_paths) / rate);
}

std::int64_t now_ns() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
        .count();
}

}  // namespace ipoib::conformance
