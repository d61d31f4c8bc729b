// SPDX-License-Identifier: GPL-2.0-or-later
#include "traffic-gen/profiles/exchanges.hpp"

#include <array>

namespace ipoib::traffic {
using namespace wire;

namespace {

/// A host whose identifiers of IPv6 tell nothing of its port, and who has several addresses. RFC 8064; RFC 8981.
build::Node with_address(build::Node host, std::uint64_t prefix, std::uint64_t secret) {
    host.ipv6 = Gid::of(prefix, opaque_identifier(host.gid.interface_id() ^ secret << 32));
    return host;
}

/// It asks whether anybody else has the address; nobody answers. A solicitation from no address has no option.
/// RFC 4862, 5.4.2.
void is_alone(Stage& stage, const build::Node& host, const build::Link& link) {
    const auto mgid = mgid_for_ipv6(solicited_node_group(host.ipv6), link.p_key, link.scope);
    join(stage, host, link, mgid, join_state::full_member);
    auto packet = build::neighbour_solicitation(host, host.ipv6, stage.scene().mlid(mgid), link);
    stage.send(packet.remove<LinkAddressOption>().choose(Ipv6::source, {}));
}

constexpr std::array prefixes{std::uint64_t{0xfe80} << 48, 0x20010db8'00000001u, 0xfd00000000000001u};

}  // namespace

/// RFC 4391, 8, as RFC 8064 has changed it.
const Profile stable_addresses{
    .name = "stable-addresses",
    .what = "IPv6 with opaque identifiers, temporary addresses and their detection of duplicates",
    .families = Families::ipv6,
    .no_fabric = "it invents addresses for interfaces that have others",
    .prepare = bring_up_senders,
    .play =
        [](Stage& stage) {
            const auto& nets = stage.scene().nets();
            while (stage.goes_on()) {
                const auto& net = nets[stage.any(nets.size())];
                const auto first = stage.any(net.hosts.size()), second = first + 1 + stage.any(net.hosts.size() - 1);
                const auto prefix = prefixes[stage.any(prefixes.size())];
                // A temporary address for some, one for ever for others.
                const bool is_for_ever = prefix == prefixes.front() || stage.any(2) == 0;
                const auto secret = stage.options().seed + (is_for_ever ? 0 : stage.any(1000));
                const Net pair{
                    net.link,
                    {with_address(net.host(first), prefix, secret), with_address(net.host(second), prefix, 0)}};
                for (const auto& host : pair.hosts) is_alone(stage, host, net.link);
                resolve6(stage, pair, 0, 1);
                const auto size = stage.size();
                stage.send(build::echo_request6(pair.host(0), pair.host(1), net.link, 1, size));
                auto reply = build::echo_request6(pair.host(1), pair.host(0), net.link, 1, size);
                stage.send(reply.choose(Icmpv6::type, Icmpv6Type::echo_reply));
            }
        },
};

}  // namespace ipoib::traffic
