// SPDX-License-Identifier: GPL-2.0-or-later
// What a capture tells of each link, put together for people: parameters, members, groups, and what is wrong in plain
// words. Views into what a judge has learned; valid as long as the judge is.
#pragma once

#include "conformance/assumptions/statement.hpp"
#include "conformance/hosts/host_state.hpp"
#include "conformance/judge/judge.hpp"
#include "conformance/links/watcher.hpp"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace ipoib::links {

/// A port on a link.
struct Host {
    state::PortIndex port = state::none;
    std::vector<std::uint32_t> qpns{};   ///< of its interfaces on this link, those announced first; at most `most_qpns`
    std::vector<wire::Gid> addresses{};  ///< on this link: IPv6, or IPv4 as ::ffff:a.b.c.d; at most `most_addresses`
    std::size_t more_addresses = 0;      ///< that there are besides
    static constexpr std::size_t most_addresses = 16, most_qpns = 4;
    bool is_member = false;  ///< of the broadcast group, as FullMember
};

/// A join that the SA refused and has not granted since.
struct RefusedJoin {
    state::PortIndex port = state::none;
    std::uint16_t status = 0;
    std::uint64_t component = 0;  ///< of McMemberRecord::component; 0 where the capture does not tell
    std::uint64_t count = 0;
    state::Sight last;
};

/// A port that sends to a group without a join that the capture shows.
struct Stranger {
    state::PortIndex port = state::none;
    std::uint64_t packets = 0;
    state::Sight first;
    bool is_certain = false;  ///< its whole life on the link is captured, or the SA has refused it
};

/// A group of a link.
struct GroupAccount {
    state::GroupIndex group = state::none;
    std::vector<state::PortIndex> full, non, send_only;
    std::vector<RefusedJoin> refused;
    std::vector<Stranger> strangers;
};

/// One IPoIB link: a P_Key of a subnet.
struct LinkAccount {
    const state::Subnet* subnet = nullptr;
    const state::Link* link = nullptr;
    std::vector<Host> hosts;             ///< by LID
    std::vector<GroupAccount> groups;    ///< the broadcast group first, then by MGID
    std::vector<std::uint32_t> by_port;  ///< indices into `hosts`, in the order of their ports

    /// The host with this port; null if there is none.
    [[nodiscard]] const Host* host(state::PortIndex port) const;
    /// The group of this link with this MGID; null if there is none.
    [[nodiscard]] const GroupAccount* group(const wire::Gid& mgid) const;
};

/// No index.
inline constexpr std::size_t nowhere = ~std::size_t{0};

/// Something wrong, or worth a look, in plain words.
struct Finding {
    std::string name;                  ///< permanent, such as "join-refused-rate"
    std::string text;                  ///< a sentence or two
    std::string link;                  ///< "fe80::/0x8123"; empty where it is not about one
    std::vector<state::Sight> frames;  ///< at most `Ledger::most_frames`
    std::uint64_t count = 0;           ///< of all frames that show it
    std::string rule = {};             ///< whose violation it is; empty for others
    bool is_beyond = false;            ///< no text forbids it
    bool is_advice = false;            ///< not kept is only what a text recommends
    // Whom it is about, each in order and once.
    std::size_t place = nowhere;                 ///< index of its link in Account::links
    std::vector<state::PortIndex> ports = {};    ///< of that link's subnet
    std::vector<state::GroupIndex> groups = {};  ///< of the same
    std::vector<wire::Gid> hosts = {};  ///< that are told of by themselves, whether the capture shows them or not
    std::size_t cause = nowhere;        ///< index in Account::findings of the one that explains it
    static constexpr std::size_t shown_frames = 10;  ///< of them
};

struct Account {
    std::vector<LinkAccount> links;
    /// What explains most first; each is followed by what it explains. Of each name at most `most_findings`.
    std::vector<Finding> findings;
    std::map<std::string, std::size_t> more_findings;  ///< how many there are besides, by name
    std::uint64_t more_violations = 0;                 ///< on links beyond those that a ledger keeps
    std::int64_t began = 0, ended = 0;                 ///< the first and the last frame, in ns since 1970
    std::vector<std::string> notes;                    ///< what could not be compared, and why
    std::vector<reports::Suspicion> suspicions{};      ///< what is not decided for a doubt: no findings
    static constexpr std::size_t most_findings = 1000;
};

/// Of all the subnets of a judge that has seen every frame with every rule while the observer looked on.
[[nodiscard]] Account account_of(const conformance::Judge& judge, const Observer& observer);

/// Adds what hosts say of themselves that the account, lists of the SA's records, or other hosts contradict.
void add_hosts(Account& account, std::span<const hosts::HostState> states,
               std::span<const assumptions::Statement> statements);

/// "10.1.0.1 (0002c90300100001)", "0002c90300100001" or "LID 0x0004".
[[nodiscard]] std::string port_text(const LinkAccount& link, state::PortIndex port);
using inspection::port_name;
/// "Rate", "MTU" ...; empty for 0.
[[nodiscard]] std::string_view component_name(std::uint64_t component) noexcept;
/// "10 Gb/s"
[[nodiscard]] std::string rate_text(std::uint8_t code);
/// "0x0200 ERR_REQ_INVALID".
[[nodiscard]] std::string status_text(std::uint16_t status);
/// "fe80::/0x8123".
[[nodiscard]] std::string link_text(const LinkAccount& link);
/// "239.1.2.3", "the broadcast group", else the MGID.
[[nodiscard]] std::string group_name(const wire::Gid& mgid);
/// What no text forbids, for the results of a report; of so many captures it is that one.
[[nodiscard]] std::vector<reports::Beyond> beyond_of(const Account& account, std::uint32_t capture);
/// What no text forbids, as notes of a report: each with its first frame, and how many more there are.
[[nodiscard]] std::vector<std::string> notes_beyond(const Account& account);

/// Nothing shows that a port's traffic with the SA is missing between two packets, of whatever order, by PSNs,
/// questions without an answer, or what the capture says of losses.
[[nodiscard]] bool is_whole(const state::Subnet& subnet, state::PortIndex port, const state::Sight& since,
                            const state::Sight& at);

/// Looks for what is wrong on the links, for account_of().
void add_findings(Account& account, const conformance::Judge& judge, const Observer& observer);
/// Puts what explains before what it explains, for add_findings().
void put_causes_first(std::vector<Finding>& findings);

struct Choice;
/// Takes a text piece by piece, in whole lines: it may be many times what the account takes.
using Sink = std::function<void(std::string)>;
/// For people, at most as wide as the choice says where it can be.
void to_text(const Account& account, const std::vector<reports::CaptureResult>& captures, const Choice& choice,
             const Sink& sink);
/// "ipoib-conform-links/1"; docs/links.md describes it.
void to_json(const Account& account, const std::vector<reports::CaptureResult>& captures, const Choice& choice,
             const Sink& sink);

}  // namespace ipoib::links
