// SPDX-License-Identifier: GPL-2.0-or-later
// What a finding says, in the same words in every report for people.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "reports/results.hpp"

namespace ipoib::reports {

/// The rolled-up requirements of a run, by id. A view: the results must outlive it.
class Requirements {
public:
    explicit Requirements(const Results&);
    /// Null for an id that the run's catalogue has not.
    [[nodiscard]] const RequirementResult* find(std::string_view id) const;

private:
    std::map<std::string_view, const RequirementResult*, std::less<>> by_id_;
};

/// The checks that a result's verdict is about: of a case that fails, only the requirements that are violated.
[[nodiscard]] std::vector<std::string_view> concerned(const Result&);

/// "FAIL.MUST", "WARN", "NA" ...
[[nodiscard]] std::string verdict_name(const Result&);

/// How firmly the text says it, never more: its own word where that is in capitals (`MUST NOT`), else `stated`,
/// `advice` or `permission`, with the text's word (`stated ("requires" in the text)`); and "informative" where the
/// document is no standard.
[[nodiscard]] std::string force_of(const RequirementResult&);

/// "driver mlx5, kernel 6.1", one line; without those that have no value.
[[nodiscard]] std::string facts_text(const std::vector<std::pair<std::string, std::string>>& facts);

/// "RFC4391 section 6"; "UDMC" for a document without sections.
[[nodiscard]] std::string place_of(const RequirementResult&);

/// "RFC4391-6-02 (RFC4391 section 6, MUST): the sender sets Reserved to zero", one line.
[[nodiscard]] std::string requirement_line(const RequirementResult&);

/// The same of the requirements that a result is about; of very many the first, and how many more there are.
[[nodiscard]] std::vector<std::string> demand_lines(const Requirements&, const Result&);

/// ", assumed: whole, from-start" of a violation that rests on what the user vouches for; else empty.
[[nodiscard]] std::string assumed_text(const Detail&);

/// "frame 7 octet 10: Encap.Reserved: expected 0, actual 0xabcd (0002c9020024f636 on fe80::/0xffff)", one line; before
/// it goes the case whose frame it is, or the capture when there are several. Very long values are cut.
[[nodiscard]] std::string violation_line(const Results&, const Detail&);

/// "first in frame 7: Encap.Reserved is 0xabcd, expected 0", of the first detail; before the frame goes the case.
[[nodiscard]] std::string first_violation(const Result&);

/// A rule's message: "3 of 12 packets; first in frame 7: Encap.Reserved is 0xabcd, expected 0".
[[nodiscard]] std::string packets_message(const Result&);

/// "1 violation in 12 observed": the same two numbers wherever they are told.
[[nodiscard]] std::string counts_of(const Result&);

/// What is broken in each packet is broken in each case: a text names so many of them.
inline constexpr std::size_t cases_told = 8;

/// Of a rule under `run` the cases that show its violations, one a line: "in IPOIB-4391-6-VAL-001: frames 27, 29 and 3
/// more". At most so many; then one line counts the others.
[[nodiscard]] std::vector<std::string> case_lines(const Result&, std::size_t most = cases_told);

/// The message, or where there is none a sentence from the counts: "1 violation in 12 observed". Not empty.
[[nodiscard]] std::string message_of(const Result&);

/// What a result was wanting in, without what is of the single case: its step, the family, what the DUT did instead,
/// and a star for each address, port and frame. The same for all cases that one thing keeps from a verdict.
[[nodiscard]] std::string cause_of(const Result&);

/// Why an NA was not judged: "not-seen: no ARP request"; the reason's name alone when there is no message.
[[nodiscard]] std::string why_not_judged(const Result&);

/// Message, requirements, and the first `most` violations: some lines.
[[nodiscard]] std::string explanation(const Results&, const Requirements&, const Result&, std::size_t most);

}  // namespace ipoib::reports
