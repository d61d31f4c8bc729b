// SPDX-License-Identifier: GPL-2.0-or-later
// What a run tells of itself on standard error: a line now and then, a bar on a terminal, a summary.
#pragma once

#include "conformance/terminal/terminal.hpp"

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ipoib::traffic {

/// What was counted so far.
struct Figures {
    std::uint64_t packets = 0, octets = 0;                           ///< whole frames, LRH to VCRC
    std::vector<std::pair<std::string_view, std::uint64_t>> more{};  ///< "lost", 3
};

struct ReportOptions {
    bool is_json = false, is_quiet = false;
    double interval = 0;      ///< seconds from line to line; 0: none
    std::uint64_t count = 0;  ///< packets at the end; 0: not known
    double duration = 0;      ///< seconds at the end; 0: not known
    bool is_slow = false;     ///< packets may come one by one: each is worth a look at the clock
};

class Reporter {
public:
    Reporter(const ReportOptions& options, std::function<Figures()> figures);

    /// With every packet.
    void tick() {
        if ((++ticks_ & mask_) == 0) look();
    }
    /// At the end; `remark` ends the line for people.
    void finish(const std::string& remark);
    /// Since the beginning.
    [[nodiscard]] double seconds() const;

private:
    using Clock = std::chrono::steady_clock;
    void look();
    [[nodiscard]] std::string in_json(const Figures& now, double seconds) const;
    [[nodiscard]] std::string in_words(const Figures& now, double seconds) const;

    ReportOptions options_;
    std::function<Figures()> figures_;
    conformance::StatusLine bar_;
    bool has_bar_;
    unsigned ticks_ = 0, mask_;
    Clock::time_point begun_ = Clock::now(), next_line_, next_bar_;
};

}  // namespace ipoib::traffic
