// SPDX-License-Identifier: GPL-2.0-or-later
// Stated parameters as facts.
#include "conformance/assumptions/apply.hpp"

#include "protocol/wire/mgid.hpp"

#include <array>

namespace ipoib::assumptions {
namespace {

using state::Fact;

constexpr std::array<std::pair<Parameter, Fact>, 6> facts_told{{{Parameter::q_key, Fact::q_key},
                                                                {Parameter::mtu, Fact::mtu},
                                                                {Parameter::sl, Fact::sl},
                                                                {Parameter::traffic_class, Fact::traffic_class},
                                                                {Parameter::flow_label, Fact::flow_label},
                                                                {Parameter::hop_limit, Fact::hop_limit}}};

}  // namespace

void apply(const Statement& statement, state::Subnet& subnet) {
    for (const auto& one : statement.vouched) subnet.vouch(one);
    if (statement.subnet_prefix) subnet.assume_prefix(*statement.subnet_prefix);
    for (const auto& group : statement.groups) {
        state::Facts facts = 0;
        for (const auto& [parameter, fact] : facts_told)
            if (group.tells(parameter)) facts |= state::facts(fact);
        // A list names the group by its whole MGID; --assume only with a scope.
        if (statement.source == state::Source::file || group.tells(Parameter::scope))
            facts |= state::facts(Fact::broadcast_gid);
        auto parameters = group.parameters;
        if (!group.tells(Parameter::p_key)) parameters.p_key = wire::mgid_of(parameters.mgid)[wire::Mgid::p_key];
        subnet.assume(parameters, statement.source, facts);
        for (const auto& member : group.members)
            subnet.assume_member(group.parameters.mgid, member.port_gid, member.join_state);
    }
}

}  // namespace ipoib::assumptions
