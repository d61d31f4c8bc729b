// SPDX-License-Identifier: GPL-2.0-or-later
// The names of findings. tests/explain_test.py holds them against the pages and what the commands tell.
#include "conformance/documents/glossary.hpp"

#include <algorithm>
#include <array>

namespace ipoib::conformance {
namespace {

constexpr std::string_view links = "links", both = "links and check", hosts = "links, audit and watch, of --host-state",
                           audit = "audit and watch", explore = "explore";
constexpr std::string_view links_page = "links.md", hosts_page = "host-state.md", audit_page = "audit.md",
                           explore_page = "explore.md";

constexpr std::array names{
    FindingName{"join-refused-rate",
                "The SA refuses a join: the group's rate is more than the port, its path or its "
                "request has.",
                links, links_page},
    FindingName{"join-refused-mtu",
                "The SA refuses a join: the group's MTU is more than the port has, or not what its "
                "request says.",
                links, links_page},
    FindingName{"join-refused-p-key", "The SA refuses a join for its P_Key: the port is not in that partition.", links,
                links_page},
    FindingName{"join-refused", "The SA refuses a join; the component at fault is named where the capture shows it.",
                links, links_page},
    FindingName{"p-key-without-membership-bit",
                "An MGID holds the P_Key without its high bit: it is another group than "
                "the one that others use.",
                links, links_page},
    FindingName{"mapping-32-bit",
                "An MGID holds all 32 bits of the IPv4 group, not the low 28: it is another group than "
                "the one that others use.",
                links, links_page},
    FindingName{"another-scope", "MGIDs have another scope than the broadcast-GID: receivers join another group.",
                links, links_page},
    FindingName{"dlid-not-mlid",
                "Packets to a group go to another MLID than its record's: they reach others, or nobody.", links,
                links_page},
    FindingName{"no-grh", "Multicast packets have no GRH: adapters find the group by the GID in it, and drop them.",
                links, links_page},
    FindingName{"wrong-q-key", "Packets have another Q_Key than the broadcast group's: queue pairs drop them.", links,
                links_page},
    FindingName{"sender-before-group", "A sender asked before the group existed, was refused, and has not asked again.",
                links, links_page},
    FindingName{"sender-never-joined", "A port sends to a group, and the SA knows nothing of it.", links, links_page},
    FindingName{"listens-without-joining",
                "IP on a port has joined a group, and the SA knows nothing of it: no packet of "
                "the group comes.",
                links, links_page},
    FindingName{"uses-link-without-joining",
                "A port uses the link although the SA has refused its join of the broadcast "
                "group: it hears no ARP request.",
                links, links_page},
    FindingName{"uses-link-after-leaving",
                "A port uses the link although it has left the broadcast group: it hears no ARP "
                "request any more.",
                links, links_page},
    FindingName{"no-such-group", "A sender asked for a group that nobody has created: it has no receiver.", links,
                links_page},
    FindingName{"sm-restarted",
                "The SM asked a port to register anew, or another SA answers, and the port did not rejoin "
                "within 30 s.",
                links, links_page},
    FindingName{"two-broadcast-groups",
                "There are two broadcast groups, or two records of one, for a P_Key: half of the "
                "hosts do not hear the other half.",
                links, links_page},
    FindingName{"stale-address", "Unicast packets go to a queue pair that the receiver has not announced.", links,
                links_page},
    FindingName{"too-large", "Packets are larger than the link MTU: they are dropped on the way.", links, links_page},
    FindingName{"not-kept", "A rule is broken that explains no loss.", links, links_page},
    FindingName{"duplicate-address", "Two hosts of one link have one IP address, or IPv6 has found a duplicate.",
                "links, check, audit and watch", links_page},
    FindingName{"arp-flux", "A host answers for an address on more rails than one.", both, links_page},
    FindingName{"moved-address", "A sender goes on sending to the port that had an address before.", both, links_page},
    FindingName{"p-key-lost", "A P_Key is gone from a port's table while its link is in use.", both, links_page},
    FindingName{"p-key-limited",
                "A P_Key of a port has lost its membership bit: it does not hear other limited members.", both,
                links_page},
    FindingName{"p-key-replaced", "Another P_Key stands at index 0 of a port's table, which its interface follows.",
                both, links_page},
    FindingName{"silent-after-failover", "A port says nothing since a subnet manager took over or restarted.", both,
                links_page},
    FindingName{"mtu-black-hole", "Large packets between two hosts are lost, small ones arrive.", both, links_page},
    FindingName{"dhcp-lease-lost", "A port gets another address than before, since it has another client identifier.",
                both, links_page},
    FindingName{"group-limit",
                "The SA refuses a new group for want of resources: MLIDs or the switches' tables are used "
                "up.",
                both, links_page},
    FindingName{"send-only-stays", "Who joined a group to send has stopped and not left.", both, links_page},
    FindingName{"slower-than-group", "A member's link is slower than the group's rate: it was not when it joined.",
                both, links_page},
    FindingName{"p-key-violation", "A port or switch tells that it drops packets for their P_Key, and whose.", both,
                links_page},
    FindingName{"q-key-violation", "A port tells that it drops packets for their Q_Key, and whose.", both, links_page},
    FindingName{"host-not-member", "The host is in a group, and the SA has it not there, or only as a sender.", hosts,
                hosts_page},
    FindingName{"host-down-member", "The interface is down, and the SA has it in the broadcast group.", hosts,
                hosts_page},
    FindingName{"host-mtu", "The IP MTU is more than the broadcast group carries.", hosts, hosts_page},
    FindingName{"host-mtus-differ", "Interfaces of one link have several MTUs in one mode.", hosts, hosts_page},
    FindingName{"host-modes-differ", "Interfaces of one link have several modes.", hosts, hosts_page},
    FindingName{"host-p-key",
                "The interface's P_Key is not in its port's table, or only the limited one; or its broadcast "
                "address is of another.",
                hosts, hosts_page},
    FindingName{"host-group-of-another-p-key",
                "Groups of another partition are held: the P_Key has changed under the "
                "interface.",
                hosts, hosts_page},
    FindingName{"host-gid", "The GID in the link-layer address has another subnet prefix than the port has.", hosts,
                hosts_page},
    FindingName{"host-lid", "The SA has the port at another LID, or it sends from one that is not its own.", hosts,
                hosts_page},
    FindingName{"host-qpn", "A capture has announced the address with another queue pair since.", hosts, hosts_page},
    FindingName{"host-no-carrier",
                "The interface is up and its port Active, and there is no carrier: the broadcast group "
                "is not joined.",
                hosts, hosts_page},
    FindingName{"host-port-not-active", "The cable is in, and no subnet manager has brought the port up.", hosts,
                hosts_page},
    FindingName{"host-join-waits", "The driver waits for a join.", hosts, hosts_page},
    FindingName{"host-send-only-waits", "It sends to a group that has members, and has not joined to send.", hosts,
                hosts_page},
    FindingName{"host-no-address", "An interface has no IP address where most others of the link have one.", hosts,
                hosts_page},
    FindingName{"host-arp-flux", "Two interfaces of a host are in one IP network and answer for each other.", hosts,
                hosts_page},
    FindingName{"stale-neighbour", "A neighbour entry has another GID or queue pair than the owner of the address has.",
                hosts, hosts_page},
    FindingName{"stale-path", "A path leads to a LID that the port has not.", hosts, hosts_page},
    FindingName{"p-key-violations",
                "A member's port has dropped packets for their P_Key: somebody sends to it who should "
                "not.",
                audit, audit_page},
    FindingName{"q-key-violations",
                "A member's port has dropped packets for their Q_Key: somebody sends with another "
                "record of the group.",
                audit, audit_page},
    FindingName{"solicited-node-groups",
                "Seven eighths of the groups that a switch holds are in use, half of them for "
                "Neighbour Discovery.",
                audit, audit_page},
    FindingName{"up", "Afterwards the interface is up.", explore, explore_page},
    FindingName{"broadcast-membership", "The administrator has the port as FullMember of the broadcast group.", explore,
                explore_page},
    FindingName{"membership",
                "The administrator has the port as FullMember of the groups that its programs have joined.", explore,
                explore_page},
    FindingName{"own-membership", "The administrator has the port as FullMember of the groups of its IP.", explore,
                explore_page},
    FindingName{"subscription", "The administrator has the subscriptions that the DUT has made.", explore,
                explore_page},
    FindingName{"mtu", "What the DUT sends has the MTU that the administrator holds now.", explore, explore_page},
    FindingName{"q_key", "What the DUT sends has the Q_Key that the administrator holds now.", explore, explore_page},
    FindingName{"mlid", "What the DUT sends goes to the MLID that the administrator holds now.", explore, explore_page},
    FindingName{"no-group", "What the DUT sends goes to groups that the administrator holds.", explore, explore_page},
    FindingName{"reach", "New packets arrive, both ways, by unicast, broadcast and multicast, over IPv4 and IPv6.",
                explore, explore_page},
    FindingName{"reach-again", "New packets arrive once more, when everybody knows everybody.", explore, explore_page},
    FindingName{"newcomer", "A node that the DUT has not met is answered, and gets the first that the DUT sends to it.",
                explore, explore_page},
    FindingName{"announcement", "A peer that has told its new address is reached 12 s later.", explore, explore_page},
    FindingName{"neighbours", "What the stack tells of its neighbours is where they are.", explore, explore_page},
    FindingName{"lid", "No packet has another source LID than its port's.", explore, explore_page},
    FindingName{"damaged", "No program was given what its checksum disproves.", explore, explore_page},
    FindingName{"old-path", "After the subnet manager asked to begin anew, no packet goes to LIDs of before.", explore,
                explore_page},
    FindingName{"rest", "In 45 s of rest nothing is asked for more than twice.", explore, explore_page},
    FindingName{"leak", "After that time the administrator does not have the port in groups that were left.", explore,
                explore_page},
    FindingName{"leak-down", "After that time the administrator has the port in no group once the interface is down.",
                explore, explore_page},
    FindingName{"idle", "After that time the administrator does not have the port in groups that it only sent to.",
                explore, explore_page},
    FindingName{"outstanding", "At no time four requests for the same were open for which nothing had happened.",
                explore, explore_page},
    FindingName{"storm", "At no time 25 requests for the same were sent within a second.", explore, explore_page},
    FindingName{"health", "The stack tells of no fault.", explore, explore_page},
};

}  // namespace

std::span<const FindingName> finding_names() noexcept { return names; }

const FindingName* find_finding(std::string_view name) noexcept {
    const auto found = std::ranges::find(names, name, &FindingName::name);
    return found == names.end() ? nullptr : &*found;
}

}  // namespace ipoib::conformance
