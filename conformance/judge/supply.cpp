// SPDX-License-Identifier: GPL-2.0-or-later
// One thread reads at a time, a block of frames, and looks at each of them while the next reads on. The thread that
// judges takes the blocks in their order. There are few blocks: who is too fast waits.
#include "conformance/judge/supply.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <stdexcept>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

namespace ipoib::conformance {
namespace {

using inspection::Examined;
using inspection::Examiner;

constexpr std::size_t octets_of_block = std::size_t{384} << 10;

Examined examine(Examiner& examiner, const Sighting& sighting, bool keeps) {
    const auto& frame = sighting.frame;
    const auto medium = medium_of(frame.link_type);
    if (!medium) return {};
    return keeps ? examiner.examine_and_keep(frame.octets, frame.wire_length, *medium, sighting.origin)
                 : examiner.examine(frame.octets, frame.wire_length, *medium, sighting.origin);
}

/// Frames that follow each other, with copies of their octets.
class Block {
public:
    Block(const inspection::RuleList& rules, std::size_t most)
        : examiner_(rules), most_(most), octets_(octets_of_block) {
        sightings_.reserve(most);
    }

    void clear() {
        sightings_.clear();
        examined_.clear();
        losses_.clear();
        texts_.clear();
        examiner_.forget();
        used_ = 0;
        is_borrowed_ = false;
    }
    [[nodiscard]] bool empty() const noexcept { return sightings_.empty() && losses_.empty(); }
    [[nodiscard]] bool is_full() const noexcept { return sightings_.size() == most_; }
    /// Its frame is where the supply has it, which must not be asked before the block was judged.
    [[nodiscard]] bool is_borrowed() const noexcept { return is_borrowed_; }

    /// False where there is no room; into an empty block all go.
    bool add(const Sighting& sighting) {
        const auto octets = needed(sighting.frame);
        if (octets.size() > octets_.size() - used_) {
            if (!sightings_.empty()) return false;
            is_borrowed_ = true;
            sightings_.push_back(sighting);
            return true;
        }
        auto& added = sightings_.emplace_back(sighting);
        auto* to = octets_.data() + used_;
        // std::ranges::copy of GCC 12 takes octet by octet.
        std::copy_n(octets.data(), octets.size(), to);
        used_ += octets.size();
        added.frame.octets = {to, octets.size()};
        added.frame.comment = {};
        if (!added.frame.lost_on.empty())
            added.frame.lost_on = *texts_.emplace_back(std::make_unique<std::string>(added.frame.lost_on));
        return true;
    }
    void add(ToldLoss loss) { losses_.push_back({sightings_.size(), std::move(loss)}); }

    void examine() {
        for (const auto& sighting : sightings_)
            examined_.push_back(ipoib::conformance::examine(examiner_, sighting, true));
    }
    void give(const Consumer& consumer) const {
        auto loss = losses_.begin();
        for (std::size_t i = 0; i <= sightings_.size(); ++i) {
            for (; loss != losses_.end() && loss->before == i; ++loss) consumer.loss(loss->told);
            if (i < sightings_.size()) consumer.frame(sightings_[i], examined_[i]);
        }
    }

    std::uint64_t number = 0;
    bool is_ready = false;
    std::pair<std::uint64_t, std::uint64_t> progress;

private:
    /// Of a frame that cannot be judged nobody looks at the octets.
    static wire::Octets needed(const capture::Frame& frame) {
        return medium_of(frame.link_type) ? frame.octets : wire::Octets{};
    }

    struct PlacedLoss {
        std::size_t before;  ///< so many of the frames were before it
        ToldLoss told;
    };
    Examiner examiner_;
    std::size_t most_;
    std::vector<Sighting> sightings_;
    std::vector<Examined> examined_;
    std::vector<PlacedLoss> losses_;
    std::vector<std::unique_ptr<std::string>> texts_;
    std::vector<std::uint8_t> octets_;
    std::size_t used_ = 0;
    bool is_borrowed_ = false;
};

/// The blocks, and the threads that fill them.
class Line {
public:
    Line(Supply& supply, const inspection::RuleList& rules, const Crew& crew) : supply_(supply) {
        const auto workers = crew.threads - 1;
        constexpr std::size_t beside = 2;
        for (std::size_t i = 0; i < workers + beside; ++i)
            blocks_.push_back(std::make_unique<Block>(rules, crew.frames_of_block));
        for (auto& block : blocks_) free_.push_back(block.get());
        supply_.on_loss = [this](ToldLoss loss) {
            if (current_) current_->add(std::move(loss));
        };
        supply_.on_wait([this] { hand_on(); });
        try {
            for (unsigned i = 0; i < workers; ++i) threads_.emplace_back([this] { work(); });
        } catch (const std::system_error&) {
            // Where the system gives no more, fewer will do.
        }
    }
    [[nodiscard]] bool has_workers() const noexcept { return !threads_.empty(); }
    ~Line() {
        {
            const std::scoped_lock lock{mutex_};
            is_given_up_ = true;
        }
        changed_.notify_all();
        for (auto& thread : threads_) thread.join();
        supply_.on_wait({});
        supply_.on_loss = {};
    }
    Line(const Line&) = delete;
    Line& operator=(const Line&) = delete;

