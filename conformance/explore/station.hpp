// SPDX-License-Identifier: GPL-2.0-or-later
// A node of the explored fabric: an adapter, the stack on it, and a cable that does wrong what it is told to.
#pragma once

#include "conformance/mutants/mutant.hpp"
#include "fabric/node/hca.hpp"
#include "fabric/node/sa_client.hpp"
#include "fabric/simulated/subnet.hpp"
#include "stack/node.hpp"

#include <memory>
#include <random>

namespace ipoib::conformance::explore {

/// What a cable does to frames that go one way; subnet management passes. Only UDP datagrams are damaged: in their last
/// octet, which their checksum covers and ARP has none for.
struct Spell {
    enum class What : std::uint8_t { lose, repeat, hold, damage };
    What what = What::lose;
    bool to_node = false;          ///< else from it
    bool only_mads = false;        ///< else all but those
    unsigned skip = 0, count = 1;  ///< of the frames that it is about: so many pass, and with so many it is done
    unsigned percent = 100;        ///< of those, by chance
    fabric::Duration hold{};       ///< for so long
    fabric::Time until = fabric::Time::max();
};

/// Between a port and its switch.
class Cable {
public:
    /// Frames for the port go to `node`. `connect` is told where to send what leaves it, and null while the link is
    /// down.
    Cable(fabric::Loop& loop, fabric::FrameSink& node, std::function<void(fabric::FrameSink*)> connect,
          std::uint64_t seed);
    ~Cable();
    Cable(const Cable&) = delete;
    Cable& operator=(const Cable&) = delete;

    void plug(fabric::Subnet& subnet, fabric::NodeRole role);
    /// The subnet manager notices.
    void unplug();
    void cast(const Spell& spell) { spells_.push_back(spell); }
    void clear() { spells_.clear(); }
    /// Told of what the port sends, and of what gets to it.
    std::function<void(const fabric::Frame& frame, bool is_sent)> seen;

private:
    struct End final : fabric::FrameSink {
        End(Cable& c, bool to) : cable(c), to_node(to) {}
        void receive(const fabric::Frame& frame) override;
        Cable& cable;
        bool to_node;
    };
    /// Where a frame comes from that was held.
    struct Late final : fabric::FrameSink {
        Late(Cable& c, bool to) : cable(c), to_node(to) {}
        void receive(const fabric::Frame& frame) override { cable.pass(frame, to_node); }
        Cable& cable;
        bool to_node;
    };
    void carry(const fabric::Frame& frame, bool to_node);
    void pass(const fabric::Frame& frame, bool to_node);

    fabric::Loop& loop_;
    fabric::FrameSink& node_;
    const std::function<void(fabric::FrameSink*)> connect_;
    fabric::SwitchPort* port_ = nullptr;
    std::mt19937_64 random_;
    std::vector<Spell> spells_;
    End up_{*this, false}, down_{*this, true};
    Late late_up_{*this, false}, late_down_{*this, true};
};

/// One port with an IPoIB interface.
class Station {
public:
    struct Config {
        std::uint64_t guid = 0;
        std::string name;
        std::vector<wire::IpNetwork> addresses;
        /// Of a second interface at the same port, with a queue pair of its own; none: it has no second one.
        std::vector<wire::IpNetwork> twin_addresses{};
        std::uint16_t p_key = 0;         ///< of the second one
        const Mutant* mutant = nullptr;  ///< of the stack or the adapter; null: the reference
        fabric::NodeRole role = fabric::NodeRole::other;
        std::uint64_t seed = 1;
    };
    Station(fabric::Subnet& subnet, Config config);
    ~Station();
    Station(const Station&) = delete;
    Station& operator=(const Station&) = delete;

    /// The program that is the stack ends and begins anew, with a queue pair of another number.
    void restart_stack();
    [[nodiscard]] const std::string& name() const noexcept { return config_.name; }
    [[nodiscard]] std::uint64_t guid() const noexcept { return config_.guid; }
    [[nodiscard]] wire::Gid gid() const { return hca_.facts().gid; }
    [[nodiscard]] bool has_p_key(std::uint16_t p_key) const;
    [[nodiscard]] std::uint16_t lid() const noexcept { return hca_.lid(); }
    [[nodiscard]] stack::Node& node() noexcept { return *node_; }
    [[nodiscard]] stack::Interface& interface() noexcept { return node_->interface(); }
    [[nodiscard]] bool is_running() const noexcept { return node_->interface().is_running(); }
    /// The second interface; null: there is none.
    [[nodiscard]] stack::Interface* twin() noexcept { return twin_; }
    [[nodiscard]] wire::IpAddress twin_address(bool is_v4) const;
    [[nodiscard]] Cable& cable() noexcept { return cable_; }
    /// A datagram from listening_port to listening_port.
    void send(const wire::IpAddress& to, wire::Octets payload);
    /// The first address of the family.
    [[nodiscard]] wire::IpAddress address(bool is_v4) const;

private:
    void begin();
    void arm_habit();

    fabric::Subnet& subnet_;
    Config config_;
    fabric::Hca hca_;
    Cable cable_;
    fabric::SaClient sa_;
    std::unique_ptr<stack::Node> node_;
    stack::Interface* twin_ = nullptr;
    fabric::TimerId habit_timer_{};
};

/// Where every station listens for datagrams.
inline constexpr std::uint16_t listening_port = 7000;

}  // namespace ipoib::conformance::explore
