// SPDX-License-Identifier: GPL-2.0-or-later
// What a host believes of its IPoIB interfaces, as `ipoib-dut-linux state` writes it. docs/host-state.md.
#pragma once

#include "protocol/wire/ip_address.hpp"
#include "protocol/wire/mgid.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ipoib::hosts {

struct Neighbour {
    wire::Gid address{};  ///< IPv6, or IPv4 as ::ffff:a.b.c.d
    wire::Gid gid{};
    std::uint32_t qpn = 0;
    std::string state;  ///< "REACHABLE", "STALE", "PERMANENT" ...; may be empty
};

struct HeldAddress {
    wire::IpNetwork network;
    bool is_tentative = false;  ///< not an address of the interface yet
    bool is_duplicate = false;  ///< and never will be: the host has found a duplicate
};

/// A group of the driver's own list.
struct DriverGroup {
    wire::Gid mgid{};
    bool is_complete = false;  ///< the SA has let it join
    bool is_send_only = false;
};

/// A path that the driver keeps.
struct DriverPath {
    wire::Gid gid{};
    std::uint16_t dlid = 0;  ///< 0: the SA has not told it
};

/// A port as the host sees it.
struct PortState {
    std::string state, phys_state;  ///< "4: ACTIVE", "5: LinkUp"; empty: not told
    std::uint16_t lid = 0;          ///< base LID; 0: not told
    std::optional<std::uint8_t> lmc;
    std::uint16_t sm_lid = 0;                          ///< of the master subnet manager; 0: not told
    wire::Gid gid{};                                   ///< GID 0; zero: not told
    std::optional<std::vector<std::uint16_t>> p_keys;  ///< all of them, sorted

    [[nodiscard]] bool is_active() const noexcept { return state.starts_with('4'); }
    [[nodiscard]] bool is_plugged() const noexcept { return phys_state.starts_with('5'); }
};

struct Interface {
    std::string name, mode, device, driver, firmware;  ///< each may be empty: not told
    std::optional<std::uint32_t> qpn;                  ///< of its link-layer address
    wire::Gid gid{};                                   ///< of the same; zero: not told
    wire::Gid broadcast{};                             ///< the MGID of its broadcast address; zero: not told
    unsigned mtu = 0;                                  ///< of IP, in octets; 0: not told
    std::uint16_t p_key = 0;                           ///< that the driver names; 0: not told
    std::optional<bool> is_up, is_running;             ///< by its administrator; and its link is there
    std::string master;                                ///< a bond, whose the addresses are; empty: none
    std::string vrf;                                   ///< its addresses are known in this one alone; empty: none
    bool are_addresses_told = true;                    ///< all that it has
    std::vector<HeldAddress> addresses;
    std::optional<std::vector<wire::Gid>> link_groups;  ///< MGIDs that the network stack has asked for
    std::optional<std::vector<DriverGroup>> driver_groups;
    std::vector<DriverPath> paths;
    std::vector<Neighbour> neighbours;
    std::optional<unsigned> arp_ignore, arp_filter;
    std::optional<PortState> port;

    /// Of its link, with the membership bit; 0: not told.
    [[nodiscard]] std::uint16_t partition() const noexcept {
        const auto told =
            p_key != 0 || broadcast.is_zero() ? p_key : std::uint16_t{wire::mgid_of(broadcast)[wire::Mgid::p_key]};
        return told == 0 ? std::uint16_t{0} : static_cast<std::uint16_t>(told | wire::full_membership);
    }
};

struct HostState {
    std::string host, kernel;
    std::optional<std::int64_t> time;  ///< when it was read, in ns since 1970
    std::string origin;                ///< the file
    std::size_t machine = 0;           ///< states of one name and number are of one host for sure
    std::vector<Interface> interfaces;
    std::vector<std::pair<std::string, std::string>> unread;  ///< what could not be read, and why
};

/// Bounds of what is read of all files together.
inline constexpr std::size_t largest_file = std::size_t{64} << 20, largest_of_all = std::size_t{1} << 30,
                             most_hosts = 65536, most_entries = 65536;

/// What was skipped or left out, each with its place and why: so many are told, the others counted.
class Notes {
public:
    static constexpr std::size_t most = 20;
    void add(std::string note);
    [[nodiscard]] std::vector<std::string> told() const;

private:
    std::vector<std::string> told_;
    std::size_t count_ = 0;
};

struct HostStates {
    std::vector<HostState> hosts;
    Notes notes;  ///< files and lines that are no states, and values that cannot be
};

/// Files of one "ipoib-host-state/1", or of several, each on a line. What is no such state is skipped, and a value
/// that cannot be is left out. Of two states of one host's interface the later one is kept. Throws std::runtime_error
/// where none can be read.
[[nodiscard]] HostStates read_host_states(const std::vector<std::string>& paths);
/// The same of text that was read already.
[[nodiscard]] HostStates parse_host_states(std::string_view text, const std::string& origin);

}  // namespace ipoib::hosts
