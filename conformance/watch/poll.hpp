// SPDX-License-Identifier: GPL-2.0-or-later
// Going on judging what a subnet administrator holds: it is asked again and again.
#pragma once

#include "conformance/audit/findings.hpp"
#include "conformance/watch/events.hpp"

#include <chrono>
#include <functional>
#include <optional>
#include <set>
#include <string>

namespace ipoib::watch {

struct PollOptions {
    std::string fabric;                     ///< as it is named
    std::chrono::milliseconds duration{0};  ///< 0: until it is stopped
    std::chrono::milliseconds interval{0};  ///< from the begin of one survey to that of the next
    std::vector<hosts::HostState> hosts{};
};

/// What a poll needs of the fabric, and what becomes of what it finds; each of the outlets may be empty.
struct PollPorts {
    std::function<audit::Inventory()> survey;             ///< throws std::runtime_error
    std::function<bool(std::chrono::milliseconds)> wait;  ///< false: it was stopped meanwhile
    std::function<std::int64_t()> now;                    ///< in ns since 1970
    Events::Sink event{};                                 ///< a line of JSON
    std::function<void(const std::string&)> metrics{};    ///< a whole exposition
    std::function<void(const reports::Result&, const reports::Detail&)> violation{};  ///< the first of each kind
    std::function<void(const std::string&)> fault{};  ///< an administrator that did not answer
};

/// One run of it.
class Poll {
public:
    Poll(PollOptions options, PollPorts ports);
    /// Until it is stopped, or its time is over. What the last survey gave; an error where there was none.
    struct Outcome {
        std::optional<audit::Inventory> inventory;
        reports::Results results;
        std::vector<std::string> notes;
        std::string error;  ///< why the last survey failed; empty where it did not
    };
    [[nodiscard]] Outcome run();

private:
    struct Counts {
        std::uint64_t polls = 0, failures = 0, questions = 0;
        std::int64_t last = 0;  ///< survey that did not fail
    };
    void ask(Outcome& outcome);
    void tell(const Outcome& outcome, std::int64_t time);
    [[nodiscard]] std::string metrics(const Outcome& outcome) const;

    PollOptions options_;
    PollPorts ports_;
    Counts counts_;
    std::set<std::string> violations_, findings_;
};

}  // namespace ipoib::watch
