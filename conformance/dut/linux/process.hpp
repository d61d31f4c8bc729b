// SPDX-License-Identifier: GPL-2.0-or-later
// Other programs, run without a shell: with a time limit, bounded output, and never left behind. Descriptors and
// processes are of its own kind here, since the adapter needs nothing of the rest.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <string>
#include <vector>

namespace ipoib::host {

using std::chrono::milliseconds;
using Arguments = std::vector<std::string>;

/// A descriptor that is closed with its owner.
class Descriptor {
public:
    Descriptor() = default;
    explicit Descriptor(int value) noexcept : value_(value) {}
    Descriptor(Descriptor&& other) noexcept : value_(other.value_) { other.value_ = -1; }
    Descriptor& operator=(Descriptor&& other) noexcept;
    ~Descriptor() { close(); }
    void close() noexcept;
    /// -1 when it is closed.
    [[nodiscard]] int value() const noexcept { return value_; }
    explicit operator bool() const noexcept { return value_ >= 0; }

private:
    int value_ = -1;
};

/// The text of an error number.
[[nodiscard]] std::string error_text(int error);

/// What a program said, and how it ended.
struct Outcome {
    int status = -1;  ///< exit status; -1: it could not be started, or did not end by itself
    std::string output, errors;
    [[nodiscard]] bool is_ok() const noexcept { return status == 0; }
};

/// Runs a program that is searched for in PATH, with an empty standard input. Beyond the limit it is killed; what it
/// says beyond 1 MiB is thrown away.
[[nodiscard]] Outcome run(const Arguments& arguments, milliseconds limit);

/// A program that runs beside this one, its standard streams going nowhere.
class Background {
public:
    Background() = default;
    /// Throws std::runtime_error when it cannot be started.
    explicit Background(const Arguments& arguments);
    Background(Background&& other) noexcept : process_(other.process_) { other.process_ = -1; }
    Background& operator=(Background&& other) noexcept;
    ~Background() { end(milliseconds{0}); }
    [[nodiscard]] bool is_running() noexcept;
    void signal(int number) const noexcept;
    /// SIGTERM, and SIGKILL after the patience.
    void end(milliseconds patience) noexcept;

private:
    pid_t process_ = -1;
};

}  // namespace ipoib::host
