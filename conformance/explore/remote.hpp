// SPDX-License-Identifier: GPL-2.0-or-later
// A DUT that is no part of this process: its frames come by a raw port, what it is told goes to its adapter.
// interfaces.md, "Raw port" and "DUT control".
#pragma once

#include "conformance/dut/adapter_process.hpp"
#include "conformance/dut/dut.hpp"
#include "conformance/explore/subject.hpp"

#include <memory>
#include <optional>
#include <set>
#include <string>

namespace ipoib::conformance::explore {

/// It lives through all schedules, in real time. Each finds it out of all groups, with its interface down, and on a
/// fabric that is new to it.
class RemoteDut {
public:
    struct Options {
        std::string listen;     ///< path of the socket that its raw port connects to
        std::string command;    ///< of its adapter
        std::string interface;  ///< empty: its first
        double timeout_scale = 1;
        AdapterProcess::Remark remark{};  ///< told what a person at the terminal should know
    };
    explicit RemoteDut(Options options);

    [[nodiscard]] fabric::Loop& loop() noexcept { return loop_; }
    [[nodiscard]] const Options& options() const noexcept { return options_; }
    /// So many times the usual.
    [[nodiscard]] fabric::Duration scaled(fabric::Duration usual) const noexcept {
        return std::chrono::duration_cast<fabric::Duration>(usual * options_.timeout_scale);
    }
    /// Waits until it is plugged in and its port active; `others` are the GUIDs of the ports that are not its. Throws
    /// std::runtime_error when that takes too long, Unsupported where the adapter lacks what schedules need,
    /// ChannelBroken.
    [[nodiscard]] std::unique_ptr<Subject> begin(fabric::Subnet& subnet, const Station::Config& config,
                                                 const std::set<std::uint64_t>& others);
    /// Its adapter, which is started if there is none.
    [[nodiscard]] Dut& dut();
    /// What it tells of its own faults since the last call. After one the next schedule has a new adapter, and with
    /// that a new DUT where the old one is dead.
    [[nodiscard]] std::vector<std::string> faults();
    /// It has said that it cannot send what must go in fragments; it need not be asked again.
    void sends_no_fragments() noexcept { knows_fragments_ = false; }
    [[nodiscard]] bool knows_fragments() const noexcept { return knows_fragments_; }

private:
    void drop() noexcept;

    Options options_;
    fabric::Loop loop_{fabric::Loop::Clock::real};
    std::unique_ptr<AdapterProcess> adapter_;
    std::optional<Dut> dut_;
    bool is_given_up_ = false, knows_fragments_ = true;
};

}  // namespace ipoib::conformance::explore
