// SPDX-License-Identifier: GPL-2.0-or-later
// Prints as JSON what is read from the lists of the SA's records named on the command line, for sa_file_test.py.
#include "conformance/assumptions/statement.hpp"
#include "protocol/wire/text.hpp"

#include <cstdio>
#include <nlohmann/json.hpp>

using namespace ipoib;
using namespace ipoib::assumptions;

namespace {

nlohmann::json json_of(const StatedGroup& group) {
    const auto& told = group.parameters;
    nlohmann::json object{{"mgid", wire::text(told.mgid)}, {"members_are_listed", group.members_are_listed}};
    const auto tell = [&](const char* name, Parameter which, std::uint32_t value) {
        if (group.tells(which)) object[name] = value;
    };
    tell("pkey", Parameter::p_key, told.p_key);
    tell("qkey", Parameter::q_key, told.q_key);
    tell("mtu", Parameter::mtu, static_cast<std::uint32_t>(state::mtu_octets(told.mtu)));
    tell("sl", Parameter::sl, told.sl);
    tell("tclass", Parameter::traffic_class, told.traffic_class);
    tell("flow_label", Parameter::flow_label, told.flow_label);
    tell("hop_limit", Parameter::hop_limit, told.hop_limit);
    tell("scope", Parameter::scope, told.scope);
    tell("mlid", Parameter::mlid, told.mlid);
    tell("rate_code", Parameter::rate, told.rate);
    tell("pkt_life", Parameter::lifetime, told.lifetime);
    auto& members = object["members"] = nlohmann::json::array();
    for (const auto& member : group.members)
        members.push_back({{"port_gid", wire::text(member.port_gid)},
                           {"join_state", member.join_state},
                           {"proxy", member.proxy},
                           {"node_description", member.node_description}});
    return object;
}

}  // namespace

int main(int argc, char** argv) {
    auto files = nlohmann::json::object();
    try {
        for (int i = 1; i < argc; ++i) {
            auto& groups = files[argv[i]] = nlohmann::json::array();
            for (const auto& group : read_sa_file(argv[i]).groups) groups.push_back(json_of(group));
        }
    } catch (const std::exception& failure) {
        std::fprintf(stderr, "%s\n", failure.what());
        return 2;
    }
    std::printf("%s\n", files.dump(2).c_str());
    return 0;
}
