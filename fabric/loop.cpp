// SPDX-License-Identifier: GPL-2.0-or-later
// The loop: one order of frames and timers, the virtual clock that jumps, the real one that sleeps in poll(2).
#include "fabric/loop.hpp"

#include "base/descriptor.hpp"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <optional>
#include <stdexcept>
#include <vector>

namespace ipoib::fabric {
namespace {

/// When something happens; what was scheduled first goes first.
struct When {
    Time time{};
    std::uint64_t sequence = 0;
    friend bool operator<(const When& a, const When& b) noexcept {
        return a.time != b.time ? a.time < b.time : a.sequence < b.sequence;
    }
};

struct Later {
    template <class T>
    bool operator()(const T& a, const T& b) const noexcept {
        return b.when < a.when;
    }
};

struct InFlight {
    When when;
    FrameSink* sink = nullptr;  ///< null: forgotten
    Frame frame;
};

/// Frames in flight. Nearly all are scheduled in the order of their arrival: these stand in a ring, the rest in a heap.
class FrameQueue {
public:
    void push(When when, FrameSink& sink, Frame&& frame) {
        if (count_ == 0 || slot(count_ - 1).when.time <= when.time) {
            if (count_ == ring_.size()) grow();
            slot(count_++) = InFlight{when, &sink, std::move(frame)};
            return;
        }
        heap_.push_back({when, &sink, std::move(frame)});
        std::push_heap(heap_.begin(), heap_.end(), Later{});
    }
    /// When the next frame arrives; null when none is on its way.
    [[nodiscard]] const When* next() {
        while (count_ != 0 && !slot(0).sink) drop_first();
        while (!heap_.empty() && !heap_.front().sink) pop_heap();
        if (count_ == 0) return heap_.empty() ? nullptr : &heap_.front().when;
        if (heap_.empty() || slot(0).when < heap_.front().when) return &slot(0).when;
        return &heap_.front().when;
    }
    /// Takes the frame that next() told of.
    InFlight pop() {
        if (count_ != 0 && (heap_.empty() || slot(0).when < heap_.front().when)) {
            InFlight first = std::move(slot(0));
            drop_first();
            return first;
        }
        return pop_heap();
    }
    void forget(const FrameSink& sink) {
        const auto erase = [&sink](InFlight& entry) {
            if (entry.sink != &sink) return;
            entry.sink = nullptr;
            entry.frame = Frame{};
        };
        for (std::size_t i = 0; i < count_; ++i) erase(slot(i));
        for (auto& entry : heap_) erase(entry);
    }

private:
    InFlight& slot(std::size_t index) noexcept { return ring_[(first_ + index) & (ring_.size() - 1)]; }
    void drop_first() noexcept {
        slot(0).frame = Frame{};
        first_ = (first_ + 1) & (ring_.size() - 1);
        --count_;
    }
    InFlight pop_heap() {
        std::pop_heap(heap_.begin(), heap_.end(), Later{});
        InFlight first = std::move(heap_.back());
        heap_.pop_back();
        return first;
    }
    void grow() {
        constexpr std::size_t at_first = 64;
        std::vector<InFlight> larger(ring_.empty() ? at_first : 2 * ring_.size());
        for (std::size_t i = 0; i < count_; ++i) larger[i] = std::move(slot(i));
        ring_ = std::move(larger);
        first_ = 0;
    }

    std::vector<InFlight> ring_;  ///< a power of two of them
    std::size_t first_ = 0, count_ = 0;
    std::vector<InFlight> heap_;
};

/// Timers. A cancelled one leaves its place in the heap behind, until the abandoned places are the most.
class TimerQueue {
public:
    TimerId add(When when, std::function<void()>&& action) {
        if (!action) return {};
        if (free_.empty()) {
            free_.push_back(static_cast<std::uint32_t>(slots_.size()));
            slots_.emplace_back();
            free_.reserve(slots_.capacity());
        }
        const auto index = free_.back();
        free_.pop_back();
        slots_[index].action = std::move(action);
        const auto id = std::uint64_t{++slots_[index].generation} << 32 | index;
        heap_.push_back({when, id});
        std::push_heap(heap_.begin(), heap_.end(), Later{});
        return {id};
    }
    void cancel(TimerId timer) noexcept {
        if (!is_pending(timer.value)) return;
        // What the action owns may cancel timers in its turn.
        const auto owned = take(timer.value);
        if (++abandoned_ > tolerated && abandoned_ > heap_.size() / 2) tidy();
    }
    [[nodiscard]] const When* next() {
        while (!heap_.empty() && !is_pending(heap_.front().id)) {
            pop_place();
            --abandoned_;
        }
        return heap_.empty() ? nullptr : &heap_.front().when;
    }
    /// Takes the action of the timer that next() told of.
    std::function<void()> pop() {
        const auto id = heap_.front().id;
        pop_place();
        return take(id);
    }

private:
    static constexpr std::size_t tolerated = 64;
    struct Place {
        When when;
        std::uint64_t id;
    };
    struct Slot {
        std::uint32_t generation = 0;
        std::function<void()> action;
    };

