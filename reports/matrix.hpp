// SPDX-License-Identifier: GPL-2.0-or-later
// A merged report as a matrix of hosts by requirements: who keeps what, told so that hundreds of hosts can be read.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "reports/results.hpp"

namespace ipoib::reports {

/// In the order of the roll-up, from bad to good.
inline constexpr std::array all_verdicts{Verdict::fail, Verdict::xpass, Verdict::error, Verdict::inconc,
                                         Verdict::warn, Verdict::xfail, Verdict::pass,  Verdict::na};
inline constexpr std::size_t verdicts = all_verdicts.size();

/// Hosts, as indices into Results::hosts, by what they have in common.
using Hosts = std::vector<std::size_t>;

/// One requirement on all hosts.
struct MatrixRow {
    std::size_t requirement = 0;        ///< index into Results::requirements
    std::array<Hosts, verdicts> hosts;  ///< by verdict, each in the order of Results::hosts

    /// The first one present.
    [[nodiscard]] Verdict worst() const;
    /// Whether all hosts have one verdict and it is nothing to look at: PASS, XFAIL or NA.
    [[nodiscard]] bool is_well() const;
};

/// What the hosts of a merged report found. Hosts without any result stand apart: their faults say all of them.
struct Matrix {
    std::vector<MatrixRow> rows;                            ///< one for each requirement, in the order of the catalogue
    std::vector<std::array<std::size_t, verdicts>> counts;  ///< for each host how many of its results have a verdict
    Hosts silent;                                           ///< not in the rows
};

/// From the verdicts that `roll_up` has left in the hosts.
[[nodiscard]] Matrix matrix(const Results&);

/// "n1, n7, n19"; of more than eight the numbers as ranges, "n[1-6,8-200].cluster". One line, cut when it is very long.
[[nodiscard]] std::string named(const Results&, const Hosts&);

/// "on 3 of 200 hosts: n1, n7, n19", "on all 200 hosts".
[[nodiscard]] std::string on_hosts(const Results&, const Hosts&);

/// Hosts with the same verdict and the same faults.
struct HostGroup {
    Verdict verdict = Verdict::na;
    std::string faults;  ///< one line; empty where all results are there
    Hosts hosts;
};

/// Every host by itself, in their order; where there are more than `most`, in groups from bad to good.
[[nodiscard]] std::vector<HostGroup> groups(const Results&, std::size_t most);

/// "1 FAIL, 180 PASS, 55 NA", of one host or of all; empty where there is nothing to count.
[[nodiscard]] std::string counted(const std::array<std::size_t, verdicts>&);

/// A result, and all hosts of a merged report that have one of this id and verdict.
struct Finding {
    const Result* result = nullptr;
    Hosts hosts;
};

/// The results with a verdict; in a merged report the first of each id, else all of them.
[[nodiscard]] std::vector<Finding> findings(const Results&, Verdict);

/// "FAIL on 3 of 200 hosts: n1, n7, n19; PASS on 196; no results of 1": all verdicts of a row, the most frequent good
/// one without names.
[[nodiscard]] std::string where(const Results&, const MatrixRow&);

}  // namespace ipoib::reports
