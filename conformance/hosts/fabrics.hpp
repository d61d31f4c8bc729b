// SPDX-License-Identifier: GPL-2.0-or-later
// Which interfaces may be compared: those on one link of one fabric, of hosts that were looked at about the same time.
#pragma once

#include "conformance/hosts/link_mates.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ipoib::hosts {

/// "1 port", "2 ports".
[[nodiscard]] std::string counted(std::size_t count, const char* what);

/// A link, and the LID of its subnet manager where links of several fabrics are called the same; else 0.
using Fabric = std::pair<Link, std::uint16_t>;

/// The interfaces by link. The default subnet prefix is that of any fabric: subnet managers at different LIDs, and
/// ports that nobody knows beside some that are known, tell fabrics apart.
class Fabrics {
public:
    Fabrics(const std::vector<Place>& all, const Surroundings& around);

    [[nodiscard]] Fabric of(const Place& place) const;
    [[nodiscard]] const std::map<Fabric, std::vector<Place>>& links() const noexcept { return links_; }
    /// Taken for a port of a fabric that nothing is known of.
    [[nodiscard]] bool is_stranger(const wire::Gid& gid) const { return strangers_.contains(gid); }
    /// What may be the reason that hosts of a link differ; empty: nothing.
    [[nodiscard]] std::string doubt_of(const Link& link, const std::vector<Place>& places) const;
    /// What was told apart, and which states cannot be compared.
    [[nodiscard]] const std::vector<std::string>& notes() const noexcept { return notes_; }

private:
    void tell_apart(const std::vector<Place>& all);
    void tell_times(bool are_several);
    void tell_names(const std::vector<Place>& all);
    /// Named by what is known besides hosts.
    [[nodiscard]] bool is_known(const wire::Gid& gid) const;

    std::vector<wire::Gid> known_;                 ///< sorted
    std::map<wire::Gid, std::uint16_t> managers_;  ///< LIDs of subnet managers, by port
    std::set<Link> several_;                       ///< of more than one of them
    std::set<wire::Gid> strangers_;
    std::map<Fabric, std::vector<Place>> links_;
    std::vector<std::string> notes_;
};

}  // namespace ipoib::hosts