    [[nodiscard]] bool is_pending(std::uint64_t id) const noexcept {
        const auto index = static_cast<std::uint32_t>(id);
        return index < slots_.size() && slots_[index].generation == id >> 32 && slots_[index].action;
    }
    std::function<void()> take(std::uint64_t id) noexcept {
        const auto index = static_cast<std::uint32_t>(id);
        free_.push_back(index);
        return std::exchange(slots_[index].action, nullptr);
    }
    void pop_place() {
        std::pop_heap(heap_.begin(), heap_.end(), Later{});
        heap_.pop_back();
    }
    void tidy() noexcept {
        std::erase_if(heap_, [this](const Place& place) { return !is_pending(place.id); });
        std::make_heap(heap_.begin(), heap_.end(), Later{});
        abandoned_ = 0;
    }

    std::vector<Slot> slots_;
    std::vector<std::uint32_t> free_;
    std::vector<Place> heap_;
    std::size_t abandoned_ = 0;
};

struct Watch {
    int descriptor;
    short events;
    std::shared_ptr<const std::function<void(short)>> ready;
};

std::atomic<bool> is_stopping{false};
/// Readable while stop is requested, so that a request between a look at the flag and poll(2) is not lost. -1 as long
/// as no loop has a real clock.
std::atomic<int> stop_descriptor{-1};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

void make_stop_descriptor() {
    if (stop_descriptor >= 0) return;
    Descriptor made{::eventfd(is_stopping ? 1 : 0, EFD_CLOEXEC | EFD_NONBLOCK)};
    int none = -1;
    // It stays open as long as the program runs: a signal may come at any time.
    if (made && stop_descriptor.compare_exchange_strong(none, made.value())) static_cast<void>(made.release());
}

Time real_now() noexcept { return std::chrono::steady_clock::now().time_since_epoch(); }

}  // namespace

struct Loop::State {
    explicit State(Clock kind) : is_virtual(kind == Clock::virtual_time), start(real_now()) {
        if (!is_virtual) make_stop_descriptor();
    }

    [[nodiscard]] Time now() const noexcept {
        if (is_virtual) return virtual_now;
        return paused_at ? *paused_at : real_now() - start;
    }
    [[nodiscard]] When when(Time time) noexcept {
        return {is_virtual ? std::max(time, virtual_now) : time, ++sequence};
    }
    [[nodiscard]] const When* next() {
        const auto *frame = frames.next(), *timer = timers.next();
        if (!frame || !timer) return frame ? frame : timer;
        return *frame < *timer ? frame : timer;
    }
    void happen(const When& when);
    bool run_virtual(const std::function<bool()>& done, Time deadline);
    bool run_real(const std::function<bool()>& done, Time deadline);
    /// Sleeps until `until` or a descriptor is ready; whether one was served.
    bool serve_descriptors(Time until);

