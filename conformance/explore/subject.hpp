// SPDX-License-Identifier: GPL-2.0-or-later
// The stack that a schedule is about, wherever it runs, and the cable of its port.
#pragma once

#include "conformance/explore/station.hpp"

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ipoib::conformance::explore {

/// What is told to it may be refused: it is then as it was. Nothing is told or asked from an event of the loop, since a
/// stack in another process is waited for.
class Subject {
public:
    virtual ~Subject() = default;

    [[nodiscard]] virtual Cable& cable() noexcept = 0;
    [[nodiscard]] virtual std::uint64_t guid() const noexcept = 0;
    [[nodiscard]] virtual wire::Gid gid() const = 0;
    /// 0: the subnet manager has not been there yet.
    [[nodiscard]] virtual std::uint16_t lid() const = 0;
    [[nodiscard]] virtual bool has_p_key(std::uint16_t p_key) const = 0;
    /// The address of each family that the world has for it; zero: it does not know this family.
    [[nodiscard]] virtual wire::IpAddress address(bool is_v4) const = 0;

    /// As far as it is known without asking it: in an event of the loop, too.
    [[nodiscard]] virtual bool seems_to_run() const = 0;
    virtual void up() = 0;
    virtual void down() = 0;
    /// For a program. `joined` is called with true when the program is told so; with false, or never, if it is not.
    virtual void join(const wire::IpAddress& group, std::function<void(bool)> joined) = 0;
    virtual void leave(const wire::IpAddress& group) = 0;
    /// A datagram from listening_port to listening_port.
    virtual void send(const wire::IpAddress& to, wire::Octets payload) = 0;
    /// False once it has said that it cannot send what must go in fragments: then it need not take such, either.
    [[nodiscard]] virtual bool knows_fragments() const noexcept { return true; }
    /// Whether it was taken.
    [[nodiscard]] virtual bool set_mtu(std::size_t octets) = 0;
    virtual void flush_neighbours() = 0;

    struct State {
        bool is_running = false;
        std::string trouble{};  ///< why it is not, in its own words
        std::size_t mtu = 0;    ///< 0: it does not tell
        /// That its IP is in, those of programs included; none: it does not tell, since every host is in one.
        std::vector<wire::IpAddress> groups{};
        std::vector<std::pair<wire::IpAddress, wire::Gid>> neighbours{};  ///< that it tells, and where they are
    };
    [[nodiscard]] virtual State state() = 0;
    struct Datagram {
        wire::IpAddress from, to;
        std::vector<std::uint8_t> payload;
    };
    /// What has come to listening_port since the last call.
    [[nodiscard]] virtual std::vector<Datagram> received() = 0;
    /// What it tells of its own faults since the last call.
    [[nodiscard]] virtual std::vector<std::string> faults() = 0;
};

/// The reference stack or a mutant of it, in this process.
[[nodiscard]] std::unique_ptr<Subject> make_stack(fabric::Subnet& subnet, Station::Config config);

/// What the stack of a station has got, as the programs on it are told.
[[nodiscard]] std::vector<Subject::Datagram> received_by(stack::Interface& interface);

}  // namespace ipoib::conformance::explore
