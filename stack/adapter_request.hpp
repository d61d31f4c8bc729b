// SPDX-License-Identifier: GPL-2.0-or-later
// One request of the DUT control protocol and the ways to answer it; only the adapter*.cpp files include it.
#pragma once

#include "stack/adapter.hpp"

#include <nlohmann/json.hpp>

namespace ipoib::stack::adapter {

using nlohmann::json;

/// Answers one request once; may be kept until then.
class Reply {
public:
    Reply(json id, Adapter::Answer answer) : id_(std::move(id)), answer_(std::move(answer)) {}
    /// With results, an object.
    void ok(json results = json::object()) const;
    void failed(std::string_view message) const { refuse("failed", message); }
    void unsupported(std::string_view message) const { refuse("unsupported", message); }
    /// ok() for an empty reason, failed() else.
    void done(const std::string& reason) const { reason.empty() ? ok() : failed(reason); }

private:
    void refuse(std::string_view error, std::string_view message) const;
    json id_;
    Adapter::Answer answer_;
};

struct Request {
    Node& node;
    Interface& interface;
    const json& members;
    Reply reply;
    const std::string& driver;  ///< what the node calls itself

    [[nodiscard]] std::optional<std::string> text(const char* name) const;
    /// A number, or text with one in hex; absent when it is not within the bounds.
    [[nodiscard]] std::optional<std::uint64_t> number(const char* name, std::uint64_t least, std::uint64_t most) const;
    [[nodiscard]] std::optional<wire::IpAddress> address(const char* name) const;
    /// How long the answer may take: a little less than the harness waits.
    [[nodiscard]] fabric::Duration patience() const;
};

using Handler = void (*)(const Request&);
struct Entry {
    std::string_view name;
    Handler handler;
};
/// What the adapter can do, by concern.
[[nodiscard]] std::span<const Entry> interface_requests();
[[nodiscard]] std::span<const Entry> traffic_requests();
[[nodiscard]] std::span<const Entry> node_requests();
/// All names, sorted.
[[nodiscard]] std::vector<std::string> abilities();

}  // namespace ipoib::stack::adapter
