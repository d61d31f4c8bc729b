// SPDX-License-Identifier: GPL-2.0-or-later
// --fabric socket: this process is a node of a fabric that another one has, by raw ports.
#include "conformance/target/fabrics/socket.hpp"

#include "conformance/target/fabric_words.hpp"
#include "fabric/simulated/scenario.hpp"

#include <array>
#include <stdexcept>

namespace ipoib::conformance {
namespace {

using namespace std::chrono_literals;

constexpr std::array socket_forms{
    FabricForm{
        FabricUse::run, "socket:PATH[,PATH][,tap=PATH][,sm-key=N][,name=NAME]",
        "raw ports of a fabric that listens there; the tap shows what other nodes send, the key lets its SA tell "
        "who is a member; reports have the name instead of the paths"},
    FabricForm{FabricUse::traffic, "socket:PATH[,PATH]", "raw ports of a fabric that listens there"},
    FabricForm{FabricUse::audit, "socket:PATH[,sm-key=N]", "a raw port"}};

/// Whoever has the fabric sets it up, if it can be told to.
void set_up(fabric::Fabric& fabric, const Opening& opening, fabric::Duration patience) {
    const std::string scenario{opening.scenario};
    const auto answer = fabric.change(fabric::SetScenario{scenario}, patience);
    if (!answer.is_done())
        throw std::runtime_error("the fabric cannot be set up as " + scenario + ": " + answer.message);
}

OpenedFabric open_socket(const Opening& opening) {
    auto options = socket_options(opening);
    if (opening.hosts && *opening.hosts != options.paths.size())
        throw std::invalid_argument("--hosts: there are as many hosts as raw ports after socket:, with commas between");
    (void)fabric::scenario_named(opening.scenario);
    const bool is_set_up = opening.scenario != Opening{}.scenario;
    if (is_set_up && opening.control.empty())
        throw std::invalid_argument("--scenario on a fabric outside this process needs --fabric-control");
    const auto restart_patience = opening.patience(60s);
    options.control = opening.control;
    options.seed = opening.seed;
    options.patience = opening.is_again ? restart_patience : opening.patience(options.patience);
    if (opening.is_again) options.connect_patience = restart_patience;
    OpenedFabric opened{std::make_unique<fabric::SocketFabric>(options)};
    if (is_set_up) set_up(*opened.fabric, opening, restart_patience);
    return opened;
}

std::unique_ptr<fabric::Fabric> look_at_socket(const Opening& opening) {
    auto options = socket_options(opening);
    options.patience = opening.patience(options.patience);
    return std::make_unique<fabric::SocketFabric>(options);
}

}  // namespace

fabric::SocketOptions socket_options(const Opening& opening) {
    constexpr std::string_view sm_key = "sm-key=", tap = "tap=", name = "name=";
    fabric::SocketOptions options;
    for_each_word(opening.words(), [&](std::string_view word) {
        if (const auto path = value_of(word, tap))
            options.tap = *path;
        else if (const auto key = value_of(word, sm_key))
            options.sm_key = number_of(sm_key, *key);
        else if (const auto called = value_of(word, name))
            options.name = *called;
        else
            options.paths.emplace_back(word);
        const bool is_empty = word == tap || (!options.paths.empty() && options.paths.back().empty());
        if (is_empty) throw std::invalid_argument(opening.named() + " needs a path, or paths with commas between");
    });
    if (options.paths.empty()) throw std::invalid_argument(opening.named() + " needs a path of a raw port");
    return options;
}

namespace kinds {

extern const FabricKind socket{.scheme = "socket",
                               .owner = Owner::program,
                               .usual_impact = fabric::Impact::fabric,
                               .forms = socket_forms,
                               .open = open_socket,
                               .look = look_at_socket};

}  // namespace kinds
}  // namespace ipoib::conformance
