// SPDX-License-Identifier: GPL-2.0-or-later
// What real stacks do and may do, though the reference does it otherwise: no case and no rule may find fault with it.
#include "conformance/mutants/prelude.hpp"
#include "fabric/simulated/fabric.hpp"

namespace ipoib::conformance {

const Mutant short_advertisement{
    .name = "permitted-short-advertisement",
    .what = "leaves the link-layer address out of the answer to a unicast solicitation, as Linux does",
    .breaks = {},
    .stack = [](Policy& policy) { policy.sends_nd_option = [](bool answers_unicast) { return !answers_unicast; }; },
};

const Mutant opaque_interface_id{
    .name = "permitted-opaque-id",
    .what = "makes its interface identifier of something else than the GUID, as RFC 8064 recommends",
    .breaks = {},
    .stack =
        [](Policy& policy) {
            policy.interface_id = [](std::uint64_t guid, bool) { return guid * 0x9e3779b97f4a7c15u | 1; };
        },
};

const Mutant grh_everywhere{
    .name = "permitted-grh-on-unicast",
    .what = "sends unicast with a GRH within the subnet, too",
    .breaks = {},
    .stack = [](Policy& policy) { policy.grh_on_unicast = true; },
    .twin = Twin{},
};

const Mutant broadcasts_without_routers{
    .name = "permitted-broadcast-fallback",
    .what = "broadcasts packets of a missing group where there is no all-router group",
    .breaks = {},
    .stack = [](Policy& policy) { policy.without_all_router = stack::Fallback::broadcast; },
    .twin = Twin{},
};

// One reading of RFC 4391, 4.1, where the parameters are the broadcast-GID's; the reference has the other one.
const Mutant sends_with_parameters_of_link{
    .name = "permitted-broadcast-parameters",
    .what = "sends to every group with SL, TClass, FlowLabel and HopLimit of the broadcast group",
    .breaks = {},
    .stack =
        [](Policy& policy) {
            policy.multicast_sl = [](const Link& link, const stack::Group&) { return link.sl; };
            policy.multicast_traffic_class = [](const Link& link, const stack::Group&) { return link.traffic_class; };
            policy.multicast_flow_label = [](const Link& link, const stack::Group&) { return link.flow_label; };
            policy.multicast_hop_limit = [](const Link& link, const stack::Group&) { return link.hop_limit; };
        },
    .twin = Twin{},
};

const Mutant joins_without_waiting{
    .name = "permitted-joins-without-waiting",
    .what = "tells a program that it has joined before the SA has answered, as Linux does",
    .breaks = {},
    .stack = [](Policy& policy) { policy.join_awaits_answer = false; },
    .twin = Twin{},
};

const Mutant refuses_long_messages{
    .name = "permitted-refuses-long-messages",
    .what = "refuses a program's message that is longer than the MTU, as where fragments are forbidden",
    .breaks = {},
    .stack = [](Policy& policy) { policy.fragments_for_programs = false; },
    .twin = Twin{},
};

const Mutant asks_before_joining{
    .name = "permitted-asks-before-joining",
    .what = "asks by Get whether a group exists before it joins it, as receiver, too",
    .breaks = {},
    .stack = [](Policy& policy) { policy.asks_before_joining = true; },
    .twin = Twin{},
};

const Mutant asks_for_all_paths{
    .name = "permitted-path-table",
    .what = "learns the path to a peer from a table of all paths from its port",
    .breaks = {},
    .stack = [](Policy& policy) { policy.asks_for_path_table = true; },
    .twin = Twin{},
};

const Mutant keeps_paths{
    .name = "permitted-keeps-paths",
    .what = "keeps the paths that it knows while its interface is taken down and up",
    .breaks = {},
    .stack = [](Policy& policy) { policy.keeps_paths = true; },
};

const Mutant asks_by_joining{
    .name = "permitted-asks-by-joining",
    .what = "joins a group to learn whether it exists, without a query before",
    .breaks = {},
    .stack = [](Policy& policy) { policy.checks_group = false; },
    .twin = Twin{},
};

const Mutant slow{
    .name = "permitted-slow",
    .what = "answers a fifth of a second later",
    .breaks = {},
    .cable =
        [](fabric::LinkFaults& faults) {
            constexpr auto one_way = std::chrono::milliseconds{100};
            faults.delay = one_way;
        },
};

const Mutant slower{
    .name = "permitted-slower",
    .what = "answers a second and a half later",
    .breaks = {},
    .cable =
        [](fabric::LinkFaults& faults) {
            constexpr auto one_way = std::chrono::milliseconds{750};
            faults.delay = one_way;
        },
    .may_doubt = true,
};

const Mutant loses_packets{
    .name = "permitted-loses-packets",
    .what = "loses a packet in ten",
    .breaks = {},
    .cable = [](fabric::LinkFaults& faults) { faults.loss = 0.1; },
    .may_doubt = true,
};

const Mutant limits_echo{
    .name = "permitted-limits-echo",
    .what = "answers one echo request in a second",
    .breaks = {},
    .stack = [](Policy& policy) { policy.between_echo_replies = std::chrono::seconds{1}; },
    .may_doubt = true,
};

const Mutant answers_twice{
    .name = "permitted-answers-twice",
    .what = "says everything twice",
    .breaks = {},
    .cable = [](fabric::LinkFaults& faults) { faults.duplication = 1; },
};

const Mutant chatty{
    .name = "permitted-chatty",
    .what = "speaks mDNS and resolves addresses at any moment",
    .breaks = {},
    .habit = {.every = std::chrono::milliseconds{170},
              .act =
                  [](stack::Node& node) {
                      constexpr std::uint16_t mdns_port = 5353;
                      constexpr auto mdns = IpAddress::v4(0xe00000fb);
                      constexpr auto nobody = IpAddress::v4(0x0a0100fd);
                      auto& interface = node.interface();
                      if (!interface.is_running()) return;
                      const std::array<std::uint8_t, 12> query{};
                      (void)interface.sockets().send(mdns, mdns_port, query, 255);
                      interface.solicit(nobody, nullptr);
                  }},
};

// Linux sends an error 30 s after a fragment whose rest did not come, and its adapter runs programs.
const Mutant speaks_to_tester{
    .name = "permitted-speaks-to-tester",
    .what =
        "sends to the tester and asks it alone whether it is there still, at any moment, also while its adapter takes "
        "its time",
    .breaks = {},
    .habit = {.every = std::chrono::milliseconds{70},
              .act =
                  [](stack::Node& node) {
                      constexpr std::uint16_t ntp = 123;
                      constexpr auto u_bit = std::uint64_t{0x02} << 56, link_local = std::uint64_t{0xfe80} << 48;
                      constexpr auto tester = IpAddress::v4(0x0a010001);
                      const auto tester6 = IpAddress::v6(Gid::of(link_local, fabric::tester_guid ^ u_bit));
                      auto& interface = node.interface();
                      if (!interface.is_running()) return;
                      const std::array<std::uint8_t, 48> query{0x23};
                      for (const auto& to : {tester, tester6}) (void)interface.sockets().send(to, ntp, query, 64);
                      for (const auto& [address, at] : interface.neighbours().list()) {
                          const stack::Peer peer{at[LinkAddress::gid], at[LinkAddress::qpn]};
                          if (address == tester || address == tester6) interface.solicit(address, &peer);
                      }
                  }},
    .adapter_delay = std::chrono::milliseconds{150},
};

const Mutant restarts{
    .name = "permitted-restarts",
    .what = "takes its interface down and up every few seconds",
    .breaks = {},
    .may_doubt = true,
    .habit = {.every = std::chrono::milliseconds{4300},
              .act =
                  [](stack::Node& node) {
                      auto& interface = node.interface();
                      if (!interface.is_up()) return;
                      interface.down();
                      (void)interface.up();
                  }},
};

const Mutant restarts_to_rejoin{
    .name = "permitted-new-queue-pair",
    .what = "has another queue pair whenever the subnet manager has asked it to reregister",
    .breaks = {},
    .stack = [](Policy& policy) { policy.restarts_to_rejoin = true; },
};

const Mutant begins_no_connection{
    .name = "permitted-begins-no-connection",
    .what = "announces RC and takes connections, but begins none",
    .breaks = {},
    .stack = [](Policy& policy) { policy.begins_connection = [](bool, std::uint8_t) { return false; }; },
};

const Mutant sends_by_datagrams{
    .name = "permitted-sends-by-datagrams",
    .what = "makes connections, and sends by datagrams",
    .breaks = {},
    .stack = [](Policy& policy) { policy.sends_over_connection = [](bool) { return false; }; },
};

const Mutant sends_over_both{
    .name = "permitted-sends-over-both",
    .what = "sends over connections that its peer has requested, too",
    .breaks = {},
    .stack = [](Policy& policy) { policy.sends_over_connection = [](bool) { return true; }; },
};

const Mutant believes_anyone{
    .name = "permitted-believes-anyone",
    .what = "takes answers and reports for the subnet administrator's whichever port they come from, as Linux does",
    .breaks = {},
    .client = [](fabric::SaClient& client) { client.believes_anyone = true; },
};

}  // namespace ipoib::conformance
