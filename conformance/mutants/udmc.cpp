// SPDX-License-Identifier: GPL-2.0-or-later
// Wrong UD multicast.
#include "conformance/mutants/prelude.hpp"

namespace ipoib::conformance {

const Mutant leaves_shared_groups{
    .name = "leaves-shared-group",
    .what = "leaves a group at the SA though another IP group has the same MGID",
    .breaks = {&udmc::leave_after_last_detach},
    .stack = [](Policy& policy) { policy.keeps_shared_groups = false; },
    .spares = {"IPOIB-UDMC-VAL-004", "IPOIB-UDMC-VAL-005"},
};

const Mutant hca_takes_any_mgid{
    .name = "hca-any-mgid",
    .what = "the HCA takes packets to groups that no queue pair is attached to",
    .breaks = {&udmc::unregistered_mgid_discarded},
    .hca = [](HcaBehaviour& hca) { hca.discards_unattached_mgid = false; },
    .sometimes = {&rfc4392::explicit_join_to_receive},
};

const Mutant hca_takes_ends_of_mgids{
    .name = "hca-mgid-last-four-octets",
    .what = "the HCA looks at the last four octets of an MGID only",
    .breaks = {&udmc::unregistered_mgid_discarded},
    .hca =
        [](HcaBehaviour& hca) {
            hca.takes_for = [](const Gid& attached, const Gid& dgid) {
                return (attached.interface_id() & 0xffffffff) == (dgid.interface_id() & 0xffffffff);
            };
        },
    .sometimes = {&rfc4392::explicit_join_to_receive},
};

const Mutant hca_takes_other_links{
    .name = "hca-mgid-scope-and-pkey",
    .what = "the HCA takes packets to a group whose MGID differs both in scope and in P_Key from one that it is in",
    .breaks = {&udmc::unregistered_mgid_discarded},
    .hca =
        [](HcaBehaviour& hca) {
            hca.takes_for = [](const Gid& attached, const Gid& dgid) {
                auto other = dgid;
                const auto gives = [&](const auto& field) {
                    const auto own = Bytes<Mgid>{attached.octets}[field];
                    const bool differs = Bytes<Mgid>{dgid.octets}[field] != own;
                    set_field(MutableOctets{other.octets}, field, own);
                    return differs;
                };
                const bool has_other_scope = gives(Mgid::scope), has_other_p_key = gives(Mgid::p_key);
                return has_other_scope && has_other_p_key && other == attached;
            };
        },
};

const Mutant hca_loops_nothing_back{
    .name = "hca-no-loopback",
    .what = "the HCA does not give multicast to other queue pairs of the sender's adapter",
    .breaks = {&udmc::multicast_loopback},
    .hca = [](HcaBehaviour& hca) { hca.loops_back = false; },
};

const Mutant hca_delivers_once{
    .name = "hca-delivers-once",
    .what = "the HCA gives multicast to one attached queue pair only",
    .breaks = {&udmc::delivery_to_all_attached_qps},
    .hca = [](HcaBehaviour& hca) { hca.delivers_to_all_attached = false; },
};

const Mutant hca_has_no_limit{
    .name = "hca-no-attach-limit",
    .what = "the HCA attaches queue pairs to more groups than it says",
    .breaks = {&udmc::attach_limit},
    .hca = [](HcaBehaviour& hca) { hca.enforces_attach_limit = false; },
};

const Mutant leaves_for_all{
    .name = "leaves-for-all",
    .what = "leaves a group that two programs are in with the first of them",
    .breaks = {&udmc::leave_after_last_detach},
    .stack = [](Policy& policy) { policy.keeps_for_others = [](const IpAddress&) { return false; }; },
    .spares = {"IPOIB-UDMC-VAL-001", "IPOIB-UDMC-VAL-005"},
};

const Mutant leaves_for_all_in_ipv6{
    .name = "ipv6-leaves-for-all",
    .what = "leaves an IPv6 group that two programs are in with the first of them",
    .breaks = {&udmc::leave_after_last_detach},
    .stack = [](Policy& policy) { policy.keeps_for_others = [](const IpAddress& group) { return group.is_v4(); }; },
    .spares = {"IPOIB-UDMC-VAL-001", "IPOIB-UDMC-VAL-005"},
};

}  // namespace ipoib::conformance
