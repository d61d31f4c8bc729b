// SPDX-License-Identifier: GPL-2.0-or-later
// The clock of a fabric and what happens on it: frames in flight, timers, descriptors. One thread.
#pragma once

#include "fabric/frame.hpp"

#include <chrono>
#include <functional>
#include <memory>

namespace ipoib::fabric {

/// Since the loop was made.
using Time = std::chrono::nanoseconds;
using Duration = std::chrono::nanoseconds;

/// Where frames arrive: a port of a switch or of an HCA, a stream to another process.
class FrameSink {
public:
    virtual ~FrameSink() = default;
    virtual void receive(const Frame& frame) = 0;
};

/// What a timer is cancelled by; a zero one is none.
struct TimerId {
    std::uint64_t value = 0;
    explicit operator bool() const noexcept { return value != 0; }
};

/// Runs frames and timers in order of time, and of scheduling where the time is equal. With a virtual clock the time
/// jumps to what is next, so nothing waits; with the real clock the loop sleeps in poll(2).
class Loop {
public:
    enum class Clock : std::uint8_t { virtual_time, real };
    explicit Loop(Clock clock = Clock::virtual_time);
    ~Loop();
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

    [[nodiscard]] Time now() const noexcept;
    [[nodiscard]] bool is_virtual() const noexcept;

    /// Hands `frame` to `sink` at `time`, or now if that is past. The hot path: no allocation. `sink` must outlive it,
    /// or forget(sink).
    void deliver(Time time, FrameSink& sink, Frame frame);
    /// Drops the frames that are on their way to `sink`.
    void forget(const FrameSink& sink);

    TimerId at(Time time, std::function<void()> action);
    TimerId after(Duration delay, std::function<void()> action) { return at(now() + delay, std::move(action)); }
    /// Cancels a timer that has not fired; any other is left alone. `timer` is none afterwards.
    void cancel(TimerId& timer) noexcept;

    /// Calls `ready(revents)` when poll(2) finds `events` (or an error or hang-up) on the descriptor. Only with the
    /// real clock: std::logic_error with the virtual one. A second call for the same descriptor replaces the first.
    void watch(int descriptor, short events, std::function<void(short)> ready);
    void unwatch(int descriptor) noexcept;

    /// Runs until `done` (asked first, then after each thing that happened) or until `deadline`, what is due then
    /// included; whether it is done. With a virtual clock the time is `deadline` afterwards if it was not. Returns
    /// early, not done, when stop was requested. What happens may run the loop itself.
    bool run_until(const std::function<bool()>& done, Time deadline);
    /// How often run_until had something to look at so far: what comes in while this does not change comes in one go.
    [[nodiscard]] std::uint64_t looks() const noexcept;
    void run_for(Duration duration) {
        run_until([] { return false; }, now() + duration);
    }

    /// Waits until something can be read from the descriptor, or stop is requested, and the clock stands meanwhile: no
    /// timer fires that is not due. Descriptors are served, so that who is on the other side finds an answer.
    void pause_until_readable(int descriptor);

    /// From a signal handler: every loop ends its run_until, now and later, until `clear_stop`.
    static void request_stop() noexcept;
    static void clear_stop() noexcept;
    [[nodiscard]] static bool stop_requested() noexcept;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace ipoib::fabric
