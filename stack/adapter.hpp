// SPDX-License-Identifier: GPL-2.0-or-later
// The DUT control protocol over a node of ours: a line of JSON in, a line of JSON out. docs/porting.md has the
// protocol.
#pragma once

#include "stack/node.hpp"

namespace ipoib::stack {

class Adapter {
public:
    /// A longer request is refused.
    static constexpr std::size_t longest_request = 65536;
    /// `driver`: what the node calls itself.
    explicit Adapter(Node& node, std::string driver = "reference") : node_(node), driver_(std::move(driver)) {}

    using Answer = std::function<void(std::string)>;
    /// Carries a request out and calls `answer` once with one line, without its end; later where the stack must wait.
    /// Whatever the line holds, it is answered. The node must outlive what it was asked.
    void request(std::string_view line, Answer answer);

private:
    void carry_out(std::string_view line, Answer answer);
    Node& node_;
    const std::string driver_;
};

}  // namespace ipoib::stack
