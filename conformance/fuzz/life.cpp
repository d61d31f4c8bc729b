// SPDX-License-Identifier: GPL-2.0-or-later
// The table of lives.
#include "conformance/fuzz/life.hpp"

#include <array>

namespace ipoib::conformance::fuzz {
namespace {

constexpr std::uint32_t few_octets = 50, one_group = 3, one_partition = 0x123;
constexpr std::uint32_t until_given_up = 1500;  ///< ms: the same of a request that is not answered
constexpr std::uint32_t until_there = 600;      ///< ms: an exchange of connection management or with the SA is over

Operation verb(std::string_view name, std::uint32_t value = 0, std::uint32_t pause = 0) {
    return {.verb = find_verb(name), .value = value, .pause = pause};
}
Operation sent(std::string_view packet, std::uint32_t pause = 0) {
    return {.verb = find_verb("send"), .packet = std::string(packet), .pause = pause};
}
/// The next answer of these is lost, or one of those behind it.
Operation lost(std::string_view of, std::uint32_t after = 0) {
    return {.verb = find_verb("answers"), .of = std::string(of), .lies = {"lost=1"}, .after = after};
}

std::vector<Operation> uses_of_connection() {
    return {verb("node-sends", few_octets, 20),
            verb("node-sends", 1900, 20),
            sent("echo-where-requested", 20),
            sent("echo-where-accepted", 20),
            sent("udp-over-connection"),
            sent("connection-request"),
            sent("connection-request-to-linux"),
            sent("connection-reply"),
            sent("connection-ready"),
            sent("echo", 20),
            sent("arp-reply"),
            verb("mtu", 1500),
            verb("mtu", 65520),
            lost("cm"),
            lost("cm", 1),
            verb("node-sends", few_octets, 1500),
            verb("wait", 100)};
}
std::vector<Operation> ends_of_connection() {
    return {sent("disconnection", 20),
            sent("disconnection-reply"),
            sent("connection-rejection", 20),
            verb("flush-neighbours"),
            verb("mode", 0),
            verb("mode", 1),
            verb("down"),
            verb("link-bounce", 50),
            verb("replug"),
            verb("p-key-lost", 100)};
}

std::vector<Life> made() {
    const auto connected = verb("mode", 1), up = verb("up");
    const auto asks = verb("node-sends", few_octets, until_there);
    const auto uses = uses_of_connection(), ends = ends_of_connection();
    std::vector<Life> all{
        {"connection that the node requests", {connected, up, asks}, uses, ends},
        {"connection that the node accepts",
         {connected, up, sent("connection-request-to-linux", until_there)},
         uses,
         ends},
        {"connections of both", {connected, up, asks, sent("connection-request-to-linux", until_there)}, uses, ends},
        {"connection on its way", {connected, up, lost("cm"), verb("node-sends", few_octets)}, uses, ends},
        {"group that the node is in",
         {verb("join", one_group, 100)},
         {verb("node-sends-to-group", one_group, 20), verb("join", one_group), verb("join", one_group + 1),
          sent("udp-to-all"), sent("member-answer"), sent("group-report"), lost("sa"), verb("administrator-busy", 2)},
         {verb("leave", one_group, 50), verb("leave", one_group + 1), verb("group-deleted", one_group),
          verb("reregister"), verb("manager-restart"), verb("down"), verb("replug")}},
        {"group that the node sends to",
         {verb("node-sends-to-group", one_group, 100)},
         {verb("node-sends-to-group", one_group, 20), verb("join", one_group), lost("sa"),
          verb("administrator-silent", 1500), verb("administrator-refuses", 300)},
         {verb("leave", one_group), verb("group-deleted", one_group), verb("reregister"), verb("down"),
          verb("link-bounce", 50)}},
        {"path to a neighbour",
         {sent("arp-request"), verb("node-sends", few_octets, 50)},
         {verb("node-sends", few_octets, 20), sent("arp-reply"), sent("path-answer"), sent("advertisement"), lost("sa"),
          verb("administrator-late", 600), verb("administrator-busy", 5)},
         {verb("flush-neighbours"), verb("administrator-silent", 2500), verb("reregister"), verb("link-bounce", 50),
          verb("down"), verb("manager-restart")}},
        {"question that nobody answers",
         {verb("reregister", 0, 100), verb("flush-neighbours"), verb("administrator-silent", 3000)},
         {verb("node-sends", few_octets, until_given_up), verb("node-sends", few_octets, 20),
          verb("node-sends-to-group", one_group, until_given_up), verb("join", one_group, 20),
          verb("node-sends-beyond", few_octets), sent("arp-reply"), sent("path-answer"), lost("arp")},
         {verb("flush-neighbours"), verb("down"), verb("link-bounce", 50), verb("leave", one_group),
          verb("administrator-late", 600), verb("wait", until_given_up)}},
        {"child interface",
         {verb("make-child", one_partition, 100)},
         {verb("make-child", one_partition + 1), verb("node-sends-to-group", one_group, 20), verb("join", one_group),
          sent("udp-to-all"), verb("mtu", 1000)},
         {verb("delete-child"), verb("p-key-lost", 100), verb("down"), verb("replug"), verb("reregister")}}};
    return all;
}

}  // namespace

std::span<const Life> all_lives() {
    static const auto lives = made();
    return lives;
}

}  // namespace ipoib::conformance::fuzz
