// SPDX-License-Identifier: GPL-2.0-or-later
// The search.
#include "conformance/fuzz/fuzz.hpp"

#include "conformance/fuzz/operation.hpp"
#include "conformance/shrink/shrink.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

namespace ipoib::conformance::fuzz {
namespace {

using Clock = std::chrono::steady_clock;

/// What has been played since the node was new: a finding may need more than the last.
constexpr std::size_t remembered = 12;

Session joined(const std::deque<Session>& sessions) {
    Session all{.scenario = sessions.back().scenario, .operations = {}};
    for (const auto& one : sessions)
        all.operations.insert(all.operations.end(), one.operations.begin(), one.operations.end());
    if (all.operations.size() > most_operations)
        all.operations.erase(all.operations.begin(), all.operations.end() - most_operations);
    return all;
}

/// Each operation is an item, and each of their lies.
struct Item {
    std::size_t operation = 0;
    std::optional<std::size_t> lie;
};
std::vector<Item> items_of(const Session& session) {
    std::vector<Item> items;
    for (std::size_t i = 0; i < session.operations.size(); ++i) {
        items.push_back({i, {}});
        for (std::size_t k = 0; k < session.operations[i].lies.size(); ++k) items.push_back({i, k});
    }
    return items;
}
Session with(const Session& session, const std::vector<Item>& items, shrink::Items kept) {
    Session smaller{.scenario = session.scenario, .operations = {}};
    std::optional<std::size_t> last;
    for (const auto number : kept) {
        const auto& item = items[number];
        const auto& whole = session.operations[item.operation];
        if (!item.lie) {
            smaller.operations.push_back(whole);
            smaller.operations.back().lies.clear();
            last = item.operation;
        } else if (last == item.operation) {
            smaller.operations.back().lies.push_back(whole.lies[*item.lie]);
        }
    }
    return smaller;
}

class Searcher {
public:
    Searcher(Arena& arena, const Search& search)
        : arena_(arena), search_(search), generator_(search.seed, search.areas, search.scenario) {
        auto seeds = generator_.seeds();
        waiting_.assign(seeds.begin(), seeds.end());
        waiting_.insert(waiting_.end(), search.corpus.begin(), search.corpus.end());
    }

    Searched execute() {
        arena_.begin();
        try {
            while (!is_over()) step();
        } catch (const std::runtime_error& broken) {
            if (!fabric::Loop::stop_requested()) searched_.broken = broken.what();
        }
        searched_.seconds = elapsed();
        searched_.kinds = kinds_.size();
        return std::move(searched_);
    }

private:
    [[nodiscard]] double elapsed() const { return std::chrono::duration<double>(Clock::now() - begin_).count(); }
    [[nodiscard]] bool is_over() const {
        if (fabric::Loop::stop_requested()) return true;
        if (search_.time && Clock::now() - begin_ >= *search_.time) return true;
        if (search_.most_found > 0 && searched_.found.size() >= search_.most_found) return true;
        return search_.sessions && searched_.sessions >= *search_.sessions;
    }

    void step() {
        auto session = next();
        since_new_.push_back(session);
        if (since_new_.size() > remembered) since_new_.pop_front();
        auto found = arena_.play(session);
        if (fabric::Loop::stop_requested()) return;
        ++searched_.sessions;
        if (found)
            take(*found, session);
        else
            learn(session);
        if (search_.progress)
            search_.progress({searched_.sessions, searched_.blocks.size(), kinds_.size(), searched_.corpus.size(),
                              searched_.found.size()});
    }

    Session next() {
        if (!waiting_.empty()) {
            auto session = std::move(waiting_.front());
            waiting_.pop_front();
            return session;
        }
        constexpr unsigned fresh_ones = 4;
        return ++turn_ % fresh_ones == 0 ? generator_.fresh() : generator_.changed(searched_.corpus);
    }

    void learn(const Session& session) {
        const auto seen = arena_.take_seen();
        const auto before = searched_.blocks.size() + kinds_.size();
        searched_.blocks.insert(seen.blocks.begin(), seen.blocks.end());
        kinds_.insert(seen.kinds.begin(), seen.kinds.end());
        if (searched_.blocks.size() + kinds_.size() > before && !session.operations.empty())
            searched_.corpus.push_back(session);
    }

    void take(const Finding& finding, const Session& session) {
        const auto key = finding.key();
        const auto last = std::exchange(since_new_, {});
        if (!keys_.insert(key).second) {
            ++searched_.again;
            return;
        }
        Found found{.finding = finding, .session = session, .after = elapsed(), .number = searched_.sessions};
        make_smaller(found, key, last);
        searched_.found.push_back(found);
        if (search_.found) search_.found(found);
    }

    /// Whether a new node shows the same. Something else that it shows is kept for later.
    bool shows(const Session& session, const std::string& key) {
        arena_.renew();
        const auto found = arena_.play(session);
        return found && found->key() == key;
    }

    void make_smaller(Found& found, const std::string& key, const std::deque<Session>& last) {
        if (!shows(found.session, key)) {
            if (last.size() < 2) return;
            auto all = joined(last);
            if (!shows(all, key)) return;
            found.session = std::move(all);
        }
        found.is_seen_again = true;
        const auto whole = found.session;
        const auto items = items_of(whole);
        const auto shrunk = shrink::fewest(
            items.size(),
            [&](shrink::Items kept) { return !fabric::Loop::stop_requested() && shows(with(whole, items, kept), key); },
            search_.most_tries);
        if (shrunk.holds) found.session = with(whole, items, shrunk.items);
        arena_.renew();
    }

    Arena& arena_;
    const Search& search_;
    Generator generator_;
    const Clock::time_point begin_ = Clock::now();
    std::deque<Session> waiting_, since_new_;
    std::set<std::uint64_t> kinds_;
    std::set<std::string> keys_;
    Searched searched_;
    std::uint64_t turn_ = 0;
};

}  // namespace

Searched search(Arena& arena, const Search& search) { return Searcher(arena, search).execute(); }

std::string text(const Searched& searched) {
    std::string all;
    for (const auto& one : searched.found) {
        all += fmt::format("{} after {:.0f} s, session {}: {}\n", name(one.finding.kind), one.after, one.number,
                           one.finding.words.empty() ? std::string{} : one.finding.words.front());
        all += fmt::format("  {} operations{}\n", one.session.operations.size(),
                           one.is_seen_again ? "" : "; a new node did not show it again");
    }
    const auto rate = searched.seconds > 0 ? static_cast<double>(searched.sessions) / searched.seconds : 0;
    all += fmt::format("{} sessions in {:.0f} s ({:.1f} a second), {} of them kept: {} kinds of frames of the node",
                       searched.sessions, searched.seconds, rate, searched.corpus.size(), searched.kinds);
    if (!searched.blocks.empty()) all += fmt::format(", {} blocks of its code", searched.blocks.size());
    return all +
           fmt::format("\n{} findings, {} more sessions showed one of them\n", searched.found.size(), searched.again);
}

}  // namespace ipoib::conformance::fuzz
