// SPDX-License-Identifier: GPL-2.0-or-later
// The command line of ipoib-gen.
#pragma once

#include "protocol/wire/ip_address.hpp"
#include "traffic-gen/crew.hpp"
#include "traffic-gen/stage.hpp"

#include <CLI/CLI.hpp>

#include <stdexcept>
#include <string>
#include <vector>

namespace ipoib::traffic {

inline constexpr int exit_ok = 0, exit_missed = 1, exit_usage = 2, exit_fault = 3;

struct UsageError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// As given; empty: not given.
struct Options {
    std::string profile, out, input, mutate, size = "64", rate = "1000", least_rate, timing, scenario = "default";
    std::string stats = "human", listen, allow, ipv4, link_type = "erf";
    std::vector<std::string> set, to;
    std::uint64_t count = 0;
    std::optional<std::uint64_t> seed;
    double duration = 0, interval = 0, damage = 0;
    unsigned hosts = 0, groups = 2, partitions = 1;
    bool keeps_crc = false, is_dry = false, lists = false, lists_mutations = false, lists_fields = false;
    bool is_quiet = false, prints_manual = false;
};

/// What `receive` counts, and how much may be wrong.
struct ReceiveOptions {
    std::string from, scenario = "default", listen, ipv4, stats = "human", allow;
    std::uint64_t count = 0;
    std::optional<std::uint64_t> seed;
    double duration = 0, interval = 0, patience = 5;
    double most_loss = 100;  ///< percent
    std::uint64_t most_doubled = StageOptions::no_bound, most_overtaken = StageOptions::no_bound;
    unsigned groups = 0;
    bool is_quiet = false;
};

void add_options(CLI::App& program, Options& options);
void add_receive_options(CLI::App& command, ReceiveOptions& options);

/// 10.1.0.9 of --ip; absent: not given. Throws UsageError.
[[nodiscard]] std::optional<std::uint32_t> ipv4_of(const std::string& text);

/// The commands; each gives the exit code.
int generate(const Options& options);
int receive(const ReceiveOptions& options);

}  // namespace ipoib::traffic
