// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-conform profile: asks an implementation what it is, and writes a DUT.toml to begin with.
#include "conformance/bench/profile.hpp"
#include "conformance/bench/case_ends.hpp"

#include "base/one_line.hpp"
#include "conformance/command/commands.hpp"
#include "conformance/command/output.hpp"
#include "conformance/command/report_options.hpp"
#include "conformance/command/target_options.hpp"
#include "conformance/terminal/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ipoib::conformance {
namespace {

constexpr std::size_t least_mtu = 1280;
constexpr std::uint64_t link_local = 0xfe80, universal_bit = std::uint64_t{2} << 56;
constexpr std::string_view adapter_prefix = "exec:";

struct ProfileOptions {
    TargetOptions target;
    std::uint64_t seed = 1;
};

/// A profile, and what a reader of it should know.
struct Draft {
    Profile profile;
    std::vector<std::string> remarks;
    void remark(std::string_view text) { remarks.push_back(printable(text, Lines::join)); }
};

/// The key of [dut] that a fact of `hello` belongs to; none: there is no key for it.
std::string_view key_of(std::string_view fact) {
    constexpr std::array<std::pair<std::string_view, std::string_view>, 8> keys{{{"name", "name"},
                                                                                 {"vendor", "vendor"},
                                                                                 {"model", "model"},
                                                                                 {"device", "model"},
                                                                                 {"os", "os"},
                                                                                 {"kernel", "os"},
                                                                                 {"driver", "driver"},
                                                                                 {"firmware", "firmware"}}};
    const auto found = std::ranges::find(keys, fact, &std::pair<std::string_view, std::string_view>::first);
    return found == keys.end() ? std::string_view{} : found->second;
}

void describe(Draft& draft, const std::vector<std::pair<std::string, std::string>>& facts) {
    auto& known = draft.profile.dut;
    for (const auto& [fact, value] : facts) {
        if (value.empty()) continue;
        const std::string key{key_of(fact)};
        const auto is_taken = std::ranges::find(known, key, &std::pair<std::string, std::string>::first) != known.end();
        if (key.empty() || is_taken)
            draft.remark(fmt::format("{}: {}", fact, value));
        else
            known.emplace_back(key, printable(value, Lines::join));
    }
}

/// Which of the ways of RFC 4391, 8 gives this interface identifier.
void guess_interface_id(Draft& draft, const InterfaceFacts& facts) {
    const auto is_link_local = [](const wire::IpNetwork& network) {
        return !network.address.is_v4() && network.address.octets.prefix() >> 48 == link_local;
    };
    const auto own = std::ranges::find_if(facts.ipv6, is_link_local);
    if (own == facts.ipv6.end() || !facts.link_address) {
        draft.remark("interface_id is not known: no link-local IPv6 address was told");
        return;
    }
    const auto identifier = own->address.octets.interface_id();
    const auto guid = (*facts.link_address)[wire::LinkAddress::gid].interface_id();
    draft.profile.interface_id = "guid";
    if (identifier == (guid ^ universal_bit)) {
        draft.remark("its interface identifier is the port GUID with the universal/local bit complemented");
    } else if (identifier == guid) {
        draft.remark("its interface identifier is the port GUID as it stands");
    } else {
        draft.profile.interface_id = "stable-opaque";
        draft.remark("its interface identifier is not made of the port GUID: interface_id is a guess");
    }
}

void describe(Draft& draft, const InterfaceFacts& facts, Session& session) {
    auto& profile = draft.profile;
    profile.mtu = facts.mtu >= least_mtu ? facts.mtu : session.situation().ip_mtu();
    // Over connections too, multicast goes by datagrams. RFC 4755, 2.1.
    if (facts.mode == "connected") profile.modes = {"datagram", "connected"};
    if (!facts.mode.empty()) draft.remark("mode: " + facts.mode);
    profile.addresses = facts.ipv4;
    for (const auto& address : facts.ipv6)
        if (address.address.octets.prefix() >> 48 != link_local) profile.addresses.push_back(address);
    if (const auto tester = session.situation().tester.ipv4; tester != 0 && !facts.ipv4.empty())
        profile.tester = {{wire::IpAddress::v4(tester), facts.ipv4.front().length}};
    guess_interface_id(draft, facts);
}

Draft ask(Session& session, const Target& target) {
    Draft draft;
    if (target.dut.starts_with(adapter_prefix)) draft.profile.adapter = target.dut.substr(adapter_prefix.size());
    draft.profile.interface = target.session.interface;
    session.bring_dut_up();
    describe(draft, session.dut().facts());
    try {
        describe(draft, session.dut().interface(), session);
    } catch (const Unsupported&) {
        draft.remark("the DUT tells nothing of its interface: mtu, modes, interface_id and addresses are not known");
    }
    return draft;
}

int run_profile(const ProfileOptions& options) {
    const auto target = aim(options.target, options.seed).target;
    if (!target.has_control())
        throw UsageError("a profile is written from what the DUT answers; --dut " + target.dut + " answers nothing");
    stop_on_interrupt();
    const auto rig = rig_for(target);
    Draft draft;
    try {
        draft = ask(rig->prepare(options.seed), target);
        fabric::Loop::clear_stop();
        (void)rig->clean_up({});
    } catch (const CaseEnds& ends) {
        throw Fault("the DUT could not be asked: " + ends.why);
    } catch (const std::runtime_error& failure) {
        throw Fault(std::string("the DUT could not be asked: ") + failure.what());
    }
    std::string text = "# Written by ipoib-conform profile from what the DUT answered; correct what it cannot know.\n";
    for (const auto& remark : draft.remarks) text += "# " + remark + '\n';
    print(text + '\n' + to_toml(draft.profile), Notation::toml);
    return exit_ok;
}

Action set_up_profile(CLI::App& command, const std::string&) {
    auto options = std::make_shared<ProfileOptions>();
    add_target_options(command, options->target);
    add_seed_option(command, options->seed, "Where random numbers begin");
    command.footer("Exit code: 0 written, 2 wrong usage, 3 the DUT, its adapter or the fabric does not answer.");
    return [options] { return run_profile(*options); };
}

}  // namespace

namespace command {

extern const Command profile{.name = "profile",
                             .about = "Write a commented DUT.toml from what an implementation answers",
                             .set_up = set_up_profile};

}  // namespace command
}  // namespace ipoib::conformance
