// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/command/annotation.hpp"

#include "base/one_line.hpp"
#include "conformance/command/usage.hpp"
#include "conformance/judge/passive.hpp"
#include "fabric/capture/annotate.hpp"
#include "reports/failure.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ipoib::conformance {

void Annotation::take(const rules::Rule& rule, const reports::Detail& detail) {
    add(detail.frame, fmt::format("{} ({}): {}{}, expected {}{}. {} [{}; {}{}{}]", rule.checks[0]->id,
                                  force_name(*rule.checks[0]), detail.field.empty() ? "" : detail.field + " is ",
                                  detail.actual, detail.expected, reports::assumed_text(detail), rule.title, rule.id,
                                  detail.subject, detail.link.empty() ? "" : ", link ", detail.link));
}

void Annotation::take(const links::Account& account) {
    for (const auto& one : account.findings)
        if (one.is_beyond)
            for (const auto& frame : one.frames)
                add(frame.frame, "finding " + one.name + ", link " + one.link + ": " + one.text);
}

void Annotation::add(std::uint64_t frame, const std::string& comment) {
    constexpr std::size_t most_octets = std::size_t{64} << 20, cost = 160;
    if (octets_ >= most_octets) {
        ++beyond_;
        return;
    }
    octets_ += std::min(comment.size(), longest_line) + cost;
    comments_[frame].push_back(one_line(comment));
}

void Annotation::write(const std::string& capture, const std::string& to) const {
    const auto problem = capture::annotate(capture, to, [this](std::uint64_t frame) {
        const auto found = comments_.find(frame);
        return found == comments_.end() ? nullptr : &found->second;
    });
    if (!problem.empty()) throw Fault("--write " + problem);
}

}  // namespace ipoib::conformance
