// SPDX-License-Identifier: GPL-2.0-or-later
// Complaints about a file.
#include "reports/complaints.hpp"

#include <fmt/format.h>

#include "base/one_line.hpp"

namespace ipoib::reports {
namespace {

constexpr std::size_t most_complaints = 50, longest_name = 200;

}  // namespace

Complaints::Complaints(std::string_view file) : file_(one_line(file, longest_name)) {}

void Complaints::add(std::size_t line, std::string_view what) {
    if (++count_ > most_complaints) return;
    text_ += fmt::format("{}{}:{}: {}", text_.empty() ? "" : "\n", file_, line, one_line(what));
}

std::string Complaints::text() const {
    if (count_ <= most_complaints) return text_;
    return fmt::format("{}\n{}: and {} more", text_, file_, count_ - most_complaints);
}

}  // namespace ipoib::reports
