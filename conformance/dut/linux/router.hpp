// SPDX-License-Identifier: GPL-2.0-or-later
// The host as an IP multicast router (RFC 4391, 11): smcrouted between the interface and a dummy one.
#pragma once

#include "conformance/dut/linux/changed_files.hpp"
#include "conformance/dut/linux/process.hpp"

namespace ipoib::host {

class Router {
public:
    Router() = default;
    Router(const Router&) = delete;
    Router& operator=(const Router&) = delete;
    ~Router() { disable(); }
    /// The interface on the far side. Frames that are routed out of it go nowhere.
    static constexpr const char* far_side = "ipoibfar0";
    [[nodiscard]] bool is_enabled() const noexcept { return is_enabled_; }
    /// Throws Refusal; then nothing is changed.
    void enable(const std::string& interface);
    void disable() noexcept;

private:
    void start(const std::string& interface);
    bool is_enabled_ = false;
    std::string folder_;  ///< with the daemon's configuration and socket
    Background daemon_;
    ChangedFiles settings_;
};

/// smcroute.conf(5): everything from either side to the other, except groups of the link's own.
[[nodiscard]] std::string router_configuration(const std::string& interface);

}  // namespace ipoib::host
