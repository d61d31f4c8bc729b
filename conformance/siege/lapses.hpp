// SPDX-License-Identifier: GPL-2.0-or-later
// Administrators that are wrong in some histories only, and by how many histories each is found.
#pragma once

#include "conformance/siege/siege.hpp"
#include "fabric/simulated/sa_lapse.hpp"

#include <span>

namespace ipoib::conformance::siege {

struct Lapse {
    fabric::SaLapse lapse;
    std::string_view name;  ///< "sa-leaks-with-proxy": for simulated:sa-mutant=NAME
    std::string_view what;  ///< in words: "gives ..."
};

[[nodiscard]] std::span<const Lapse> all_lapses() noexcept;
/// Null for a name that is none.
[[nodiscard]] const Lapse* find_lapse(std::string_view name) noexcept;

/// What became of one of them.
struct Recalled {
    const Lapse* lapse = nullptr;
    std::optional<Found> found;      ///< by chance
    std::optional<Found> exhausted;  ///< by every transition of one group
};

struct Recall {
    std::uint64_t seed = 1, histories = 20'000;
    bool is_exhaustive = true;
    std::function<bool()> is_stopped{};
    std::function<void(std::string_view lapse, std::size_t number, std::size_t count)> progress{};
};

[[nodiscard]] std::vector<Recalled> recall(const Recall& recall);
[[nodiscard]] std::string text(const std::vector<Recalled>& all);
/// The page docs/sa-lapses.md.
[[nodiscard]] std::string recall_page(const std::vector<Recalled>& all, const Recall& recall);

}  // namespace ipoib::conformance::siege
