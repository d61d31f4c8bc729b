// SPDX-License-Identifier: GPL-2.0-or-later
// Puts together what the records of a list say of each group, and refuses or keeps irregularities.
#pragma once

#include "conformance/assumptions/parameter_value.hpp"

#include <array>
#include <map>

namespace ipoib::assumptions {

/// One record of a list.
struct Record {
    StatedGroup group;     ///< with the record's own members
    std::size_t line = 0;  ///< where it begins
};

class Collector {
public:
    explicit Collector(Irregularities are = Irregularities::refused) : irregularities_(are) {}
    /// Throws Wrong.
    void add(Record record);
    [[nodiscard]] bool knows(const wire::Gid& mgid) const { return index_.contains(mgid); }
    [[nodiscard]] bool keeps_irregularities() const noexcept { return irregularities_ == Irregularities::kept; }
    /// How many records were of no multicast group.
    [[nodiscard]] std::size_t not_groups() const noexcept { return not_groups_; }
    /// All groups, each once; throws Wrong where there is none.
    [[nodiscard]] std::vector<StatedGroup> groups() &&;

private:
    void merge(std::size_t index, const Record& record);
    void contradict(std::size_t index, Parameter parameter, std::uint32_t value, std::size_t line);

    Irregularities irregularities_;
    std::vector<StatedGroup> groups_;
    std::vector<std::array<std::size_t, parameter_count>> told_at_;  ///< the line that told each parameter
    std::map<wire::Gid, std::size_t> index_;
    std::size_t members_ = 0, not_groups_ = 0;
};

}  // namespace ipoib::assumptions
