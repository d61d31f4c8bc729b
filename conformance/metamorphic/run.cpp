// SPDX-License-Identifier: GPL-2.0-or-later
// Goes through sources and relations.
#include "conformance/metamorphic/run.hpp"

#include "base/parallel.hpp"

#include <ctime>

namespace ipoib::metamorphic {
namespace {

/// Of this program, so that others on the machine do not count.
double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

using Clock = std::chrono::steady_clock;

/// A verdict that has moved wrongly, in so many variants of one source.
struct Seen {
    std::size_t which;  ///< relation
    const Source* source;
    std::size_t number;  ///< of the first such variant
    Moved moved;
    std::uint64_t variants = 1;
};

/// Variants that are tried one after the other by one thread.
class Part {
public:
    Part(const Run& run, std::uint64_t seed) : run_(run), random_(seed), by_relation_(run.relations.size()) {}

    /// What is tried one by one of a relation and a source, and a few variants by chance.
    void in_turn(std::size_t which, const Source& source) {
        const auto& relation = *run_.relations[which];
        const auto count = relation.systematic(source);
        const auto tries = std::min(count, run_.most_each);
        for (std::size_t n = 0; n < tries; ++n) try_one(which, source, n * count / tries);
        for (std::size_t n = 0; relation.is_random && n < run_.random_each; ++n)
            try_one(which, source, any_number(count));
    }
    void by_chance() {
        constexpr unsigned variants = 64;
        for (unsigned i = 0; i < variants; ++i) {
            const auto which = random_.below(run_.relations.size());
            const auto& source = *run_.sources[random_.below(run_.sources.size())];
            const auto& relation = *run_.relations[which];
            const auto count = relation.systematic(source);
            if (count > 0 && (!relation.is_random || random_.below(2) == 0))
                try_one(which, source, random_.below(count));
            else if (relation.is_random)
                try_one(which, source, any_number(count));
        }
    }
    void try_one(std::size_t which, const Source& source, std::size_t number) {
        const auto& relation = *run_.relations[which];
        if (!choose(relation, source, run_.sources, number, choice_)) return;
        ++by_relation_[which];
        counted_.clear();
        for (const auto& moved : trial_.execute(relation, source, source.everything, choice_))
            note({.which = which, .source = &source, .number = number, .moved = moved});
    }

    [[nodiscard]] const std::vector<Seen>& seen() const noexcept { return seen_; }
    [[nodiscard]] const std::vector<std::uint64_t>& by_relation() const noexcept { return by_relation_; }

private:
    std::size_t any_number(std::size_t systematic) { return systematic + random_.below(std::size_t{1} << 32); }

    /// Once for each variant.
    void note(const Seen& one) {
        const auto known = std::ranges::find_if(seen_, [&](const Seen& other) {
            return other.which == one.which && other.source == one.source && other.moved.is_like(one.moved);
        });
        const auto index = known - seen_.begin();
        if (known == seen_.end())
            seen_.push_back(one);
        else if (std::ranges::find(counted_, index) == counted_.end())
            ++known->variants;
        counted_.push_back(index);
    }

    const Run& run_;
    Random random_;
    std::vector<std::uint64_t> by_relation_;
    std::vector<Seen> seen_;
    std::vector<std::ptrdiff_t> counted_;
    Trial trial_;
    Choice choice_;
};

class Runner {
public:
    explicit Runner(const Run& run) : run_(run) {
        for (const auto* relation : run.relations) outcome_.by_relation.emplace_back(relation, 0);
    }

    Outcome go() {
        begin();
        run_.duration.count() == 0 ? in_turn() : by_chance();
        outcome_.is_interrupted = is_stopped_;
        return end();
    }

    Outcome only(const Source& source, std::size_t number) {
        begin();
        Part part{run_, run_.seed};
        part.try_one(0, source, number);
        take(part);
        return end();
    }

private:
    /// Jobs between two looks at the clock.
    static constexpr std::size_t at_once = 64;

    void begin() {
        begun_ = Clock::now();
        cpu_begun_ = cpu_seconds();
    }
    Outcome end() {
        outcome_.seconds = cpu_seconds() - cpu_begun_;
        in_parallel(outcome_.breaks.size(), [&](std::size_t i) {
            auto& one = outcome_.breaks[i];
            Choice choice;
            (void)choose(*one.relation, *one.source, run_.sources, one.number, choice);
            Trial trial;
            one.reduced = reduce(trial, *one.relation, *one.source, choice, Moved{one.reduced.moved});
        });
        return std::move(outcome_);
    }
    bool is_over() {
        is_stopped_ = is_stopped_ || (run_.is_stopped && run_.is_stopped());
        return is_stopped_ || (run_.duration.count() > 0 && Clock::now() - begun_ > run_.duration);
    }

    /// Each relation and source is a job.
    void in_turn() {
        const auto sources = run_.sources.size(), jobs = run_.relations.size() * sources;
        for (std::size_t done = 0; done < jobs && !is_over(); done += at_once)
            execute(std::min(at_once, jobs - done), done,
                    [&](Part& part, std::size_t job) { part.in_turn(job / sources, *run_.sources[job % sources]); });
    }
    void by_chance() {
        for (std::size_t done = 0; !is_over(); done += at_once)
            execute(at_once, done, [](Part& part, std::size_t) { part.by_chance(); });
    }

    template <class Do>
    void execute(std::size_t jobs, std::size_t first, const Do& what) {
        std::vector<std::unique_ptr<Part>> parts(jobs);
        in_parallel(jobs, [&](std::size_t i) {
            parts[i] = std::make_unique<Part>(run_, Random{run_.seed ^ (first + i) << 20}());
            what(*parts[i], first + i);
        });
        for (const auto& part : parts) take(*part);
        if (run_.progress) run_.progress(outcome_.variants, outcome_.breaks.size());
    }

    void take(const Part& part) {
        for (std::size_t i = 0; i < part.by_relation().size(); ++i) {
            outcome_.by_relation[i].second += part.by_relation()[i];
            outcome_.variants += part.by_relation()[i];
        }
        for (const auto& seen : part.seen()) take(seen);
    }
    void take(const Seen& seen) {
        const auto& relation = *run_.relations[seen.which];
        auto known =
            std::ranges::find_if(outcome_.breaks, [&](const Break& one) { return one.is_like(relation, seen.moved); });
        if (known == outcome_.breaks.end()) {
            outcome_.breaks.push_back({.relation = &relation, .source = seen.source, .number = seen.number});
            known = outcome_.breaks.end() - 1;
            known->reduced.moved = seen.moved;
        }
        known->variants += seen.variants;
        if (std::ranges::find(known->sources, seen.source) == known->sources.end())
            known->sources.push_back(seen.source);
    }

    const Run& run_;
    Outcome outcome_;
    Clock::time_point begun_{};
    double cpu_begun_ = 0;
    bool is_stopped_ = false;
};

}  // namespace

bool choose(const Relation& relation, const Source& source, const Sources& all, std::size_t number, Choice& choice) {
    choice.clear();
    Random random{hash_of(relation.name, hash_of(source.name)) ^ number};
    return relation.choose(source, all, number, random, choice);
}

std::string variant_name(const Relation& relation, const Source& source, std::size_t number) {
    return std::string(relation.name) + '/' + source.name + '/' + std::to_string(number);
}

Outcome try_variant(const Relation& relation, const Source& source, const Sources& all, std::size_t number) {
    const Run run{.sources = all, .relations = {&relation}};
    return Runner{run}.only(source, number);
}

Outcome execute(const Run& run) { return Runner{run}.go(); }

}  // namespace ipoib::metamorphic
