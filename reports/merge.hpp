// SPDX-License-Identifier: GPL-2.0-or-later
// Runs of many hosts joined into one report.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "reports/results.hpp"

namespace ipoib::reports {

/// Takes the results of one host after the other, or of several runs of one host: its shards. What has one id on one
/// host is one result: of a rule the sum, of a case the worst, with a note unless the files are different shards.
class Merger {
public:
    /// The results of `host`; without a name the run's own hosts, or its host. `source` is named in notes. Returns why
    /// they cannot be taken, and has then taken nothing: nobody knows whose they are.
    [[nodiscard]] std::string add(const std::string& host, Results&& run, std::string_view source);

    /// Something went wrong on a host: an ERROR there, besides what else is known of it.
    void fault(const std::string& host, const std::string& why);

    /// All of it, hosts and results in the order in which they came, not yet rolled up. `suite` is the version that
    /// merges; a host that another one has judged gets a note.
    [[nodiscard]] Results results(std::string_view suite);

private:
    /// Host, id and, of captures judged each by itself, the file.
    using Key = std::tuple<std::string, std::string, std::string>;

    HostResult& host_of(const std::string& name);
    void take_head(HostResult& into, HostResult&& from, std::string_view source);
    void take_results(Results&& run, std::string_view source);

    void take_selection(const Results& run);
    void take_grounds(Results& run);

    Results merged_;
    std::optional<std::vector<std::pair<std::string, std::string>>> claims_;
    bool has_selection_ = false;  ///< of the first run
    std::map<std::string, std::size_t, std::less<>> hosts_;
    std::map<Key, std::size_t> results_;
};

}  // namespace ipoib::reports