    /// The next block; null when there are no more. What the supply has thrown is thrown here, behind all that it gave.
    Block* next() {
        std::unique_lock lock{mutex_};
        Block* found = nullptr;
        changed_.wait(lock, [&] {
            const auto at = std::ranges::find_if(
                blocks_, [&](const auto& block) { return block->is_ready && block->number == judged_; });
            found = at == blocks_.end() ? nullptr : at->get();
            return found || (has_ended_ && judged_ == numbered_);
        });
        if (!found && problem_) std::rethrow_exception(problem_);
        return found;
    }
    void done(Block& block) {
        {
            const std::scoped_lock lock{mutex_};
            block.is_ready = false;
            ++judged_;
            free_.push_back(&block);
        }
        changed_.notify_all();
    }

private:
    void work() {
        for (;;) {
            Block* block = nullptr;
            {
                const std::scoped_lock reading{reading_};
                if (is_over_ || !begin()) return;
                try {
                    fill();
                } catch (...) {
                    fail();
                    is_over_ = true;
                }
                block = std::exchange(current_, nullptr);
                block->progress = supply_.progress();
            }
            finish(*block);
        }
    }

    /// A block to be filled; false where nobody wants it any more. Called by the thread that reads.
    bool begin() {
        std::unique_lock lock{mutex_};
        changed_.wait(lock,
                      [this] { return is_given_up_ || (!free_.empty() && (!is_borrowed_ || judged_ == numbered_)); });
        if (is_given_up_) return false;
        current_ = free_.back();
        free_.pop_back();
        current_->clear();
        current_->number = numbered_++;
        is_borrowed_ = false;
        return true;
    }
    void fill() {
        if (has_pending_) {
            has_pending_ = false;
            current_->add(pending_);
        }
        while (!current_->is_full() && !current_->is_borrowed()) {
            if (!supply_.next(pending_)) {
                end();
                return;
            }
            if (!current_ || !current_->add(pending_)) {
                has_pending_ = true;
                break;
            }
        }
        is_borrowed_ = current_->is_borrowed();
    }
    void end() {
        is_over_ = true;
        const std::scoped_lock lock{mutex_};
        has_ended_ = true;
    }
    void fail() {
        const std::scoped_lock lock{mutex_};
        problem_ = std::current_exception();
        has_ended_ = true;
    }
    void finish(Block& block) {
        try {
            block.examine();
        } catch (...) {
            fail();
            block.clear();
        }
        {
            const std::scoped_lock lock{mutex_};
            block.is_ready = true;
        }
        changed_.notify_all();
    }
    /// While the supply waits for more, what is there is judged. Where nobody does that any more, the waiting ends.
    void hand_on() {
        if (is_given_up()) throw std::runtime_error("nobody takes what is read");
        if (current_->empty()) return;
        auto* block = current_;
        if (!begin()) throw std::runtime_error("nobody takes what is read");
        block->progress = supply_.progress();
        finish(*block);
    }

    bool is_given_up() {
        const std::scoped_lock lock{mutex_};
        return is_given_up_;
    }

    Supply& supply_;
    std::vector<std::unique_ptr<Block>> blocks_;

    std::mutex reading_;  ///< held by the thread that reads, with what follows
    Block* current_ = nullptr;
    Sighting pending_;  ///< read, and not in a block yet
    bool has_pending_ = false, is_over_ = false;
    bool is_borrowed_ = false;  ///< the block before is, of a frame that the supply still has

    std::mutex mutex_;  ///< of what follows, and of the blocks' numbers
    std::condition_variable changed_;
    std::vector<Block*> free_;
    std::uint64_t numbered_ = 0, judged_ = 0;
    bool has_ended_ = false, is_given_up_ = false;
    std::exception_ptr problem_;

    std::vector<std::thread> threads_;
};

/// On this thread; false when the supply has no more, true after so many frames.
bool hand_over_some(Supply& supply, Examiner& examiner, const Consumer& consumer, std::size_t most) {
    supply.on_loss = [&](const ToldLoss& loss) { consumer.loss(loss); };
    Sighting sighting;
    for (std::size_t i = 0; i < most; ++i) {
        if (!supply.next(sighting)) return false;
        const auto give = [&] { consumer.frame(sighting, examine(examiner, sighting, false)); };
        if (consumer.together)
            consumer.together(give);
        else
            give();
        constexpr std::size_t between = 4096;
        if (consumer.progress && i % between == between - 1) std::apply(consumer.progress, supply.progress());
    }
    return true;
}

}  // namespace

unsigned usual_threads() noexcept {
    constexpr unsigned that_help = 8;
    return std::clamp(std::thread::hardware_concurrency(), 1U, that_help);
}

void hand_over(Supply& supply, const inspection::RuleList& rules, const Crew& wanted, const Consumer& consumer) {
    auto crew = wanted;
    if (crew.threads == 0) crew.threads = usual_threads();
    constexpr auto all = ~std::size_t{0};
    Examiner examiner{rules};
    const auto has_more = hand_over_some(supply, examiner, consumer, crew.threads == 1 ? all : crew.alone);
    if (!has_more) return;
    {
        Line line{supply, rules, crew};
        while (auto* block = line.has_workers() ? line.next() : nullptr) {
            const auto give = [&] { block->give(consumer); };
            if (consumer.together)
                consumer.together(give);
            else
                give();
            if (consumer.progress) std::apply(consumer.progress, block->progress);
            line.done(*block);
        }
        if (line.has_workers()) return;
    }
    hand_over_some(supply, examiner, consumer, all);
}

}  // namespace ipoib::conformance
