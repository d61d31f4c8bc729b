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
constexpr std::size_t remembered = 64;

/// The last so many as one, as far as a file has room for them. Between two of them all is as it was, as when they were
/// played.
Session joined(const std::deque<Session>& sessions, std::size_t count) {
    Session all{.scenario = sessions.back().scenario, .operations = {}};
    for (auto one = sessions.end() - static_cast<std::ptrdiff_t>(count); one != sessions.end(); ++one) {
        if (!all.operations.empty()) all.operations.push_back({.verb = find_verb("settle")});
        all.operations.insert(all.operations.end(), one->operations.begin(), one->operations.end());
    }
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
        corpus_.assign(search.corpus.begin(), search.corpus.end());
        auto sweeps = generator_.sweeps();
        sweeps_.assign(sweeps.begin(), sweeps.end());
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
        if (has_enough()) return true;
        return search_.sessions && searched_.sessions >= *search_.sessions;
    }

    [[nodiscard]] bool has_enough() const {
        return search_.most_found > 0 && searched_.found.size() >= search_.most_found;
    }

    void step() {
        auto session = next();
        since_new_.push_back(session);
        if (since_new_.size() > remembered) since_new_.pop_front();
        auto found = played(session);
        if (fabric::Loop::stop_requested()) return;
        ++searched_.sessions;
        if (found)
            take(*found, session);
        else
            learn(session);
        for (; !beside_.empty() && !has_enough(); beside_.pop_front()) {
            const auto [finding, of] = beside_.front();
            take(finding, of);
        }
        if (search_.progress)
            search_.progress({searched_.sessions, searched_.blocks.size(), kinds_.size(), searched_.corpus.size(),
                              searched_.found.size()});
    }

    /// A node that does not come up may be one of a machine that has other work: it has more than one chance.
    std::optional<Finding> played(const Session& session) {
        constexpr unsigned chances = 3;
        for (unsigned i = 1;; ++i) {
            try {
                return arena_.play(session);
            } catch (const std::runtime_error&) {
                if (i == chances || fabric::Loop::stop_requested()) throw;
                arena_.renew();
            }
        }
    }

    Session next() {
        if (!corpus_.empty()) return first_of(corpus_);
        // By turns: whoever has little time has had something of each.
        constexpr unsigned turns = 4, of_chance = 3, fresh_ones = 4;
        if (const auto turn = ++turn_ % turns; turn != of_chance) {
            auto *one = &waiting_, *other = &sweeps_;
            if (turn == 1) std::swap(one, other);
            if (auto& some = one->empty() ? *other : *one; !some.empty()) return first_of(some);
        }
        return ++chances_ % fresh_ones < 2 ? generator_.fresh() : generator_.changed(searched_.corpus);
    }
    static Session first_of(std::deque<Session>& sessions) {
        auto session = std::move(sessions.front());
        sessions.pop_front();
        return session;
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
        if (keys_.contains(key)) {
            ++searched_.again;
            return;
        }
        if (search_.seen) search_.seen(finding, elapsed());
        Found found{.finding = finding, .session = session, .after = elapsed(), .number = searched_.sessions};
        make_smaller(found, key, last);
        // Nobody answers in time on a machine that has other work. Twice is no chance; a fault says so by itself.
        if (finding.kind != Finding::Kind::fault && !found.is_seen_again) {
            ++searched_.doubtful;
            return;
        }
        keys_.insert(key);
        searched_.found.push_back(found);
        if (search_.found) search_.found(found);
    }

    /// Whether a new node shows the same.
    bool shows(const Session& session, const std::string& key) {
        if (fabric::Loop::stop_requested() || is_late()) return false;
        arena_.renew();
        const auto found = played(session);
        if (!found || found->key() == key) return found.has_value();
        // Another fault is a finding of its own.
        constexpr std::size_t most = 8;
        if (found->kind == Finding::Kind::fault && !keys_.contains(found->key()) && beside_.size() < most)
            beside_.emplace_back(*found, session);
        return false;
    }

    /// What was found in time has as much time again to be made smaller, and a little in any case.
    [[nodiscard]] bool is_late() const {
        constexpr std::chrono::nanoseconds a_little = std::chrono::minutes{2};
        return search_.time && Clock::now() - begin_ >= *search_.time + std::max(*search_.time, a_little);
    }

    /// What needs two things at once is not shown each time.
    bool shows_sometimes(const Session& session, const std::string& key) {
        constexpr unsigned times = 3;
        for (unsigned i = 0; i < times; ++i)
            if (shows(session, key)) return true;
        return false;
    }

    /// The session, or it with more and more of those before it: the first that shows the finding on a new node.
    std::optional<Session> repeatable(const Session& session, const std::string& key, const std::deque<Session>& last) {
        if (shows_sometimes(session, key)) return session;
        constexpr std::size_t at_first = 8, more = 8;
        for (auto count = std::min(at_first, last.size()); count > 1; count = std::min(count * more, last.size())) {
            auto all = joined(last, count);
            // The more there is before it, the longer it takes.
            if (count <= at_first ? shows_sometimes(all, key) : shows(all, key)) return all;
            if (count == last.size()) break;
        }
        return std::nullopt;
    }

    void make_smaller(Found& found, const std::string& key, const std::deque<Session>& last) {
        const auto whole = repeatable(found.session, key, last);
        if (whole) {
            found.is_seen_again = true;
            found.session = *whole;
            const auto items = items_of(*whole);
            const auto shrunk = shrink::fewest(
                items.size(), [&](shrink::Items kept) { return shows(with(*whole, items, kept), key); },
                search_.most_tries);
            // What was shown by chance once is no session to repeat it by.
            if (const auto smaller = with(*whole, items, shrunk.items); shrunk.holds && shows_sometimes(smaller, key)) {
                found.session = smaller;
                auto tries = search_.most_tries;
                for (std::size_t i = 0; i < smaller.operations.size(); ++i) name_value(found.session, i, key, tries);
            }
        }
        arena_.renew();
    }

    /// Where a field goes through many values, those that show it: half of them, and so on, as long as one half does
    /// and there are tries left.
    void name_value(Session& session, std::size_t number, const std::string& key, unsigned& tries) {
        while (session.operations[number].times > 1) {
            const auto halves = halves_of(session.operations[number].lies);
            const auto shown = std::ranges::find_if(halves, [&](const LiesHalf& half) {
                auto smaller = session;
                smaller.operations[number].lies = half.lies;
                smaller.operations[number].times = half.values;
                if (tries == 0) return false;
                --tries;
                if (!shows(smaller, key)) return false;
                session = std::move(smaller);
                return true;
            });
            if (shown == halves.end()) return;
        }
    }

    Arena& arena_;
    const Search& search_;
    Generator generator_;
    const Clock::time_point begin_ = Clock::now();
    std::deque<Session> corpus_, waiting_, sweeps_, since_new_;
    std::set<std::uint64_t> kinds_;
    std::set<std::string> keys_;
    std::deque<std::pair<Finding, Session>> beside_;  ///< found while another one was made smaller
    Searched searched_;
    std::uint64_t turn_ = 0, chances_ = 0;
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
    all += fmt::format("\n{} findings, {} more sessions showed one of them\n", searched.found.size(), searched.again);
    if (searched.doubtful > 0)
        all += fmt::format("{} times the node was late, and no new one was\n", searched.doubtful);
    return all;
}

}  // namespace ipoib::conformance::fuzz
