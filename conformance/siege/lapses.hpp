// SPDX-License-Identifier: GPL-2.0-or-later
// By how many histories each administrator is found that is wrong in some only.
#pragma once

#include "conformance/mutants/lapse.hpp"
#include "conformance/siege/siege.hpp"

namespace ipoib::conformance::siege {

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
