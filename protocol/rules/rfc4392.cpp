// SPDX-License-Identifier: GPL-2.0-or-later
// RFC 4392: multicast GIDs, MCMemberRecords and Q_Keys.
#include "protocol/requirements/catalogue.hpp"
#include "protocol/rules/common.hpp"

namespace ipoib::rules {
namespace {

using component = McMemberRecord::component;

unsigned scope_of_record(const Packet& p) { return mgid_of(joined(p))[Mgid::scope]; }

/// A record of a group of IPoIB that the SA has granted.
bool is_granted_group(const Packet& p) { return is_granted(p) && has_ipoib_signature(joined(p)); }
/// A record whose MGID somebody means: a request's may be a blank.
bool names_group(const Packet& p) {
    const bool is_request = !is_response(p.mad[Mad::method]);
    return is_granted_group(p) || (is_request && gives(p, component::mgid) && has_ipoib_signature(joined(p)));
}
bool is_request_for_group(const Packet& p) {
    return !is_response(p.mad[Mad::method]) && has_ipoib_signature(joined(p));
}
bool is_group_join(const Packet& p) { return is_join(p) && !is_broadcast_gid(joined(p)); }

constexpr std::uint8_t blank_scope = 0;
bool has_scope_of_mgid(const Packet& p) { return p.mc_member[McMemberRecord::scope] == scope_of_record(p); }
std::string scope_text(const Packet& p, const Known&) { return hex(scope_of_record(p), 1) + ", that of the MGID"; }

/// The parameters of a creator that the record's MGID does not hold already, as it does the scope.
constexpr std::uint64_t of_creator = component::create | component::mtu;
struct Component {
    std::uint64_t bit;
    std::string_view name;
};
constexpr Component components[] = {{component::q_key, "Q_Key"},      {component::mtu, "MTU"},
                                    {component::p_key, "P_Key"},      {component::sl, "SL"},
                                    {component::mgid, "MGID"},        {component::flow_label, "FlowLabel"},
                                    {component::port_gid, "PortGID"}, {component::traffic_class, "TClass"}};
std::string missing_components(const Packet& p, const Known&) {
    std::string names;
    for (const auto& [bit, name] : components)
        if (!gives(p, bit)) names += (names.empty() ? "without " : ", ") + std::string(name);
    return names;
}

constexpr Rule rules_of_rfc4392[] = {
    // A Q_Key with the high bit in a request to send is replaced by that of the queue pair, so it cannot be an own one.
    {.id = "RULE-RFC4392-1.2-02",
     .checks = {&rfc4392::controlled_qkey_from_qp},
     .title = "a controlled Q_Key is that of the queue pair, which has the link's",
     .needs = over_ib | parts(Part::deth),
     .evidence = Evidence::nothing_between,
     .knows = facts(Fact::q_key),
     .over = since_told_q_key,
     .applies =
         [](const Packet& p, const Known& known) {
             const bool is_of_link = !known.link || is_same_partition(p.bth[Bth::p_key], known.link->p_key);
             return is_of_link && is_controlled(known.broadcast->q_key) && is_controlled(p.deth[Deth::q_key]);
         },
     .holds =
         [](const Packet& p, const Known& known) {
             return p.deth[Deth::q_key] == known.broadcast->q_key || has_q_key_of_its_group(p, known);
         },
     .points_at = Deth::q_key,
     .expected_of = of_group<&GroupParameters::q_key, 8>},
    {.id = "RULE-RFC4392-1.2.1.2-02",
     .checks = {&rfc4392::mgid_scope_values},
     .title = "the scope of an MGID is not a reserved one",
     .needs = over_ib | parts(Part::mgid),
     .evidence = Evidence::one_frame,
     .holds = [](const Packet& p) { return !is_reserved_scope(p.mgid[Mgid::scope]); },
     .notes = [](const Packet& p) { return !is_assigned_scope(p.mgid[Mgid::scope]); },
     .note = "MGIDs of a scope that has no meaning assigned",
     .points_at = Mgid::scope,
     .expected = "2, 5, 8 or 0xe"},
    {.id = "RULE-RFC4392-1.2.1.2-02-record",
     .checks = {&rfc4392::mgid_scope_values},
     .title = "the scope of an MGID at the SA is not a reserved one",
     .needs = parts(Part::mc_member),
     .evidence = Evidence::one_frame,
     .applies = names_group,
     .holds = [](const Packet& p) { return !is_reserved_scope(scope_of_record(p)); },
     .notes = [](const Packet& p) { return !is_assigned_scope(scope_of_record(p)); },
     .note = "MGIDs of a scope that has no meaning assigned",
     .points_at = McMemberRecord::mgid,
     .expected = "scope 2, 5, 8 or 0xe"},
    {.id = "RULE-RFC4392-1.3.1-01",
     .checks = {&rfc4392::record_scope},
     .title = "the Scope of an MCMemberRecord is that of its MGID",
     .needs = parts(Part::mc_member),
     .evidence = Evidence::one_frame,
     .applies =
         [](const Packet& p) {
             const bool is_given = is_join(p) && gives(p, component::mgid | component::scope);
             return is_given || (is_granted_group(p) && p.mc_member[McMemberRecord::scope] != blank_scope);
         },
     .holds = has_scope_of_mgid,
     .points_at = McMemberRecord::scope,
     .expected_of = scope_text},
    // OpenSM returns 0, which is no scope, to those who join an existing group: that contradicts nothing.
    {.id = "RULE-RFC4392-1.3.1-01-blank",
     .checks = {&rfc4392::record_scope},
     .title = "the SA does not leave the Scope of a group blank",
     .needs = parts(Part::mc_member),
     .evidence = Evidence::one_frame,
     .weight = requirements::Strength::should,
     .applies =
         [](const Packet& p) { return is_granted_group(p) && p.mc_member[McMemberRecord::scope] == blank_scope; },
     .holds = has_scope_of_mgid,
     .points_at = McMemberRecord::scope,
     .expected_of = scope_text},
    {.id = "RULE-RFC4392-1.3.2-01",
     .checks = {&rfc4392::join_and_leave_methods},
     .title = "groups are joined with Set, left with Delete and asked for with Get or GetTable",
     .needs = parts(Part::mc_member),
     .evidence = Evidence::one_frame,
     .applies = is_request_for_group,
     .holds =
         [](const Packet& p) {
             const auto method = p.mad[Mad::method];
             return method == Method::set || method == Method::del || method == Method::get ||
                    method == Method::get_table;
         },
     .points_at = Mad::method,
     .expected = "Set, Delete, Get or GetTable"},
    {.id = "RULE-RFC4392-1.3.2.1-02",
     .checks = {&rfc4392::creator_supplies_parameters},
     .title = "a join that creates a group gives all parameters",
     .needs = parts(Part::mc_member),
     .evidence = Evidence::nothing_between,
     .over = since_start,
     .applies = is_creation,
     .holds = [](const Packet& p) { return gives(p, of_creator); },
     .notes = [](const Packet& p) { return !gives(p, component::scope); },
     .note = "the Scope is given by the MGID alone",
     .points_at = SaHeader::component_mask,
     .expected = "Q_Key, MTU, P_Key, SL, FlowLabel, TClass",
     .actual_of = missing_components},
    {.id = "RULE-RFC4392-1.3.2.1-03",
     .checks = {&rfc4392::mlid_assigned_by_sm},
     .title = "the SM assigns a multicast LID",
     .needs = parts(Part::mc_member),
     .evidence = Evidence::one_frame,
     .applies = is_granted_group,
     .holds = [](const Packet& p) { return is_multicast_lid(p.mc_member[McMemberRecord::mlid]); },
     .points_at = McMemberRecord::mlid,
     .expected = "0xc000 to 0xfffe"},
    {.id = "RULE-RFC4392-4.2.1-01",
     .checks = {&rfc4392::pure_sender_join_state},
     .title = "a sender may join as SendOnlyNonMember",
     .needs = parts(Part::mc_member),
     .evidence = Evidence::one_frame,
     .applies = is_group_join,
     .notes = [](const Packet& p) { return asked_state(p) == join_state::send_only_non_member; },
     .note = "joins as SendOnlyNonMember",
     .points_at = McMemberRecord::join_state},
    {.id = "RULE-RFC4392-4.2.1-01-full",
     .checks = {&rfc4392::pure_sender_join_state},
     .title = "a sender may join as FullMember",
     .needs = parts(Part::mc_member),
     .evidence = Evidence::one_frame,
     .applies = is_group_join,
     .notes = [](const Packet& p) { return (asked_state(p) & join_state::full_member) != 0; },
     .note = "joins as FullMember, by receivers or senders",
     .points_at = McMemberRecord::join_state},
};
static_assert(are_declared(rules_of_rfc4392));

}  // namespace

std::span<const Rule> rfc4392() { return rules_of_rfc4392; }

}  // namespace ipoib::rules
