// SPDX-License-Identifier: GPL-2.0-or-later
// Judging that goes on: captures that are still being written, one subnet all of them.
#pragma once

#include "conformance/watch/events.hpp"
#include "conformance/watch/metrics.hpp"

#include <chrono>
#include <filesystem>
#include <mutex>
#include <string>
#include <vector>

namespace ipoib::watch {

struct Options {
    std::string source;                     ///< "-", a file, a folder
    std::chrono::milliseconds duration{0};  ///< 0: until capture::request_stop()
    std::chrono::milliseconds interval{0};  ///< between two looks at findings and metrics
    unsigned threads = 1;                   ///< that look at frames; 0: as many as usual
    conformance::JudgeOptions judge{};
};

/// What becomes of what a watch finds; each may be empty. None is called by two threads at once.
struct Outlets {
    Events::Sink event{};                               ///< a line of JSON
    std::function<void(const std::string&)> metrics{};  ///< a whole exposition
    conformance::Judge::Listener violation{};           ///< the first of each kind
};

/// One run of it.
class Watch {
public:
    Watch(Options options, Outlets outlets);
    /// Until it is stopped, its time is over, or standard input ends. Returns what was judged.
    [[nodiscard]] reports::Results run();

private:
    void read_all();
    void read(capture::Reader& reader, const std::string& name);
    void take(const conformance::Sighting& sighting, const inspection::Examined& examined);
    void look();
    void look_on();
    [[nodiscard]] Place place_of(std::uint64_t frame) const;

    /// A capture's first frame, as the judge counts on over all of them.
    struct Begin {
        std::uint64_t frame;
        std::string file;
    };
    static constexpr std::size_t most_begins = 4096;

    Options options_;
    Outlets outlets_;
    links::Observer observer_;
    Events events_;
    conformance::Judge judge_;
    Counts counts_;
    std::vector<Begin> begins_;
    std::string error_;
    std::mutex mutex_;  ///< of all that is known, between who reads and who looks
    std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
};

}  // namespace ipoib::watch
