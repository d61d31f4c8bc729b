// SPDX-License-Identifier: GPL-2.0-or-later
// An adapter in a process of its own (`exec:COMMAND`), which may hang, die, flood and lie. interfaces.md, "DUT
// control".
#pragma once

#include "base/child_process.hpp"
#include "base/line_buffer.hpp"
#include "conformance/dut/control.hpp"

#include <functional>

namespace ipoib::conformance {

/// Speaks to the adapter by its standard streams. Once the channel has failed it stays so: every further request gets
/// the same error. At the end the adapter finds its input at an end and has `grace` to restore what it changed.
class AdapterProcess : public DutControl {
public:
    using Remark = std::function<void(const std::string&)>;
    /// `loop` must have the real clock and outlive this. `remark` is told what a person at the terminal should know.
    AdapterProcess(fabric::Loop& loop, const std::string& command,
                   std::chrono::milliseconds grace = std::chrono::seconds{2}, Remark remark = {});
    ~AdapterProcess() override;
    AdapterProcess(const AdapterProcess&) = delete;
    AdapterProcess& operator=(const AdapterProcess&) = delete;

    /// Time in which a process of the adapter's was stopped does not count.
    [[nodiscard]] DutControlReply ask(const std::string& request, fabric::Duration patience) override;
    [[nodiscard]] bool waits_for_stopped() override;
    [[nodiscard]] int process() const override { return process_.id(); }
    /// The last 64 KiB; where more was written, a note says how much is left out.
    [[nodiscard]] std::string diagnostics() override;

private:
    [[nodiscard]] bool is_settled() const noexcept { return answer_.has_value() || !error_.empty(); }
    void begin(const std::string& request);
    void write_request();
    /// Takes one portion of standard output; whether there was one.
    bool read_output();
    void take_lines();
    bool read_diagnostics();
    void look_for_end();
    void fail(const std::string& why);
    [[nodiscard]] std::string last_words();

    fabric::Loop& loop_;
    ChildProcess process_;
    Remark remark_;
    std::string error_;
    bool is_asked_ = false, has_closed_ = false;
    std::string unwritten_;
    LineBuffer lines_;
    std::optional<std::string> answer_;
    std::string diagnostics_;
    std::size_t left_out_ = 0, diagnostics_count_ = 0;
};

}  // namespace ipoib::conformance
