// SPDX-License-Identifier: GPL-2.0-or-later
// Requests and answers, each an object of JSON on a line: the DUT control and the fabric control protocol.
#pragma once

#include "conformance/dut/linux/process.hpp"

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

namespace ipoib::host {

using Json = nlohmann::ordered_json;

/// Why a request was not carried out; thrown by its handler.
struct Refusal {
    bool is_unsupported = false;
    std::string message;
};
[[noreturn]] void fail(std::string message);
[[noreturn]] void refuse_as_unsupported(std::string message);

/// The members of a request, each checked as it is read: what is missing or wrong is refused.
class Request {
public:
    explicit Request(const Json& members) : members_(members) {}
    [[nodiscard]] bool has(const char* name) const { return members_.contains(name); }
    /// All of it, as a line of JSON.
    [[nodiscard]] std::string line() const;
    [[nodiscard]] std::string text(const char* name) const;
    [[nodiscard]] bool flag(const char* name) const;
    /// A number, or text with one in hexadecimal digits.
    [[nodiscard]] std::uint64_t number(const char* name, std::uint64_t least, std::uint64_t most) const;
    [[nodiscard]] double real(const char* name, double most) const;
    /// How long the answer may take: a little less than the other side waits.
    [[nodiscard]] milliseconds patience() const;

private:
    [[nodiscard]] const Json& at(const char* name) const;
    const Json& members_;
};

/// Returns the results, an object; throws Refusal.
using Handler = std::function<Json(const Request&)>;
using Handlers = std::map<std::string, Handler, std::less<>>;

/// The answer to one line. Whatever the line holds, it is answered.
[[nodiscard]] std::string answer_to(const Handlers& handlers, std::string_view line);

/// Takes a stream apart into lines. One that is too long is told as such, once, and skipped.
class Lines {
public:
    static constexpr std::size_t longest = 65536;
    void feed(std::string_view octets) { text_ += octets; }
    struct Line {
        std::string text;
        bool is_too_long = false;
    };
    /// Absent while there is no whole line.
    [[nodiscard]] std::optional<Line> next();

private:
    std::string text_;
    bool is_skipping_ = false;
};

/// SIGTERM, SIGINT and SIGHUP as something to wait for. One object a process.
class Interruption {
public:
    Interruption();
    [[nodiscard]] int descriptor() const noexcept { return signals_.value(); }
    /// Waits; true when there is an end to come instead: a signal, or nobody at the other end of standard input.
    [[nodiscard]] bool comes_within(milliseconds patience) const;

private:
    Descriptor signals_;
};

/// Waits until the condition holds, asking again and again; whether it does.
[[nodiscard]] bool wait_until(const Interruption& interruption, milliseconds patience,
                              const std::function<bool()>& condition);

/// Answers the lines of standard input, one by one, until it ends or a signal comes.
void serve(const Handlers& handlers, const Interruption& interruption);

}  // namespace ipoib::host
