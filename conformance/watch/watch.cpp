// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/watch/watch.hpp"

#include "conformance/judge/passive.hpp"
#include "conformance/watch/follower.hpp"

#include <algorithm>
#include <condition_variable>
#include <thread>

namespace ipoib::watch {

Watch::Watch(Options options, Outlets outlets)
    : options_(std::move(options)),
      outlets_(std::move(outlets)),
      events_(
          [this](const std::string& line) {
              if (outlets_.event) outlets_.event(line);
          },
          [this](std::uint64_t frame) { return place_of(frame); }),
      judge_(
          rules::every(), 0,
          [this](const rules::Rule& rule, const reports::Detail& detail) {
              observer_.listener()(rule, detail);
              if (!events_.violation(rule, detail) || !outlets_.violation) return;
              auto told = detail;
              told.frame = place_of(detail.frame).frame;
              outlets_.violation(rule, told);
          },
          options_.judge) {
    judge_.set_onlooker(observer_.onlooker());
}

Place Watch::place_of(std::uint64_t frame) const {
    const auto behind = std::ranges::upper_bound(begins_, frame, {}, &Begin::frame);
    if (behind == begins_.begin()) return {.frame = frame};
    const auto& begin = *(behind - 1);
    return {begin.file, frame - begin.frame + 1};
}

namespace {

/// One capture of those that follow each other: its frames are counted on from those before.
class Counted final : public conformance::Supply {
public:
    Counted(capture::Reader& reader, std::uint64_t before) : reader_(reader), before_(before) {
        reader_.on_loss([this](capture::Loss loss) {
            for (auto* place : {&loss.after, &loss.before})
                if (place->frame != 0) place->frame += before_;
            const auto name = reader_.interface_name(loss.interface);
            on_loss({.loss = loss, .origin = inspection::origin_of(name), .interface_name = std::string(name)});
        });
    }
    bool next(conformance::Sighting& sighting) override {
        auto& frame = sighting.frame;
        status_ = reader_.next(frame);
        if (status_ != capture::Status::frame) return false;
        frame.number += before_;
        sighting.origin = inspection::origin_of(reader_.interface_name(frame.interface));
        return true;
    }
    void on_wait(std::function<void()> listener) override { reader_.on_wait(std::move(listener)); }
    [[nodiscard]] std::pair<std::uint64_t, std::uint64_t> progress() const override {
        return {reader_.position(), reader_.size()};
    }
    [[nodiscard]] capture::Status status() const noexcept { return status_; }

private:
    capture::Reader& reader_;
    std::uint64_t before_;
    capture::Status status_ = capture::Status::end;
};

}  // namespace

void Watch::read(capture::Reader& reader, const std::string& name) {
    std::uint64_t before = 0;
    {
        const std::scoped_lock lock{mutex_};
        before = counts_.frames;
        ++counts_.captures;
        // Of those long ago only the numbers over all are left.
        if (begins_.size() == most_begins) begins_.erase(begins_.begin(), begins_.begin() + most_begins / 2);
        begins_.push_back({before + 1, name});
        events_.capture(name);
    }
    Counted counted{reader, before};
    conformance::hand_over(counted, judge_.rule_list(), {.threads = options_.threads},
                           {.frame = [this](const auto& sighting, const auto& examined) { take(sighting, examined); },
                            .loss =
                                [this](const conformance::ToldLoss& told) {
                                    judge_.tell_loss(told.loss, told.origin, told.interface_name, told.capture);
                                },
                            .together =
                                [this](const std::function<void()>& give) {
                                    const std::scoped_lock lock{mutex_};
                                    give();
                                }});
    if (counted.status() == capture::Status::corrupt && !capture::stop_requested()) error_ = reader.error();
}

void Watch::take(const conformance::Sighting& sighting, const inspection::Examined& examined) {
    judge_.frame(sighting, examined);
    counts_.frames = std::max(counts_.frames, sighting.frame.number);
    counts_.ipoib = judge_.ipoib();
}

void Watch::read_all() {
    if (options_.source == "-") {
        auto reader = capture::Reader::open("-");
        read(reader, "-");
        return;
    }
    Follower follower{options_.source};
    while (const auto feed = follower.next()) read(feed->reader(), feed->path().string());
}

void Watch::look() {
    const std::scoped_lock lock{mutex_};
    const auto account = links::account_of(judge_, observer_);
    events_.findings(account);
    for (const auto& one : account.suspicions) events_.suspicion(one);
    if (outlets_.metrics) outlets_.metrics(metrics(counts_, account, judge_));
}

reports::Results Watch::run() {
    std::mutex sleep;
    std::condition_variable over;
    bool is_over = false;
    std::thread looks([&] {
        std::unique_lock lock{sleep};
        auto next = began_ + options_.interval;
        const auto end = began_ + options_.duration;
        const bool has_end = options_.duration.count() != 0;
        while (!is_over) {
            over.wait_until(lock, has_end ? std::min(next, end) : next, [&] { return is_over; });
            const auto now = std::chrono::steady_clock::now();
            if (has_end && now >= end) {
                capture::request_stop();
                return;
            }
            if (is_over || now < next) continue;
            look();
            next = now + options_.interval;
        }
    });
    const auto finish = [&] {
        {
            const std::scoped_lock lock{sleep};
            is_over = true;
        }
        over.notify_all();
        looks.join();
    };
    try {
        read_all();
    } catch (...) {
        finish();
        throw;
    }
    finish();
    judge_.finish();
    look();
    events_.end(counts_.frames, counts_.ipoib, judge_.now());
    reports::Results results;
    results.captures.push_back({.file = options_.source, .packets = counts_.frames, .ipoib = counts_.ipoib});
    results.captures.front().notes = judge_.notes();
    results.captures.front().error = error_;
    results.results = judge_.results();
    for (auto& one : results.results) one.evidence = options_.source;
    results.suspicions = judge_.suspicions();
    return results;
}

}  // namespace ipoib::watch
