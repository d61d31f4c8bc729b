// SPDX-License-Identifier: GPL-2.0-or-later
// Callbacks that may come after their owner is gone, or has begun anew.
#pragma once

#include <memory>
#include <utility>

namespace ipoib::stack {

/// Answers and timers outlive what asked for them; a guarded callback then does nothing.
class Lifetime {
public:
    template <class F>
    [[nodiscard]] auto guard(F action) const {
        return [alive = std::weak_ptr<const bool>(token_), action = std::move(action)](auto&&... arguments) mutable {
            if (!alive.expired()) action(std::forward<decltype(arguments)>(arguments)...);
        };
    }
    /// Silences everything that was guarded before.
    void renew() { token_ = std::make_shared<const bool>(true); }

private:
    std::shared_ptr<const bool> token_ = std::make_shared<const bool>(true);
};

}  // namespace ipoib::stack
