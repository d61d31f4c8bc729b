// SPDX-License-Identifier: GPL-2.0-or-later
// This host as a DUT: its IPoIB interfaces, changed as an administrator would, and everything put back at the end.
#pragma once

#include "conformance/dut/linux/accounts.hpp"
#include "conformance/dut/linux/changed_files.hpp"
#include "conformance/dut/linux/ip_tool.hpp"
#include "conformance/dut/linux/kernel_log.hpp"
#include "conformance/dut/linux/router.hpp"
#include "conformance/dut/linux/sockets.hpp"

namespace ipoib::host {

class Host {
public:
    /// What the DUT is from the beginning.
    struct Role {
        std::string mode;  ///< "datagram" or "connected"; empty: as it is
        bool is_router = false;
        std::string dhcp_client{}, dhcp_server{};  ///< programs; empty: it has none
        std::string
            coverage{};  ///< file of the kernel's that gives each block of code that ran once; empty: there is none
    };
    /// Throws std::runtime_error when there is no such interface.
    Host(const std::string& interface, Role role, const Interruption& interruption);
    Host(const Host&) = delete;
    Host& operator=(const Host&) = delete;
    ~Host() { restore(); }
    [[nodiscard]] Handlers handlers();
    /// Takes the role. Called by `hello` too: a session may follow one that ended with `bye`. Throws Refusal.
    void begin();
    /// Takes back what was changed. May be called twice.
    void restore() noexcept;

private:
    Json hello(const Request& request);
    Json interface(const Request& request) const;
    Json up(const Request& request);
    Json down(const Request& request);
    Json restart(const Request& request);
    Json add_address(const Request& request);
    Json remove_address(const Request& request);
    Json set_mtu(const Request& request);
    Json set_mode(const Request& request);
    Json set_scope(const Request& request);
    Json create_child(const Request& request);
    Json delete_child(const Request& request);
    Json timers(const Request& request);
    Json health(const Request& request);
    void add_traffic_handlers(Handlers& handlers);
    void add_dhcp_handlers(Handlers& handlers);
    Json resolve(const Request& request);
    Json neighbours(const Request& request) const;

    static constexpr milliseconds dhcp_patience{5000};  ///< for a DHCP client to give the address back
    [[nodiscard]] const Link& main_link() const noexcept { return links_.front(); }
    [[nodiscard]] const Link& link(const Request& request) const;
    /// The address that a member of the request holds.
    [[nodiscard]] Address address(const Request& request, const char* member) const;
    [[nodiscard]] InterfaceState state(const Link& link) const;
    [[nodiscard]] std::string sysfs(const Link& link, const char* file) const;
    /// IPv6 addresses stay where the link goes down, as those of IPv4 do.
    void keep_addresses(const Link& link);
    void must(const std::string& reason) const;
    void ip(Arguments arguments, milliseconds limit = milliseconds{8000}) const;
    void change_mode(const Link& link, const std::string& mode);
    void restore_main() noexcept;

    const Role role_;
    const Interruption& interruption_;
    bool has_begun_ = false;
    std::vector<Link> links_;  ///< the first is the host's, the others are children made by request
    InterfaceState before_;    ///< of the first
    std::string mode_before_;
    std::vector<std::pair<std::string, std::string>> added_;  ///< interface, address
    bool is_changed_ = false;
    ChangedFiles settings_;
    Sockets sockets_;
    Router router_;
    Background dhcp_client_, dhcp_server_;
    KernelLog log_;
    InterfaceAccounts accounts_;
    MemoryAccounts memory_;
    bool was_down_ = false;  ///< since memory was looked at
};

}  // namespace ipoib::host
