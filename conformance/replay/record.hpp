// SPDX-License-Identifier: GPL-2.0-or-later
// What a run was, beside its journals: all that is needed to judge it again without fabric and DUT. session.json of an
// evidence folder; docs/verifying.md.
#pragma once

#include "conformance/bench/active.hpp"
#include "conformance/interop/exchange.hpp"
#include "reports/results.hpp"

#include <array>
#include <filesystem>
#include <string>
#include <vector>

namespace ipoib::conformance::replay {

struct Record {
    static constexpr std::string_view format = "ipoib-conform-session/1";
    static constexpr std::string_view file = "session.json";

    std::string suite;
    std::string suite_texts;   ///< SHA-256 of what the suite that has recorded it adds to results; empty: older
    ActiveRun run{};           ///< its cases, rules, profile, permissions, seed and repetitions
    SessionOptions session{};  ///< but for its seed, where each case has its own
    fabric::Abilities abilities{};
    std::vector<std::pair<std::string, std::string>> fabric{}, dut{};  ///< facts
    bool is_virtual = false;
    /// Why it cannot be played again; empty where it can.
    std::string why_not{};
    std::vector<std::string> scenes{};  ///< names of its evidence files without ending, in their order
    std::vector<std::pair<std::string, std::string>> hashes{};  ///< of these files: name, SHA-256
    /// By id, before any baseline and --strict: verdict and its type, what was observed, how much of it violated.
    struct Verdict {
        std::string id, verdict, type;
        std::uint64_t observed = 0, violations = 0;
        friend bool operator==(const Verdict&, const Verdict&) = default;
    };
    std::vector<Verdict> verdicts{};
    std::string not_begun{};  ///< the note of the last case, where the run had enough: how many were not begun
    /// Of two implementations that met, instead of cases.
    std::vector<const interop::Exchange*> exchanges{};
    [[nodiscard]] bool is_meeting() const noexcept { return !exchanges.empty(); }
};

/// Whether it can be the name of a file of evidence: no folder, nothing hidden.
[[nodiscard]] bool is_file_name(const std::string& name);
/// The names of the files of a scene.
[[nodiscard]] std::array<std::string, 2> files_of(const std::string& scene);
/// The whole of a file. Throws std::invalid_argument for one that cannot be read or is larger.
[[nodiscard]] std::string content_of(const std::filesystem::path& path, std::uintmax_t most);
/// The largest file of an evidence.
inline constexpr std::uintmax_t most_of_file = std::uintmax_t{256} << 20;

/// Of two that met by side and id, such as "dut INTEROP-BRING-UP".
[[nodiscard]] std::vector<Record::Verdict> verdicts_of(const reports::Results& results);

/// As a file.
[[nodiscard]] std::string text(const Record& record);
/// Reads one. Throws std::invalid_argument, which names the member.
[[nodiscard]] Record parse_record(std::string_view text, const std::string& source);

}  // namespace ipoib::conformance::replay
