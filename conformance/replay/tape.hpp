// SPDX-License-Identifier: GPL-2.0-or-later
// What came into the bench in one session, read from its journals again: docs/journal.md.
#pragma once

#include "fabric/port.hpp"

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace ipoib::conformance::replay {

enum class Kind : std::uint8_t { seen, took, report, port, timer, sent, attached, sa, fabric, dut, begins, ends };
/// "sent", as the journal has it.
[[nodiscard]] std::string_view name(Kind kind) noexcept;
/// Whether it came by itself; the others are what the tester did, and what was answered.
[[nodiscard]] constexpr bool is_input(Kind kind) noexcept { return kind <= Kind::timer; }

/// A question and its answer, or what a port was found to be.
struct Exchange {
    std::string request, answer;  ///< of fabric and DUT: lines of JSON; an answer of a DUT may be any text
    fabric::SaRequest sa_request;
    fabric::SaAnswer sa_answer;
    fabric::PortFacts facts;
    wire::Gid mgid;
    std::uint16_t mlid = 0;
    bool was_stopped = false;
};

struct Entry {
    Kind kind{};
    fabric::Sender sender{};
    bool is_rebuilt = false;
    bool is_apart = false;  ///< of an input at the time of the one before it: the bench could look between the two
    std::uint32_t file = 0, line = 0;  ///< where it stands; lines from 1
    std::uint32_t port = 0;            ///< of `dut` which of two
    fabric::Time at{}, began{};        ///< of what the tester did: when it was done, and when it was asked for
    std::uint64_t number = 0;          ///< of `timer`: its place among those that were set
    std::uint64_t during = 0;          ///< so many of the entries before it came in between
    std::vector<std::uint8_t> octets;
    std::string text;                    ///< why it could not be done; of `ends` the verdict
    std::unique_ptr<Exchange> exchange;  ///< where there is one
};

/// What a file begins with.
struct Head {
    std::string case_id, suite;
    std::uint64_t repetition = 0, number = 0, seed = 0;
    double timeout_scale = 1;
    bool is_virtual = false;
};

struct Journal {
    std::filesystem::path path;
    Head head;
    std::vector<Entry> entries;
    bool is_cut = false;  ///< lines were left out when it was written
};

/// Reads one file of at most 128 MiB. Throws std::invalid_argument, with path and line.
[[nodiscard]] Journal read_journal(const std::filesystem::path& path, std::uint32_t file);

}  // namespace ipoib::conformance::replay
