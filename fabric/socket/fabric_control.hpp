// SPDX-License-Identifier: GPL-2.0-or-later
// A command that changes a fabric from outside: requests and answers as lines of JSON on its standard input and output.
#pragma once

#include "base/child_process.hpp"
#include "base/line_buffer.hpp"
#include "fabric/change/change.hpp"

#include <memory>
#include <string>

namespace ipoib::fabric {

/// An answer that says no: "unsupported" or "failed", with the id of the request if it has one.
[[nodiscard]] std::string refusal(const std::string& request, const std::string& error, const std::string& message);

class FabricControlProcess {
public:
    /// The longest line of either side.
    static constexpr std::size_t longest_line = std::size_t{64} << 10;

    /// Starts `/bin/sh -c command`. Throws std::runtime_error. The loop has the real clock. What the command says on
    /// its standard error, a person sees on ours.
    FabricControlProcess(Loop& loop, std::string command);
    /// Ends its input and waits for it to end, and all that it has started; what does not is killed.
    ~FabricControlProcess();
    FabricControlProcess(const FabricControlProcess&) = delete;
    FabricControlProcess& operator=(const FabricControlProcess&) = delete;

    /// Sends a request and runs the loop until its answer is there: within 10 s, or the request's "deadline" in
    /// seconds. Never throws; what goes wrong is an answer with "failed".
    [[nodiscard]] std::string ask(const std::string& request);

private:
    /// What it says to a person, line by line, to its end.
    struct Words {
        ~Words();
        void hear(std::string_view octets);
        LineBuffer lines;
    };
    void read_some();
    void hear_some();
    void take_line(const std::string& line);
    void write_some();
    void watch();
    void unwatch();
    void give_up(const std::string& why);
    [[nodiscard]] std::string end_text();

    Loop& loop_;
    const std::string command_;
    Words words_;
    ChildProcess process_;
    LineBuffer lines_;
    std::string out_;
    std::string expected_;  ///< id of the request that waits, as JSON; empty: none
    std::string answer_;
    std::string problem_;  ///< why nothing can be asked any more
    unsigned long last_id_ = 0;
};

/// The command that changes a fabric from outside, if one is given.
class FabricControl {
public:
    /// An empty command is none. As FabricControlProcess.
    FabricControl(Loop& loop, const std::string& command)
        : command_(command),
          process_(command.empty() ? nullptr : std::make_unique<FabricControlProcess>(loop, command)) {}
    [[nodiscard]] explicit operator bool() const noexcept { return process_ != nullptr; }
    [[nodiscard]] const std::string& command() const noexcept { return command_; }
    [[nodiscard]] ChangeAnswer change(const FabricChange& change, Duration patience) {
        if (!process_) return {ChangeAnswer::Outcome::unsupported, "no --fabric-control command is given"};
        return parse_answer(process_->ask(request_text(change, ++last_id_, patience)));
    }

private:
    std::uint64_t last_id_ = 0;
    std::string command_;
    std::unique_ptr<FabricControlProcess> process_;
};

}  // namespace ipoib::fabric
