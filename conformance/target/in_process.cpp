// SPDX-License-Identifier: GPL-2.0-or-later
// Requests to the adapter of a stack in this process. interfaces.md, "DUT control".
#include "conformance/target/in_process.hpp"

namespace ipoib::conformance {

InProcess::InProcess(fabric::Loop& loop, stack::Adapter& adapter, fabric::Duration delay)
    : loop_(loop), adapter_(adapter), delay_(delay) {}

void InProcess::pass_delay() {
    if (delay_ != fabric::Duration{}) loop_.run_for(delay_);
}

DutControlReply InProcess::ask(const std::string& request, fabric::Duration patience) {
    auto& channel = *channel_;
    if (!channel.error.empty()) return {.line = {}, .error = channel.error};
    channel.answer.reset();
    pass_delay();
    const auto deadline = loop_.now() + patience;
    adapter_.request(request, [channel = channel_, number = ++channel.asked](std::string answer) {
        if (number != channel->asked || channel->answer)
            channel->error = "the adapter answered twice";
        else
            channel->answer = std::move(answer);
    });
    const bool is_settled = loop_.run_until([&] { return channel.answer || !channel.error.empty(); }, deadline);
    pass_delay();
    if (channel.answer) return {.line = *channel.answer, .error = {}};
    if (!is_settled)
        channel.error = fabric::Loop::stop_requested() ? "the adapter was interrupted in its work"
                                                       : "the adapter did not answer in time";
    return {.line = {}, .error = channel.error};
}

}  // namespace ipoib::conformance
