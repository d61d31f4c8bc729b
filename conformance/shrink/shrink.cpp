// SPDX-License-Identifier: GPL-2.0-or-later
// The ddmin algorithm: parts, then what is left without a part, then finer parts.
#include "conformance/shrink/shrink.hpp"

#include <algorithm>
#include <numeric>

namespace ipoib::shrink {
namespace {

class Search {
public:
    Search(std::size_t count, const Predicate& holds, std::size_t most_tries)
        : holds_(holds), most_tries_(most_tries), shrunk_{.items = std::vector<std::size_t>(count)} {
        std::iota(shrunk_.items.begin(), shrunk_.items.end(), std::size_t{0});
    }

    Shrunk execute() {
        shrunk_.holds = is_held(shrunk_.items);
        if (!shrunk_.holds) return std::move(shrunk_);
        if (try_instead({})) return finish(true);
        std::size_t parts = 2;
        while (shrunk_.items.size() > 1) {
            parts = std::min(parts, shrunk_.items.size());
            if (to_part(parts)) {
                parts = 2;
            } else if (to_rest(parts)) {
                parts = std::max<std::size_t>(parts - 1, 2);
            } else if (is_exhausted_) {
                return finish(false);
            } else if (parts == shrunk_.items.size()) {
                return finish(true);
            } else {
                parts *= 2;
            }
        }
        return finish(true);
    }

private:
    bool is_held(Items items) {
        if (shrunk_.tries >= most_tries_) {
            is_exhausted_ = true;
            return false;
        }
        ++shrunk_.tries;
        return holds_(items);
    }
    bool try_instead(const std::vector<std::size_t>& items) {
        if (!is_held(items)) return false;
        shrunk_.items = items;
        return true;
    }
    [[nodiscard]] std::size_t border(std::size_t part, std::size_t parts) const {
        return shrunk_.items.size() * part / parts;
    }
    [[nodiscard]] auto at(std::size_t index) const {
        return shrunk_.items.cbegin() + static_cast<std::ptrdiff_t>(index);
    }
    /// Whether one part alone will do.
    bool to_part(std::size_t parts) {
        for (std::size_t i = 0; i < parts && !is_exhausted_; ++i)
            if (try_instead({at(border(i, parts)), at(border(i + 1, parts))})) return true;
        return false;
    }
    /// Whether one part can go. Of two parts that was asked before.
    bool to_rest(std::size_t parts) {
        for (std::size_t i = 0; parts > 2 && i < parts && !is_exhausted_; ++i) {
            std::vector<std::size_t> rest{shrunk_.items.cbegin(), at(border(i, parts))};
            rest.insert(rest.end(), at(border(i + 1, parts)), shrunk_.items.cend());
            if (try_instead(rest)) return true;
        }
        return false;
    }
    Shrunk finish(bool is_minimal) {
        shrunk_.is_minimal = is_minimal;
        return std::move(shrunk_);
    }

    const Predicate& holds_;
    std::size_t most_tries_;
    Shrunk shrunk_;
    bool is_exhausted_ = false;
};

}  // namespace

Shrunk fewest(std::size_t count, const Predicate& holds, std::size_t most_tries) {
    return Search{count, holds, most_tries}.execute();
}

}  // namespace ipoib::shrink
