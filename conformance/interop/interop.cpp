// SPDX-License-Identifier: GPL-2.0-or-later
// The exchanges one after the other.
#include "conformance/interop/interop.hpp"

#include "conformance/bench/repetitions.hpp"
#include "conformance/interop/books.hpp"
#include "conformance/interop/exchange_run.hpp"
#include "generated/version.hpp"
#include "reports/merge.hpp"

#include <fmt/format.h>

namespace ipoib::conformance::interop {
using reports::NotJudged;
using reports::Result;
using reports::Verdict;

namespace {

constexpr unsigned most_broken = 3;

class Sequence {
public:
    Sequence(const InteropRun& run, Place& place) : run_(run), place_(place) {}

    void take(const Exchange& one) {
        if (why_over_.empty() && fabric::Loop::stop_requested()) end("The run goes to its end", "interrupted");
        if (!why_over_.empty()) {
            ++not_begun_;
            return;
        }
        const Each<std::size_t> first{results_.dut.results.size(), results_.against.results.size()};
        bool is_broken = false;
        std::string why_broken;
        for (unsigned repetition = 0; repetition < run_.repeat && !is_broken; ++repetition) {
            if (repetition > 0 && fabric::Loop::stop_requested()) break;
            ExchangeRun exchange{run_, place_, one, repetition, tallies_, results_};
            exchange.execute();
            has_begun_ = has_begun_ || exchange.has_begun();
            is_broken = exchange.is_broken();
            why_broken = exchange.why_broken();
        }
        for (const auto side : both_sides) fold(results_[side].results, first[side]);
        failures_ += failures_since(first);
        broken_in_a_row_ = is_broken ? broken_in_a_row_ + 1 : 0;
        // An adapter may need a second attempt, and no exchange can be blamed for what never began.
        if (!has_begun_ && broken_in_a_row_ == 2) {
            for (const auto side : both_sides) results_[side].results.clear();
            not_begun_ += 2;
            end("There is a session to begin with", why_broken);
        } else if (broken_in_a_row_ >= most_broken) {
            end("Adapters and fabric last", fmt::format("one broke {} times in a row", most_broken));
        } else if (run_.max_failures != 0 && failures_ >= run_.max_failures) {
            why_over_ = fmt::format("there are {} failures (--max-failures)", failures_);
            has_enough_ = true;
        }
    }

    Each<reports::Results> results() {
        for (const auto side : both_sides) {
            auto& results = results_[side];
            if (not_begun_ > 0 && !results.results.empty())
                results.results.back().notes.push_back(fmt::format("{}{} exchange{} not begun",
                                                                   has_enough_ ? why_over_ + ": " : "", not_begun_,
                                                                   not_begun_ == 1 ? " was" : "s were"));
            tallies_[side].add_to(results);
        }
        return std::move(results_);
    }

private:
    /// Those of one exchange, from `first` on, become one: the worst, with how often each verdict was.
    static void fold(std::vector<Result>& results, std::size_t first) {
        if (results.size() < first + 2) return;
        Repetitions repetitions;
        for (auto i = first; i < results.size(); ++i) repetitions.take(std::move(results[i]));
        results.resize(first);
        results.push_back(repetitions.result());
    }
    /// Of what came last, whoever failed.
    [[nodiscard]] unsigned failures_since(const Each<std::size_t>& first) const {
        unsigned count = 0;
        for (const auto side : both_sides) {
            const auto& results = results_[side];
            for (auto i = first[side]; i < results.results.size(); ++i)
                if (const auto& one = results.results[i];
                    run_.is_failure ? run_.is_failure(one, results) : one.verdict == Verdict::fail)
                    ++count;
        }
        return count;
    }
    void end(const std::string& title, const std::string& why) {
        why_over_ = why;
        for (const auto side : both_sides) {
            Result result{.id = "SESSION", .title = title};
            result.verdict = Verdict::error;
            result.message = why;
            results_[side].results.push_back(std::move(result));
        }
    }

    const InteropRun& run_;
    Place& place_;
    Each<RuleTally> tallies_{RuleTally{run_.rules, Party::dut}, RuleTally{run_.rules, Party::dut}};
    Each<reports::Results> results_;
    bool has_begun_ = false, has_enough_ = false;
    std::string why_over_;
    unsigned broken_in_a_row_ = 0, failures_ = 0;
    std::size_t not_begun_ = 0;
};

}  // namespace

Each<reports::Results> run(const InteropRun& run, Place& place) {
    JournaledPlace journaled{place};
    Sequence sequence{run, journaled};
    std::size_t number = 0;
    for (const auto* one : run.exchanges) {
        if (run.progress) run.progress(*one, ++number, run.exchanges.size());
        sequence.take(*one);
    }
    return sequence.results();
}

reports::Results joined(Each<reports::Results> both) {
    reports::Merger merger;
    for (const auto side : both_sides) {
        both[side].host = name(side);
        both[side].suite = suite_version;
        static_cast<void>(merger.add(std::string(name(side)), std::move(both[side]), name(side)));
    }
    return merger.results(suite_version);
}

Each<reports::Results> not_watched(const InteropRun& run, const std::string& why) {
    Each<reports::Results> results;
    for (const auto side : both_sides)
        for (const auto* one : run.exchanges) {
            auto result = ExchangeRun::result_of(*one);
            result.na = NotJudged::tester;
            result.message = why;
            results[side].results.push_back(std::move(result));
        }
    return results;
}

}  // namespace ipoib::conformance::interop
