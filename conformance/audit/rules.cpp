// SPDX-License-Identifier: GPL-2.0-or-later
// All rules of the audit.
#include "conformance/audit/common.hpp"

#include <algorithm>

namespace ipoib::audit {

std::string_view plural(About about) noexcept {
    constexpr std::array<std::string_view, about_count> names{"groups",    "IP groups", "broadcast groups",
                                                              "IP groups", "IP groups", "members",
                                                              "ports",     "paths",     "groups of two subnets"};
    return names[static_cast<std::size_t>(about)];
}

std::span<const Rule> rules() {
    static const auto all = [] {
        std::vector<Rule> every;
        for (const auto kind : {group_rules(), link_rules(), member_rules(), subnet_rules()})
            every.insert(every.end(), kind.begin(), kind.end());
        return every;
    }();
    return all;
}

const Rule* find(std::string_view id) {
    const auto all = rules();
    const auto found = std::ranges::find(all, id, &Rule::id);
    return found != all.end() ? &*found : nullptr;
}

}  // namespace ipoib::audit
