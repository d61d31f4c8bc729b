// SPDX-License-Identifier: GPL-2.0-or-later
// The implementation under test as cases speak to it: the requests of the DUT control protocol with types.
#pragma once

#include "conformance/dut/control.hpp"
#include "protocol/wire/ip_address.hpp"
#include "protocol/wire/link_address.hpp"

#include <functional>
#include <stdexcept>
#include <utility>

namespace ipoib::conformance {

class AnswerObject;

/// The DUT's adapter does not know this request: the case cannot be done here.
struct Unsupported : std::runtime_error {
    using std::runtime_error::runtime_error;
};
/// The DUT was asked and could not: the case has no evidence.
struct ControlFailed : std::runtime_error {
    using std::runtime_error::runtime_error;
};
/// The adapter hangs, died, or breaks the protocol: an ERROR.
struct ChannelBroken : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// `interface` of the protocol. What an adapter does not tell is empty.
struct InterfaceFacts {
    std::optional<wire::Bytes<wire::LinkAddress>> link_address;
    std::size_t mtu = 0;
    std::vector<wire::IpNetwork> ipv4, ipv6;
    bool is_up = false;
    std::string mode;
    std::vector<wire::IpAddress> groups;
};
struct DatagramReceived {
    wire::IpAddress from, to;
    std::uint16_t port = 0;
    std::string payload;  ///< hex
    unsigned ttl = 0;
};
/// One attempt to set up or change the interface.
struct SetupAttempt {
    std::string what;
    bool is_refused = false;
};
struct NeighbourEntry {
    wire::IpAddress address;
    std::vector<std::uint8_t> link_address;
};

/// Every method throws Unsupported, ControlFailed or ChannelBroken.
class Dut {
public:
    /// `interface` names the interface of multi-interface adapters; empty: the adapter's first.
    Dut(DutControl& control, std::string interface, double timeout_scale = 1);

    /// The honesty probe and `hello`. To be called first. The probe asks for something that does not exist, by a name
    /// made of `seed`.
    void greet(std::uint64_t seed = 1);
    [[nodiscard]] const std::string& name() const noexcept { return name_; }
    [[nodiscard]] const std::vector<std::string>& abilities() const noexcept { return can_; }
    [[nodiscard]] bool can(std::string_view request) const;
    /// Facts for the report: name, version, driver, firmware ...
    [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& facts() const noexcept { return facts_; }

    [[nodiscard]] InterfaceFacts interface();
    /// The stack may take its time: the request's deadline is a minute.
    void up();
    void down();
    void restart();
    void add_address(const wire::IpNetwork& address);
    void remove_address(const wire::IpNetwork& address);
    /// The address goes with undo().
    void lend_address(const wire::IpNetwork& address);
    void set_mtu(std::size_t mtu);
    void set_mode(std::string_view mode);
    void set_scope(unsigned scope);
    /// The same as part of the DUT's configuration: undo() leaves it.
    void configure_scope(unsigned scope);
    /// The new interface's name, where the adapter tells it.
    std::string create_child(std::uint16_t p_key);
    void delete_child(const std::string& interface);
    void router(bool is_enabled);
    void join(const wire::IpAddress& group);
    void leave(const wire::IpAddress& group);
    void send(const wire::IpAddress& to, std::uint16_t port, wire::Octets payload, unsigned ttl = 1);
    void listen(const wire::IpAddress& address_or_group, std::uint16_t port);
    /// Whatever they are sent to.
    void listen(std::uint16_t port);
    [[nodiscard]] std::vector<DatagramReceived> received();
    [[nodiscard]] bool ping(const wire::IpAddress& to, std::size_t size);
    void resolve(const wire::IpAddress& address);
    [[nodiscard]] std::vector<NeighbourEntry> neighbours();
    void flush_neighbours();
    /// In seconds; zero: unchanged.
    void timers(unsigned reachable, unsigned gc, unsigned membership);
    void dhcp(bool is_started);
    void dhcp_server(bool is_started);
    [[nodiscard]] std::vector<std::string> log();
    /// The places in the DUT's code that ran for the first time since the last call, each by a name that stays.
    [[nodiscard]] std::vector<std::string> coverage();
    /// What the adapter tried without privileges.
    [[nodiscard]] std::vector<SetupAttempt> unprivileged();
    /// Kernel warnings, sanitizer reports ... new since the last call; empty where the adapter cannot tell.
    [[nodiscard]] std::vector<std::string> health();
    /// Takes back what was asked of it since the last call: groups joined, addresses lent, router, scope, MTU, mode.
    /// What fails is no longer of interest, but a broken channel is.
    void undo();
    /// The last request; whatever goes wrong is no longer of interest.
    void bye() noexcept;

private:
    struct Members;
    AnswerObject request(const std::string& what);
    /// `deadline` goes into the request; zero: the usual one.
    AnswerObject request(const std::string& what, const Members& members, std::chrono::seconds deadline = {});
    void probe_honesty(std::uint64_t seed);
    void start_or_stop(const char* service, bool is_started);

    /// For undo(): empty where it is not told.
    [[nodiscard]] InterfaceFacts as_far_as_told();
    /// Keeps how a request is taken back.
    void undo_later(std::function<void()> request) { undo_.push_back(std::move(request)); }

    std::vector<std::function<void()>> undo_;
    DutControl& control_;
    std::string interface_;
    double scale_;
    unsigned scope_ = 0;  ///< configured; 0: it searches
    std::uint64_t next_id_ = 1;
    bool is_starting_ = false;
    std::string name_, version_;
    std::vector<std::string> can_;
    std::vector<std::pair<std::string, std::string>> facts_;
};

}  // namespace ipoib::conformance