    const bool is_virtual;
    Time start;
    std::optional<Time> paused_at;  ///< while the clock stands
    Time virtual_now{};
    std::uint64_t sequence = 0, looks = 0;
    FrameQueue frames;
    TimerQueue timers;
    std::vector<Watch> watches;
    std::vector<pollfd> polled;
};

void Loop::State::happen(const When& when) {
    const auto* frame = frames.next();
    if (frame == &when) {
        const auto arriving = frames.pop();
        arriving.sink->receive(arriving.frame);
    } else {
        timers.pop()();
    }
    ++looks;
}

bool Loop::State::run_virtual(const std::function<bool()>& done, Time deadline) {
    while (!done()) {
        if (stop_requested()) return false;
        const auto* when = next();
        if (!when || when->time > deadline) {
            virtual_now = std::max(virtual_now, deadline);
            return false;
        }
        virtual_now = std::max(virtual_now, when->time);
        happen(*when);
    }
    return true;
}

bool Loop::State::run_real(const std::function<bool()>& done, Time deadline) {
    if (done()) return true;
    while (!stop_requested()) {
        // What is scheduled while these happen waits until the descriptors had their turn.
        const auto last = sequence;
        for (const auto* when = next(); when && when->time <= now() && when->sequence <= last; when = next()) {
            happen(*when);
            if (done()) return true;
            if (stop_requested()) return false;
        }
        const auto* when = next();
        const auto until = when && !paused_at ? std::min(when->time, deadline) : deadline;
        if (serve_descriptors(until) && done()) return true;
        const auto* after = next();
        if (now() >= deadline && (!after || after->time > deadline)) return false;
    }
    return false;
}

bool Loop::State::serve_descriptors(Time until) {
    polled.clear();
    for (const auto& watch : watches) polled.push_back({watch.descriptor, watch.events, 0});
    polled.push_back({stop_descriptor, POLLIN, 0});

    constexpr Time longest = std::chrono::hours{1};
    const auto wait = std::clamp(until - now(), Time{}, longest);
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(wait);
    const timespec timeout{static_cast<time_t>(seconds.count()), static_cast<long>((wait - seconds).count())};
    if (::ppoll(polled.data(), polled.size(), &timeout, nullptr) <= 0) return false;

    // What is served may run the loop, and so poll again.
    const auto found = polled;
    bool is_served = false;
    for (const auto& entry : found) {
        if (entry.revents == 0) continue;
        const auto watch =
            std::find_if(watches.begin(), watches.end(), [&](const Watch& w) { return w.descriptor == entry.fd; });
        if (watch == watches.end()) continue;
        const auto ready = watch->ready;  // may be replaced while it runs
        (*ready)(entry.revents);
        is_served = true;
    }
    if (is_served) ++looks;
    return is_served;
}

Loop::Loop(Clock clock) : state_(std::make_unique<State>(clock)) {}
/// What actions own may still use the loop while it goes.
Loop::~Loop() {
    const auto timers = std::move(state_->timers);
    const auto watches = std::move(state_->watches);
    state_->timers = {};
    state_->watches.clear();
}

Time Loop::now() const noexcept { return state_->now(); }
std::uint64_t Loop::looks() const noexcept { return state_->looks; }
bool Loop::is_virtual() const noexcept { return state_->is_virtual; }

void Loop::deliver(Time time, FrameSink& sink, Frame frame) {
    state_->frames.push(state_->when(time), sink, std::move(frame));
}
void Loop::forget(const FrameSink& sink) { state_->frames.forget(sink); }

TimerId Loop::at(Time time, std::function<void()> action) {
    return state_->timers.add(state_->when(time), std::move(action));
}
void Loop::cancel(TimerId& timer) noexcept { state_->timers.cancel(std::exchange(timer, TimerId{})); }

void Loop::watch(int descriptor, short events, std::function<void(short)> ready) {
    if (state_->is_virtual) throw std::logic_error("a loop with a virtual clock watches no descriptors");
    unwatch(descriptor);
    state_->watches.push_back({descriptor, events, std::make_shared<std::function<void(short)>>(std::move(ready))});
}
void Loop::unwatch(int descriptor) noexcept {
    std::erase_if(state_->watches, [descriptor](const Watch& watch) { return watch.descriptor == descriptor; });
}

bool Loop::run_until(const std::function<bool()>& done, Time deadline) {
    return state_->is_virtual ? state_->run_virtual(done, deadline) : state_->run_real(done, deadline);
}

void Loop::pause_until_readable(int descriptor) {
    bool is_readable = false;
    if (state_->is_virtual) {
        make_stop_descriptor();
        std::array<pollfd, 2> polled{{{descriptor, POLLIN, 0}, {stop_descriptor, POLLIN, 0}}};
        while (!stop_requested() && ::poll(polled.data(), polled.size(), -1) < 0 && errno == EINTR) {
        }
        return;
    }
    const auto began = state_->now();
    state_->paused_at = began;
    watch(descriptor, POLLIN, [&is_readable](short) { is_readable = true; });
    run_until([&is_readable] { return is_readable; }, Time::max());
    unwatch(descriptor);
    state_->paused_at.reset();
    state_->start = real_now() - began;
}

void Loop::request_stop() noexcept {
    is_stopping = true;
    const int error = errno;  // a signal handler leaves it as it was
    const std::uint64_t one = 1;
    if (const int descriptor = stop_descriptor; descriptor >= 0) [[maybe_unused]]
        const auto written = ::write(descriptor, &one, sizeof one);
    errno = error;
}
void Loop::clear_stop() noexcept {
    is_stopping = false;
    std::uint64_t count = 0;
    if (const int descriptor = stop_descriptor; descriptor >= 0) [[maybe_unused]]
        const auto taken = ::read(descriptor, &count, sizeof count);
}
bool Loop::stop_requested() noexcept { return is_stopping.load(std::memory_order_relaxed); }

}  // namespace ipoib::fabric
