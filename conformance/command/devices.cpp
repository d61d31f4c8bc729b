// SPDX-License-Identifier: GPL-2.0-or-later
// ipoib-conform devices: the RDMA ports here, and what is missing before one can be used.
#include "base/complain.hpp"
#include "base/json_text.hpp"
#include "conformance/command/commands.hpp"
#include "conformance/command/output.hpp"
#include "conformance/target/hca.hpp"
#include "fabric/host/host_ports.hpp"
#include "protocol/wire/text.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>
#include <memory>

namespace ipoib::conformance {
namespace {

using fabric::HostPort;
using fabric::HostRights;
using nlohmann::ordered_json;

constexpr int exit_nothing = 4;
constexpr std::string_view on_controlled =
    "A link whose Q_Key is controlled (its high bit is set) needs CAP_NET_RAW: be root, or setcap cap_net_raw+ep.\n";

std::string p_keys_of(const HostPort& port) {
    std::string text;
    for (const auto p_key : port.p_keys) text += ' ' + wire::hex(p_key, 4);
    return text.empty() ? " none" : text;
}

std::string to_text(const HostPort& port) {
    auto text = fmt::format("{}  {}, {}, {}\n", port.name(), port.link_layer, port.state, port.rate);
    if (port.link_layer == "InfiniBand") {
        text += fmt::format("    LID {}, subnet manager {}, GID {}\n", wire::hex(port.lid, 4),
                            wire::hex(port.sm_lid, 4), wire::text(port.gid));
        text += fmt::format("    P_Keys{}\n", p_keys_of(port));
        for (const auto& one : port.interfaces)
            text += fmt::format("    {}: P_Key {}, {}, {}\n", one.name, wire::hex(one.p_key, 4),
                                one.mode.empty() ? "mode not told" : one.mode, one.is_up ? "up" : "down");
    }
    for (const auto& obstacle : port.obstacles) text += fmt::format("    cannot be used: {}\n", obstacle);
    if (port.obstacles.empty())
        text += fmt::format("    can be used: --fabric {}:{}\n", kinds::verbs.scheme, port.name());
    return text;
}

ordered_json to_json(const HostPort& port) {
    auto interfaces = ordered_json::array();
    for (const auto& one : port.interfaces)
        interfaces.push_back({{"name", one.name}, {"p_key", one.p_key}, {"mode", one.mode}, {"up", one.is_up}});
    return {{"device", port.device},
            {"port", port.number},
            {"link_layer", port.link_layer},
            {"state", port.state},
            {"rate", port.rate},
            {"lid", port.lid},
            {"sm_lid", port.sm_lid},
            {"gid", wire::text(port.gid)},
            {"p_keys", port.p_keys},
            {"interfaces", interfaces},
            {"usable", port.obstacles.empty()},
            {"obstacles", port.obstacles}};
}

int run_devices(bool as_json) {
    const auto rights = HostRights::mine();
    const auto ports = fabric::host_ports("", rights);
    if (as_json) {
        auto listed = ordered_json::array();
        for (const auto& port : ports) listed.push_back(to_json(port));
        print(json_text(ordered_json{{"ports", listed}, {"controlled_q_key", rights.has_raw_network}}, 2) + '\n',
              Notation::json);
    } else {
        std::string text;
        for (const auto& port : ports) text += to_text(port);
        if (!ports.empty() && !rights.has_raw_network) text += on_controlled;
        print(text);
    }
    if (ports.empty()) complain("ipoib-conform", fabric::why_no_ports(""));
    return std::ranges::any_of(ports, [](const HostPort& port) { return port.obstacles.empty(); }) ? exit_ok
                                                                                                   : exit_nothing;
}

Action set_up_devices(CLI::App& command, const std::string&) {
    auto as_json = std::make_shared<bool>(false);
    command.add_flag("--json", *as_json, "As JSON");
    command.footer(fmt::format("Exit code: 0 a port can be used by --fabric {}: and {}:, 4 none can.",
                               kinds::verbs.scheme, kinds::umad.scheme));
    return [as_json] { return run_devices(*as_json); };
}

}  // namespace

namespace command {

extern const Command devices{.name = "devices",
                             .about = "The InfiniBand ports of this host, and what is missing before one can be used",
                             .set_up = set_up_devices};

}  // namespace command
}  // namespace ipoib::conformance
