// SPDX-License-Identifier: GPL-2.0-or-later
// The fabric that a schedule is played on: a subnet with the DUT and two other nodes, all in this process, and what the
// DUT is wanted to be.
#pragma once

#include "conformance/explore/subject.hpp"
#include "conformance/explore/watch.hpp"
#include "fabric/simulated/subnet.hpp"

#include <set>

namespace ipoib::conformance::explore {

class RemoteDut;

inline constexpr unsigned peers = 2;
/// The IP groups that schedules speak of, by number: those that the DUT joins, and two that it only sends to. The third
/// and the fourth have the same MGID.
inline constexpr unsigned joined_groups = 4, groups = 6;
[[nodiscard]] wire::IpAddress group_address(unsigned number);

class World {
public:
    /// All is up but the DUT's interface. `mutant` null: the reference.
    World(const fabric::Scenario& scenario, std::uint64_t seed, const Mutant* mutant);
    /// With a DUT in another process, in real time. Throws std::runtime_error where it does not come.
    World(const fabric::Scenario& scenario, std::uint64_t seed, RemoteDut& remote);
    ~World();
    World(const World&) = delete;
    World& operator=(const World&) = delete;

    [[nodiscard]] fabric::Loop& loop() noexcept { return loop_; }
    [[nodiscard]] bool is_virtual() const noexcept { return loop_.is_virtual(); }
    [[nodiscard]] fabric::Subnet& subnet() noexcept { return subnet_; }
    [[nodiscard]] Watch& watch() noexcept { return watch_; }
    [[nodiscard]] Subject& dut() noexcept { return *dut_; }
    [[nodiscard]] Station& peer(unsigned number) { return *peers_.at(number); }
    /// Of any node: 0 is the DUT, then come the peers.
    [[nodiscard]] std::string name(unsigned node) const;
    [[nodiscard]] wire::Gid gid(unsigned node) const;
    [[nodiscard]] wire::IpAddress address(unsigned node, bool is_v4) const;
    /// A datagram that nobody waits for.
    void send(unsigned node, const wire::IpAddress& to, wire::Octets payload);
    /// What has come to a node since the last call, at all its interfaces.
    [[nodiscard]] std::vector<Subject::Datagram> received(unsigned node);
    /// A node that nobody has met. It stays; its interface comes up as the loop runs.
    [[nodiscard]] Station& add_newcomer();
    /// The MGID of a group of schedules on the link.
    [[nodiscard]] wire::Gid mgid(unsigned group) const;
    [[nodiscard]] wire::Gid mgid(const wire::IpAddress& group) const;
    [[nodiscard]] wire::Gid broadcast_gid() const { return subnet_scenario_.link.broadcast_gid(); }
    /// The first of the port's table, as full member.
    [[nodiscard]] std::uint16_t p_key() const { return subnet_scenario_.link.p_key; }

    /// What the DUT was told, as far as it has not refused.
    struct Wanted {
        bool is_up = false;
        std::set<unsigned> joined;
        std::size_t mtu = 0;  ///< 0: it was told none
    };
    [[nodiscard]] Wanted& wanted() noexcept { return wanted_; }

    /// Once this time is over, unless the storm is.
    void later(fabric::Duration after, std::function<void()> action);
    void up();
    void down();
    void join(unsigned group);
    void leave(unsigned group);
    /// With a new queue pair number, or with another GID at the same addresses.
    void move_peer_lid(unsigned number);
    /// Whether a peer had this LID before the subnet manager last asked a running DUT to begin anew.
    [[nodiscard]] bool is_old_lid(std::uint16_t lid) const;
    [[nodiscard]] fabric::Time renewed() const noexcept { return renewed_; }
    void restart_peer(unsigned number);
    void move_peer(unsigned number);
    /// A P_Key of the DUT's port.
    void set_p_key(bool is_there);
    void stop_manager();
    /// The SM starts, stopped before or not; every port is asked to reregister.
    void start_manager(bool keeps_state);
    /// With an empty database, from which it gives every node another LID.
    void give_other_lids();
    /// At another LID, with an empty database.
    void let_another_manager_take_over();
    /// By a manager with an empty database; 0: the one that it has by default.
    void set_prefix(std::uint32_t number);
    /// In the table of the DUT's port. Its partition has a broadcast group.
    void put_another_p_key_first();
    void put_first_p_key_back();
    /// The administrator deletes a group and creates it with another MLID and, where it is said, other parameters.
    void make_anew(const wire::Gid& mgid, const fabric::Partition& like);
    void delete_group(const wire::Gid& mgid);
    /// Every group but the broadcast group, which is about to have other parameters.
    void delete_all_groups();
    /// With an empty database, and an administrator that refuses every join of this group from then on, the storm's end
    /// included.
    void refuse_group(const wire::IpAddress& group);
    /// It refuses no other one any more.
    void let_join();
    /// What a new group is like: the broadcast group.
    [[nodiscard]] fabric::Partition like_broadcast();
    /// Whether nothing can be asked of the DUT for a group: its joins are refused; or it is another now than the DUT
    /// can know of, since it was deleted, no report of that got there, and nothing made it begin anew.
    [[nodiscard]] bool is_out_of_reach(const wire::Gid& mgid) const;
    /// All faults end, and what was taken away comes back; the DUT is told to be up.
    void end_storm();
    /// Looks after what an end could not do at once. To be called now and then.
    void tend();

private:
    /// One of the first two is there.
    World(std::unique_ptr<fabric::Loop> own, RemoteDut* remote, const fabric::Scenario& scenario, std::uint64_t seed,
          const Mutant* mutant);
    [[nodiscard]] Cable& cable(unsigned node) { return node == 0 ? dut_->cable() : peers_.at(node - 1)->cable(); }
    [[nodiscard]] std::uint64_t guid(unsigned node) const;
    [[nodiscard]] std::unique_ptr<Station> make_peer(unsigned number);
    void tend_peer(Station& peer);
    void tend_subnet();
    void manager_has_started();

    std::unique_ptr<fabric::Loop> own_loop_;
    fabric::Loop& loop_;
    const fabric::Scenario subnet_scenario_;
    fabric::Subnet subnet_;
    Watch watch_{loop_};
    std::uint64_t seed_;
    std::unique_ptr<Subject> dut_;
    std::vector<std::unique_ptr<Station>> peers_, newcomers_;
    std::array<unsigned, peers> moves_{};
    std::set<std::uint16_t> lacking_;  ///< P_Keys that were taken from the DUT's port
    bool has_another_p_key_ = false;   ///< in the DUT's port's first place, at least for a while
    bool is_manager_stopped_ = false;
    std::optional<wire::Gid> refused_;
    unsigned fillers_ = 0;
    std::map<wire::Gid, fabric::Time> deleted_;
    std::map<std::uint16_t, fabric::Time> old_lids_;
    fabric::Time renewed_ = fabric::Time::min();
    Wanted wanted_;
    std::shared_ptr<bool> storm_ = std::make_shared<bool>(true);
};

}  // namespace ipoib::conformance::explore
