// SPDX-License-Identifier: GPL-2.0-or-later
// The adapter of a stack in this process: the same requests and answers, without pipes. interfaces.md, "DUT control".
#pragma once

#include "conformance/dut/control.hpp"
#include "stack/adapter.hpp"

namespace ipoib::conformance {

class InProcess : public DutControl {
public:
    /// `adapter` runs on `loop`; both must outlive this. It gets a request after the delay, and so does its answer get
    /// here.
    InProcess(fabric::Loop& loop, stack::Adapter& adapter, fabric::Duration delay = {});
    [[nodiscard]] DutControlReply ask(const std::string& request, fabric::Duration patience) override;

private:
    void pass_delay();

    /// Outlives this as long as the adapter may still answer.
    struct Channel {
        std::uint64_t asked = 0;  ///< the number of the request that is open
        std::optional<std::string> answer;
        std::string error;
    };
    fabric::Loop& loop_;
    stack::Adapter& adapter_;
    fabric::Duration delay_;
    std::shared_ptr<Channel> channel_ = std::make_shared<Channel>();
};

}  // namespace ipoib::conformance
