// SPDX-License-Identifier: GPL-2.0-or-later
// A subnet administrator: the life of multicast groups, paths, records, subscriptions. IBTA Vol 1, 15. Where IBA leaves
// room it answers as OpenSM does; SaBehaviour::is_strict takes the strict reading.
#pragma once

#include "fabric/node/hca.hpp"
#include "fabric/simulated/sa_lapse.hpp"
#include "fabric/simulated/scenario.hpp"
#include "protocol/wire/mc_member_record.hpp"

#include <set>

namespace ipoib::fabric {

/// A port as the subnet manager knows it.
struct KnownPort {
    wire::Gid gid;
    std::uint64_t node_guid = 0, port_guid = 0;
    std::uint16_t lid = 0;
    std::uint8_t mtu = 4, rate = 3;  ///< codes
    std::uint8_t port_number = 1;
    bool is_active = false;
    std::vector<std::uint16_t> p_keys;
    std::string description;
    std::vector<std::uint8_t> node_info, port_info;  ///< the attributes as the port gave them
};

/// What the administrator knows of its subnet and can ask of the manager.
class SubnetView {
public:
    virtual ~SubnetView() = default;
    [[nodiscard]] virtual const std::vector<KnownPort>& ports() const = 0;
    [[nodiscard]] virtual const KnownPort* by_lid(std::uint16_t lid) const = 0;
    [[nodiscard]] virtual const KnownPort* by_gid(const wire::Gid& gid) const = 0;
    /// The ports that a group's packets are routed to and from, by LID: the manager programs the switches.
    struct Routes {
        std::set<std::uint16_t> to, from_only;
    };
    virtual void route(std::uint16_t mlid, const Routes& routes) = 0;
    /// As route(), where only this LID's part has changed.
    virtual void reroute(std::uint16_t mlid, std::uint16_t lid, const Routes& routes) {
        static_cast<void>(lid);
        route(mlid, routes);
    }
};

/// What the administrator does, each as IBA and RFC 4391 have it. A wrong one differs in one.
struct SaBehaviour {
    /// Takes IBA's reading where OpenSM has another: a new group's MGID, scope, P_Key and MTU are checked, its MLID is
    /// not the requester's to choose, a join must match in every component, and the end of the last FullMember does not
    /// disturb a group of the administrator's.
    bool is_strict = false;
    bool offers_send_only_full_member = true;
    bool checks_mtu = true, checks_rate = true, checks_p_key = true, checks_q_key = true, checks_sl = true;
    bool checks_flow = true;               ///< TClass, FlowLabel, HopLimit
    bool demands_components = true;        ///< of a join that creates
    bool demands_join_state = true;        ///< JoinState 0 joins nobody
    bool checks_mgid = true;               ///< of a new group
    bool checks_leave = true;              ///< whether the port has what it leaves
    bool counts_send_only_member = false;  ///< for keeping a group alive
    bool counts_non_member = false;
    bool creates_for_send_only = false;  ///< a SendOnlyNonMember or NonMember join creates the group
    bool deletes_at_last_full_member = true;
    bool keeps_administrative = true;  ///< groups of the administrator's, also without members
    bool frees_mlids = true;           ///< of groups that end
    bool makes_room = false;           ///< for a new group, where there is none, by ending another
    bool merges_join_states = true;
    bool leaves_part_by_part = true;   ///< false: who leaves with one join state leaves with all
    bool routes_to_send_only = false;  ///< and so delivers to it
    bool routes_to_members = true;     ///< of a group, full or not
    bool routes_to_non_members = true;
    bool reports = true;              ///< traps 66 and 67
    bool reports_right_group = true;  ///< false: with another's MGID
    bool ends_subscriptions = true;
    bool checks_proxy = true;             ///< PortGID of another port
    bool prunes = true;                   ///< ports that vanished
    bool answers_with_group_mtu = true;   ///< false: with the port's
    bool sends_whole_tables = true;       ///< false: what fits into one MAD
    bool ends_unfinished_tables = true;   ///< false: has room for few at a time, and waits for their end
    bool hides_partitions = true;         ///< groups of those that the requester is not in
    bool checks_p_key_of_joined = true;   ///< where one port joins for another: not only the requester's
    bool knows_requester_by_lid = true;   ///< false: by the SGID of a GRH, where there is one
    bool keeps_all_subscriptions = true;  ///< false: of more than a few, the newest
    bool reports_own_notices = true;      ///< and no other; false: those of others, too
    bool parts_limited_members = true;    ///< of a partition: no path between two
    bool knows_paths = true;              ///< between ports
    bool takes_port_info = false;         ///< as a record to be set, from any port
    bool keeps_database = false;          ///< over a restart that should empty it
    SaLapse lapse = SaLapse::none;        ///< what it gets wrong in some histories only
    /// Changes the broadcast group that the administrator creates; null: leaves it as the partition says.
    void (*changes_broadcast_group)(wire::Bytes<wire::McMemberRecord>& record) = nullptr;
};

/// Faults on purpose. A request that goes unanswered or is answered BUSY has no effect either.
struct SaFaults {
    Duration delay{};                      ///< of every answer and report
    bool is_silent = false;                ///< receives, never answers
    unsigned drop_next = 0;                ///< so many requests go unanswered
    std::uint16_t refuse_joins = 0;        ///< status for every Set(MCMemberRecord); 0: none
    std::optional<wire::Gid> refuse_only;  ///< only for this MGID
    unsigned busy_next = 0;                ///< so many requests are answered BUSY
};

struct SaConfig {
    std::uint64_t seed = 1;
    std::uint16_t first_mlid = 0xc000;
    std::size_t most_groups = 1024;  ///< MLIDs; then ERR_NO_RESOURCES
    std::size_t most_subscriptions = 4096;
    std::size_t most_services = 1024;
    Duration answer_after = std::chrono::microseconds{20};
    Duration resend_after = std::chrono::milliseconds{200};  ///< a report or a segment that nobody acknowledged
    unsigned most_sends = 3;                                 ///< of a report or a segment; then it is given up
    /// A MAD with another SM_Key than this and zero is dropped. IBTA Vol 1, 15.4.1.
    std::uint64_t sm_key = 1;
    /// Members and join states are told without the SM_Key too: in tables, and where the request names the port. A Get
    /// of a group stays one record.
    bool trusts_everyone = true;
    SaBehaviour behaviour{};
};

/// A group as the administrator holds it.
struct Group {
    wire::Bytes<wire::McMemberRecord> record;   ///< its parameters; PortGID and JoinState zero
    bool is_administrative = false;             ///< created by configuration: lives without members
    bool is_announced = false;                  ///< trap 66 was reported, and 67 not yet
    std::map<wire::Gid, std::uint8_t> members;  ///< PortGID -> join states
    std::set<wire::Gid> proxies;                ///< those that another port joined (ProxyJoin)
    [[nodiscard]] wire::Gid mgid() const;
    [[nodiscard]] std::uint16_t mlid() const;
};

class SubnetAdministrator {
public:
    /// Answers on the adapter's GSI as long as it lives.
    SubnetAdministrator(Hca& hca, SubnetView& subnet, SaConfig config);
    ~SubnetAdministrator();
    SubnetAdministrator(const SubnetAdministrator&) = delete;
    SubnetAdministrator& operator=(const SubnetAdministrator&) = delete;

    /// Creates a partition's broadcast group, if it has one, as an administrator would before the subnet comes up;
    /// paths in this partition take its SL.
    void create_broadcast_group(const Partition& partition);
    /// Creates any group with the link's parameters and reports it; the MLID (of the existing group, if there is one),
    /// or nothing when there is none left.
    std::optional<std::uint16_t> create_group(const wire::Gid& mgid, const Partition& like);
    void delete_group(const wire::Gid& mgid);
    /// A GID of another IB subnet is reached through the router with this LID; 0: not any more.
    void set_route(const wire::Gid& gid, std::uint16_t lid, std::optional<std::uint8_t> sl = {});
    /// A port went away: its memberships and subscriptions end (pruning).
    void port_vanished(const wire::Gid& port_gid);
    /// Forgets groups, members and subscriptions, as after a restart without state.
    void forget_all();

    [[nodiscard]] const Group* find(const wire::Gid& mgid) const;
    [[nodiscard]] std::vector<const Group*> groups() const;
    [[nodiscard]] std::size_t subscriptions() const noexcept;
    /// Those of one port.
    [[nodiscard]] std::size_t subscriptions_of(const wire::Gid& port_gid) const;
    SaFaults faults;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace ipoib::fabric
