// SPDX-License-Identifier: GPL-2.0-or-later
// What every two of several implementations make of each other, as pages and for programs.
#pragma once

#include "conformance/interop/implementation.hpp"
#include "conformance/interop/interop.hpp"

#include <string>
#include <vector>

namespace ipoib::conformance::interop {

/// What one exchange came to.
struct CellExchange {
    std::string id;
    struct Part {
        reports::Verdict verdict = reports::Verdict::na;
        std::string message;
        std::vector<std::string> requirements;  ///< that it violates
    };
    Each<Part> of;
    /// The worse of both: as exit codes have it, NA where both are.
    [[nodiscard]] reports::Verdict verdict() const noexcept;
};

/// Two of them; an implementation may meet itself.
struct Cell {
    std::size_t dut = 0, against = 0;  ///< indices of Matrix::implementations
    std::vector<CellExchange> exchanges;
    std::vector<std::string> findings;  ///< what no text forbids
    [[nodiscard]] reports::Verdict verdict() const noexcept;
    /// Which of the two are FAIL in any exchange.
    [[nodiscard]] std::vector<std::size_t> broken_by() const;
    /// How many exchanges are PASS or WARN on both sides; how many NA.
    [[nodiscard]] std::size_t kept() const noexcept;
    [[nodiscard]] std::size_t not_applicable() const noexcept;
};

struct Matrix {
    std::string suite, started;
    std::vector<std::string> command;
    std::string scenario;
    std::uint64_t seed = 1;
    double seconds = 0;
    std::vector<Implementation> implementations;
    std::vector<Cell> cells;      ///< the pairs, by dut and then against, which is never before it
    bool is_interrupted = false;  ///< pairs are missing

    /// How many pairs there are, those that are missing, too.
    [[nodiscard]] std::size_t pairs() const noexcept {
        return implementations.size() * (implementations.size() + 1) / 2;
    }
    /// Null where it is missing.
    [[nodiscard]] const Cell* of(std::size_t one, std::size_t other) const;
    /// As of `run`: 3, also where it was interrupted, 1, 5, 4, 0.
    [[nodiscard]] int exit_code() const noexcept;
};

/// What is kept of a run of two.
[[nodiscard]] Cell cell_of(std::size_t dut, std::size_t against, const Each<reports::Results>& results);

/// Format "ipoib-conform-matrix/1": docs/registering.md.
[[nodiscard]] std::string matrix_json(const Matrix& matrix);
[[nodiscard]] std::string matrix_html(const Matrix& matrix);
/// Without times: the same implementations give the same page.
[[nodiscard]] std::string matrix_markdown(const Matrix& matrix);
/// A line each for the terminal.
[[nodiscard]] std::string matrix_text(const Matrix& matrix);
/// An image: how many pairs kept all; of one implementation those that it is in.
[[nodiscard]] std::string badge(const Matrix& matrix, std::size_t of);
[[nodiscard]] std::string badge(const Matrix& matrix);

}  // namespace ipoib::conformance::interop
