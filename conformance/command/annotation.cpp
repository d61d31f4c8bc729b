// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/command/annotation.hpp"

#include "base/one_line.hpp"
#include "conformance/command/usage.hpp"
#include "conformance/judge/passive.hpp"
#include "fabric/capture/annotate.hpp"

#include <fmt/format.h>

namespace ipoib::conformance {

void Annotation::take(const rules::Rule& rule, const reports::Detail& detail) {
    constexpr std::size_t most_octets = std::size_t{64} << 20, cost = 160;
    if (octets_ >= most_octets) {
        ++beyond_;
        return;
    }
    auto comment = one_line(fmt::format("{} ({}): {}{}, expected {}. {} [{}; {}{}{}]", rule.checks[0]->id,
                                        force_name(*rule.checks[0]), detail.field.empty() ? "" : detail.field + " is ",
                                        detail.actual, detail.expected, rule.title, rule.id, detail.subject,
                                        detail.link.empty() ? "" : ", link ", detail.link));
    octets_ += comment.size() + cost;
    comments_[detail.frame].push_back(std::move(comment));
}

void Annotation::write(const std::string& capture, const std::string& to) const {
    const auto problem = capture::annotate(capture, to, [this](std::uint64_t frame) {
        const auto found = comments_.find(frame);
        return found == comments_.end() ? nullptr : &found->second;
    });
    if (!problem.empty()) throw Fault("--write " + problem);
}

}  // namespace ipoib::conformance
