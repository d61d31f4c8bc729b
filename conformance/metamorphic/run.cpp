// SPDX-License-Identifier: GPL-2.0-or-later
// Goes through sources and relations.
#include "conformance/metamorphic/run.hpp"

#include <ctime>

namespace ipoib::metamorphic {
namespace {

/// Of this program, so that others on the machine do not count.
double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

using Clock = std::chrono::steady_clock;

/// FNV-1a: the same everywhere.
constexpr std::uint64_t hash_of(std::string_view text, std::uint64_t hash = 0xcbf29ce484222325) noexcept {
    for (const char c : text) hash = (hash ^ static_cast<std::uint8_t>(c)) * 0x100000001b3;
    return hash;
}

class Runner {
public:
    explicit Runner(const Run& run) : run_(run), random_(run.seed) {
        for (const auto* relation : run.relations) outcome_.by_relation.emplace_back(relation, 0);
    }

    Outcome go() {
        begun_ = Clock::now();
        cpu_begun_ = cpu_seconds();
        if (run_.duration.count() == 0)
            in_turn();
        else
            while (!is_over()) by_chance();
        outcome_.is_interrupted = is_stopped_;
        outcome_.seconds = cpu_seconds() - cpu_begun_ - shrinking_;
        return std::move(outcome_);
    }

    Outcome only(const Source& source, std::size_t number) {
        begun_ = Clock::now();
        cpu_begun_ = cpu_seconds();
        try_one(0, source, number);
        outcome_.seconds = cpu_seconds() - cpu_begun_ - shrinking_;
        return std::move(outcome_);
    }

private:
    bool is_over() {
        is_stopped_ = is_stopped_ || (run_.is_stopped && run_.is_stopped());
        return is_stopped_ || (run_.duration.count() > 0 && Clock::now() - begun_ > run_.duration);
    }

    /// What is tried one by one, and a few variants by chance.
    void in_turn() {
        for (std::size_t i = 0; i < run_.relations.size(); ++i)
            for (const auto& source : run_.sources) {
                if (is_over()) return;
                const auto& relation = *run_.relations[i];
                const auto count = relation.systematic(*source);
                const auto tries = std::min(count, run_.most_each);
                for (std::size_t n = 0; n < tries; ++n) try_one(i, *source, n * count / tries);
                for (std::size_t n = 0; relation.is_random && n < run_.random_each; ++n)
                    try_one(i, *source, any_number(count));
            }
    }

    void by_chance() {
        constexpr unsigned between_looks_at_the_clock = 64;
        for (unsigned i = 0; i < between_looks_at_the_clock; ++i) {
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

    std::size_t any_number(std::size_t systematic) { return systematic + random_.below(std::size_t{1} << 32); }

    void try_one(std::size_t which, const Source& source, std::size_t number) {
        const auto& relation = *run_.relations[which];
        if (!choose(relation, source, run_.sources, number, choice_)) return;
        ++outcome_.variants;
        ++outcome_.by_relation[which].second;
        const auto& moved = trial_.execute(relation, source, source.everything, choice_);
        if (!moved.empty()) note(relation, source, number, std::vector<Moved>{moved});
        constexpr std::uint64_t between_tellings = 4096;
        if (run_.progress && outcome_.variants % between_tellings == 0)
            run_.progress(outcome_.variants, outcome_.breaks.size());
    }

    void note(const Relation& relation, const Source& source, std::size_t number, const std::vector<Moved>& all) {
        for (const auto& moved : all) {
            auto known =
                std::ranges::find_if(outcome_.breaks, [&](const Break& one) { return one.is_like(relation, moved); });
            if (known == outcome_.breaks.end()) {
                const auto before = cpu_seconds();
                outcome_.breaks.push_back({.relation = &relation,
                                           .source = &source,
                                           .number = number,
                                           .reduced = reduce(trial_, relation, source, choice_, moved)});
                shrinking_ += cpu_seconds() - before;
                known = outcome_.breaks.end() - 1;
            }
            if (std::ranges::find(counted_, known - outcome_.breaks.begin()) != counted_.end()) continue;
            counted_.push_back(known - outcome_.breaks.begin());
            ++known->variants;
            if (std::ranges::find(known->sources, &source) == known->sources.end()) known->sources.push_back(&source);
        }
        counted_.clear();
    }

    const Run& run_;
    Outcome outcome_;
    Trial trial_;
    Choice choice_;
    Random random_;
    Clock::time_point begun_{};
    double cpu_begun_ = 0, shrinking_ = 0;
    std::vector<std::ptrdiff_t> counted_;
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
