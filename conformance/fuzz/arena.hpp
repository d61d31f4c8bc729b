// SPDX-License-Identifier: GPL-2.0-or-later
// The fabric that sessions are played on: the node under test at its raw port, the fuzzer, a node that behaves, and a
// manager and administrator whose answers can be made wrong on their way.
#pragma once

#include "conformance/bench/session.hpp"
#include "conformance/dut/adapter_process.hpp"
#include "conformance/fuzz/finding.hpp"
#include "conformance/fuzz/link_taps.hpp"
#include "conformance/fuzz/scene.hpp"
#include "conformance/fuzz/session.hpp"
#include "fabric/node/sa_client.hpp"
#include "fabric/simulated/fabric.hpp"
#include "stack/node.hpp"

#include <memory>
#include <optional>
#include <set>
#include <string>

namespace ipoib::conformance::fuzz {

class Arena {
public:
    struct Options {
        std::string listen;     ///< path of the socket that the node's raw port connects to
        std::string command;    ///< of its adapter
        std::string interface;  ///< empty: its first
        std::string scenario = "default";
        double timeout_scale = 1;
        std::uint64_t seed = 1;
        fabric::Duration deadline = std::chrono::seconds{30};  ///< until it must answer again, after a session
        AdapterProcess::Remark remark{};
    };
    /// Throws std::invalid_argument for a scenario that there is not, std::runtime_error where nothing can listen.
    explicit Arena(Options options);
    ~Arena();
    Arena(const Arena&) = delete;
    Arena& operator=(const Arena&) = delete;

    /// The node is there, up and reached; a new one where the last has shown a fault. Throws what Session::begin does,
    /// std::runtime_error where it does not come.
    void begin();
    /// Does what the session says, and asks then whether the node is well. Nothing: it is, or the program was told to
    /// stop.
    [[nodiscard]] std::optional<Finding> play(const Session& session);
    /// The next session is played on a new node.
    void renew() noexcept { is_spent_ = true; }

    /// What was seen for the first time since this was last asked: blocks of code, where its adapter tells them, and
    /// kinds of frames that it has sent.
    struct Seen {
        std::vector<std::string> blocks;
        std::set<std::uint64_t> kinds;
    };
    [[nodiscard]] Seen take_seen();

    // For operations.
    [[nodiscard]] fabric::Loop& loop() { return fabric_.loop(); }
    [[nodiscard]] fabric::Subnet& subnet() noexcept { return fabric_.subnet(); }
    [[nodiscard]] LinkTaps& taps() noexcept { return taps_; }
    [[nodiscard]] Scene& scene() noexcept { return scene_; }
    [[nodiscard]] Dut& dut() { return bench_->dut(); }
    /// The GUID of the node's port.
    [[nodiscard]] std::uint64_t guid() const noexcept { return scene_.dut.gid.interface_id(); }
    /// Over the fabric where its switches would take it there, else at the node's cable.
    void send(const std::vector<std::uint8_t>& frame);
    /// What the adapter does not know or cannot do is not done.
    template <class Request>
    void ask(const Request& request) {
        try {
            request(dut());
        } catch (const ControlFailed&) {
            // A node may refuse.
        } catch (const Unsupported&) {
            // It cannot.
        }
    }
    /// Once this time is over, if the session still goes on.
    void later(std::uint32_t milliseconds, std::function<void()> action);
    /// As between two sessions: what was changed around the node and asked of its host is as it was, and it has time to
    /// answer an echo request.
    void settle();
    /// Interfaces that the session has made.
    std::vector<std::string> children;

private:
    void drop() noexcept;
    void set_scene();
    void listen(const wire::Packet& packet);
    void end_session(bool was_asked);
    [[nodiscard]] std::optional<Finding> spent_by(std::optional<Finding> found);
    [[nodiscard]] std::optional<Finding> told_faults();
    [[nodiscard]] std::optional<Finding> judged();
    [[nodiscard]] bool is_reached(fabric::Duration patience);
    [[nodiscard]] bool is_member();
    [[nodiscard]] fabric::Duration scaled(fabric::Duration usual) const noexcept;

    Options options_;
    fabric::SimulatedFabric fabric_;
    LinkTaps taps_;
    fabric::Hca other_hca_;
    fabric::SaClient other_sa_;
    stack::Node other_;
    std::unique_ptr<AdapterProcess> adapter_;
    std::unique_ptr<conformance::Session> bench_;
    Scene scene_;
    std::shared_ptr<bool> session_goes_on_;
    std::uint64_t played_ = 0;  ///< sessions
    bool is_spent_ = false, tells_coverage_ = false;
};

}  // namespace ipoib::conformance::fuzz
