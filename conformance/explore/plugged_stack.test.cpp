// SPDX-License-Identifier: GPL-2.0-or-later
// The reference stack, or a mutant of it, as a DUT of its own: its raw port connects to a path, its adapter is at its
// standard streams, until their end.
//   PROGRAM PATH [--mutant NAME] [--tells-little]     --tells-little: `interface` has neither groups nor MTU, and
//                                                     datagrams that need fragments are not supported
#include "conformance/mutants/mutant.hpp"
#include "fabric/node/hca.hpp"
#include "fabric/node/sa_client.hpp"
#include "fabric/socket/unix_socket.hpp"
#include "stack/adapter.hpp"

#include <poll.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include <array>
#include <iostream>

namespace {

using namespace ipoib;
using namespace std::chrono_literals;

/// A wire that is plugged in again wherever somebody listens.
class Plug {
public:
    Plug(fabric::Loop& loop, fabric::Hca& hca, std::string path) : loop_(loop), hca_(hca), path_(std::move(path)) {
        look();
    }

private:
    void look() {
        loop_.after(20ms, [this] { look(); });
        if (wire_ && wire_->is_open()) return;
        hca_.connect(nullptr);
        wire_.reset();
        auto connection = fabric::connect_raw_port(path_);
        if (!connection.error.empty()) return;
        wire_ = std::make_unique<fabric::RawPort>(loop_, std::move(connection.descriptor));
        wire_->on_link([this](bool is_up) { hca_.connect(is_up ? wire_.get() : nullptr); });
        wire_->deliver_to(&hca_);
        hca_.connect(wire_.get());
    }

    fabric::Loop& loop_;
    fabric::Hca& hca_;
    std::string path_;
    std::unique_ptr<fabric::RawPort> wire_;
};

/// The answer to a request for a datagram that is too long; empty for others.
std::string refusal_of(const std::string& request) {
    constexpr std::size_t most_digits = 1000;
    const auto json = nlohmann::json::parse(request);
    if (json.value("do", "") != "send" || json.value("payload", "").size() <= most_digits) return {};
    return nlohmann::json{{"id", json["id"]}, {"error", "unsupported"}, {"message", "no fragments"}}.dump();
}

std::string with_little(const std::string& answer) {
    auto json = nlohmann::json::parse(answer);
    json.erase("groups");
    json.erase("mtu");
    return json.dump();
}

}  // namespace

int main(int count, char** words) {
    const conformance::Mutant* mutant = nullptr;
    bool tells_little = false;
    for (int i = 2; i < count; ++i) {
        if (std::string_view{words[i]} == "--tells-little") tells_little = true;
        if (std::string_view{words[i]} == "--mutant" && i + 1 < count) mutant = conformance::find_mutant(words[i + 1]);
    }
    fabric::Loop loop{fabric::Loop::Clock::real};
    fabric::Hca hca{loop, {.port_guid = 0x0002c90300a00009, .description = "plugged stack", .mtu = 5}};
    fabric::SaClient sa{hca};
    stack::Node node{hca, sa, mutant ? conformance::policies_of(*mutant) : stack::Policies{}};
    stack::Adapter adapter{node};
    const Plug plug{loop, hca, words[1]};
    bool has_ended = false;
    std::string lines;
    loop.watch(STDIN_FILENO, POLLIN, [&](short) {
        std::array<char, 4096> portion{};
        const auto octets = ::read(STDIN_FILENO, portion.data(), portion.size());
        if (octets <= 0) {
            has_ended = true;
            return loop.unwatch(STDIN_FILENO);
        }
        lines.append(portion.data(), static_cast<std::size_t>(octets));
        for (auto end = lines.find('\n'); end != std::string::npos; end = lines.find('\n')) {
            const auto line = lines.substr(0, end);
            lines.erase(0, end + 1);
            if (const auto refusal = tells_little ? refusal_of(line) : std::string{}; !refusal.empty()) {
                std::cout << refusal << std::endl;
                continue;
            }
            adapter.request(line, [tells_little](const std::string& answer) {
                std::cout << (tells_little ? with_little(answer) : answer) << std::endl;
            });
        }
    });
    loop.run_until([&] { return has_ended; }, fabric::Time::max());
    return 0;
}
