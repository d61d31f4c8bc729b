// SPDX-License-Identifier: GPL-2.0-or-later
// The two forms of a list of the SA's records. Both readers throw Wrong, and bad_alloc.
#pragma once

#include "conformance/assumptions/collector.hpp"
#include "conformance/assumptions/port_collector.hpp"

namespace ipoib::assumptions {

/// What saquery prints.
void read_saquery_text(std::string_view text, Collector& groups, PortCollector& ports);
/// The JSON form that read_sa_file() describes.
void read_sa_json(std::string_view text, Collector& into);

/// A node's description as it may be shown: printable, one line.
[[nodiscard]] std::string description_in(std::string_view text);

}  // namespace ipoib::assumptions
