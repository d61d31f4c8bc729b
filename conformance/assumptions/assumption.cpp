// SPDX-License-Identifier: GPL-2.0-or-later
// The value of `--assume`: parameters of one link's broadcast group.
#include "conformance/assumptions/parameter_value.hpp"
#include "protocol/wire/mgid.hpp"
#include "protocol/wire/text.hpp"

namespace ipoib::assumptions {
namespace {

constexpr std::size_t longest = 4096;
constexpr unsigned default_scope = 2;  ///< link-local: RFC 4391, 4
constexpr std::uint16_t default_p_key = 0xffff;

[[noreturn]] void refuse(const std::string& why) { throw std::invalid_argument(why); }

std::uint64_t prefix_in(std::string_view text) {
    if (const auto number = wire::parse_number(text)) return *number;
    const auto gid = gid_in(text);
    if (!gid || gid->interface_id() != 0 || gid->is_multicast())
        refuse("prefix=" + shown(text) + ": expected is a subnet prefix, such as fe80:: or 0xfe80000000000000");
    return gid->prefix();
}

struct Assumed {
    StatedGroup group;
    std::optional<std::uint64_t> prefix;
    std::vector<state::Vouch> vouched;
    bool has_parameters = false;

    void vouch(state::Assumption assumption, std::string_view item, std::size_t equals) {
        state::Vouch one{.assumption = assumption};
        if (equals != std::string_view::npos) {
            const auto value = trimmed(item.substr(equals + 1));
            const auto guid = guid_in(value);
            if (!guid)
                refuse(std::string(name(assumption)) + "=" + shown(value) +
                       ": expected is the GUID of a port, such as 0002c90300100001");
            one.guid = *guid;
        }
        vouched.push_back(one);
    }
    void take(std::string_view item) {
        const auto equals = item.find('=');
        const auto written = trimmed(item.substr(0, equals));
        if (const auto assumption = state::assumption_named(written)) {
            vouch(*assumption, item, equals);
            return;
        }
        has_parameters = true;
        const auto name = plain_name(written.substr(0, 32));
        if (equals == std::string_view::npos || name.empty())
            refuse(shown(item) +
                   " is not KEY=VALUE, as in pkey=0x8001,mtu=2048, nor whole, from-start or steady-clock");
        const auto value = trimmed(item.substr(equals + 1));
        if (value.empty()) refuse(shown(written) + " has no value");
        const auto parameter = parameter_named(name);
        const bool is_prefix = name == "prefix";
        if (is_prefix ? prefix.has_value() : parameter && group.tells(*parameter)) refuse(name + " is given twice");
        if (is_prefix)
            prefix = prefix_in(value);
        else if (parameter && *parameter != Parameter::lifetime)
            set(group, *parameter, said_value(*parameter, value));
        else
            refuse(shown(written) + " is unknown; known are pkey, qkey, mtu, sl, tclass, flowlabel, hoplimit, scope, " +
                   "mlid, rate and prefix; whole, from-start and steady-clock");
    }
};

}  // namespace

Statement parse_assumption(std::string_view text) {
    if (text.size() > longest) refuse("more than " + std::to_string(longest) + " octets");
    if (trimmed(text).empty()) refuse("nothing is assumed; expected is KEY=VALUE,..., as in pkey=0x8001,mtu=2048");
    Assumed assumed;
    for (bool is_last = false; !is_last;) {
        const auto comma = text.find(',');
        is_last = comma == std::string_view::npos;
        assumed.take(text.substr(0, comma));
        if (!is_last) text.remove_prefix(comma + 1);
    }
    if (!assumed.has_parameters)
        return {.groups = {}, .source = state::Source::assumed, .origin = "--assume", .vouched = assumed.vouched};
    auto& group = assumed.group;
    const auto p_key = group.tells(Parameter::p_key) ? group.parameters.p_key : default_p_key;
    set(group, Parameter::p_key, p_key | std::uint32_t{wire::full_membership});
    const unsigned scope = group.tells(Parameter::scope) ? group.parameters.scope : default_scope;
    group.parameters.mgid = wire::broadcast_gid(group.parameters.p_key, scope);
    return {.groups = {group},
            .source = state::Source::assumed,
            .origin = "--assume",
            .subnet_prefix = assumed.prefix,
            .vouched = assumed.vouched};
}

}  // namespace ipoib::assumptions
