// SPDX-License-Identifier: GPL-2.0-or-later
#include "traffic-gen/manager.hpp"
#include "traffic-gen/profiles/exchanges.hpp"

#include <array>

namespace ipoib::traffic {
using namespace wire;

namespace {

using Path = Bytes<PathRecord>;
using PC = PathRecord::component;

/// A link whose ports have 2^LMC LIDs each. IBTA Vol 1, 4.1.3.
class Multipath {
public:
    explicit Multipath(Stage& stage, std::size_t number)
        : stage_(stage), net_(stage.scene().nets()[number]), lmc_(lmc_of(stage)) {
        for (std::size_t i = 0; i < net_.hosts.size(); ++i)
            net_.hosts[i].lid = static_cast<std::uint16_t>(first_base + (i << lmc_));
    }

    void set_up() const {
        for (const auto& host : net_.hosts) {
            auto info = port_info_of(host, stage_.scene().administrator(), net_.link);
            manage(stage_, host, Method::set, smp_attribute::port_info, info.set(PortInfo::lmc, lmc_), 1);
        }
    }
    void comes_up() const {
        for (const auto& host : net_.hosts) {
            join(stage_, host, net_.link, net_.link.broadcast_gid(), join_state::full_member);
            subscribe(stage_, host);
        }
    }
    /// One host finds another, and each the way to it, by whatever method.
    void speak() const {
        const auto first = stage_.any(net_.hosts.size()), second = first + 1 + stage_.any(net_.hosts.size() - 1);
        const auto &from = net_.host(first), &to = net_.host(second);
        stage_.send(build::arp_request(from, to.ipv4, net_.link));
        const auto back = find(to, from);
        send(back, build::arp_reply(to, from, net_.link));
        if (stage_.any(2) == 0) other_program(from, to);
        const auto there = find(from, to);
        if (stage_.any(2) == 0) other_program(to, from);
        const auto size = stage_.size();
        send(there, build::echo_request(from, to, net_.link, 1, size));
        send(back, build::echo_reply(to, from, net_.link, 1, size));
        // A path leads both ways.
        send(reversed(back), build::udp(from, to, net_.link, size));
    }

private:
    static constexpr std::uint16_t first_base = 0x4000;
    static constexpr std::uint8_t levels = 15;

    static std::uint8_t lmc_of(Stage& stage) {
        const std::uint64_t most = stage.scene().net().hosts.size() > 4096 ? 2 : 3;  // there are 0x8000 LIDs
        return static_cast<std::uint8_t>(1 + stage.options().seed % most);
    }
    /// A path between two of the LIDs, with the SL of its own that the administrator's routing gives it.
    [[nodiscard]] Path path_of(const build::Node& from, const build::Node& to, std::size_t number) const {
        const auto lids = std::size_t{1} << lmc_;
        const auto slid = from.lid + number % lids, dlid = to.lid + (number / lids + number) % lids;
        const auto sl = static_cast<std::uint8_t>((net_.link.sl + slid + dlid) % levels);
        return path(from, to, net_.link)
            .set(PathRecord::slid, static_cast<std::uint16_t>(slid))
            .set(PathRecord::dlid, static_cast<std::uint16_t>(dlid))
            .set(PathRecord::sl, sl);
    }
    [[nodiscard]] Path any_path(const build::Node& from, const build::Node& to) const {
        constexpr std::size_t paths = 64;
        return path_of(from, to, stage_.any(paths));
    }
    void query(const build::Node& host, Method method, const Path& asked, std::uint64_t components,
               std::span<const Path> answers) const {
        ask(stage_, host,
            Question<PathRecord>{
                .method = method, .attribute = attribute::path_record, .asked = asked, .components = components},
            answers);
    }
    [[nodiscard]] Path between(const build::Node& from, const build::Node& to) const {
        Path asked;
        return asked.set(PathRecord::sgid, from.gid)
            .set(PathRecord::dgid, to.gid)
            .set(PathRecord::p_key, net_.link.p_key)
            .set(PathRecord::reversible, true)
            .set(PathRecord::number_of_paths, 1);
    }
    /// What IPoIB asks, by one of the methods that there are; one of the answers.
    [[nodiscard]] Path find(const build::Node& from, const build::Node& to) const {
        const auto chosen = any_path(from, to);
        const auto asked = between(from, to);
        const std::array answers{any_path(from, to), chosen, any_path(from, to)};
        constexpr auto link_components = PC::sgid | PC::dgid | PC::p_key | PC::reversible;
        switch (stage_.any(5)) {
            case 0:
                query(from, Method::get, asked, link_components | PC::number_of_paths, std::span{&chosen, 1});
                break;
            case 1: {
                auto by_class = asked;
                by_class.set(PathRecord::traffic_class, net_.link.traffic_class);
                query(from, Method::get, by_class, link_components | PC::number_of_paths | PC::traffic_class,
                      std::span{&chosen, 1});
                break;
            }
            case 2:
                query(from, Method::get_table, asked, link_components, answers);
                break;
            case 3:
                query(from, Method::get_table, asked, PC::sgid | PC::dgid, answers);
                break;
            default:
                by_multipath(from, to, answers);
        }
        return chosen;
    }
    /// MultiPathRecord with one GID on either side. IBTA Vol 1, 15.2.5.20.
    void by_multipath(const build::Node& from, const build::Node& to, std::span<const Path> answers) const {
        const auto& sa = stage_.scene().administrator();
        const auto transaction = stage_.transaction();
        constexpr std::size_t head = 24, gids = 2;
        std::array<std::uint8_t, head + gids * Gid{}.octets.size()> asked{};
        constexpr std::size_t numbers_of_gids = 15;
        asked[numbers_of_gids] = asked[numbers_of_gids + 1] = 1;
        std::copy(from.gid.octets.begin(), from.gid.octets.end(), asked.begin() + head);
        std::copy(to.gid.octets.begin(), to.gid.octets.end(), asked.begin() + head + from.gid.octets.size());
        auto request =
            build::table_head(from, sa, Method::get_multi, attribute::multi_path_record, transaction, 1, asked.size());
        request.add(Octets{asked});
        stage_.send(build::fill_mad(request, SaHeader::data_offset + asked.size()));
        stage_.send(build::table(sa, from, Method::get_multi_resp, attribute::multi_path_record, transaction, answers));
        stage_.send(
            build::table_acknowledgement(from, sa, Method::get_multi, attribute::multi_path_record, transaction));
    }
    /// Something else at the port wants another quality of service, and is told another path.
    void other_program(const build::Node& from, const build::Node& to) const {
        constexpr std::uint64_t sockets_direct = 0x10001, rdma_cm = 0x1060000;
        auto asked = between(from, to);
        asked.set(PathRecord::service_id, (stage_.any(2) == 0 ? sockets_direct : rdma_cm) + stage_.any(0xffff));
        const auto answer = any_path(from, to);
        query(from, Method::get, asked, PC::service_id | PC::sgid | PC::dgid | PC::p_key | PC::number_of_paths,
              std::span{&answer, 1});
    }
    void send(const Path& path, build::PacketBuilder packet) const {
        const auto read = View<PathRecord>::at(path.octets);
        stage_.send(packet.choose(Lrh::slid, read[PathRecord::slid])
                        .choose(Lrh::dlid, read[PathRecord::dlid])
                        .choose(Lrh::sl, read[PathRecord::sl]));
    }
    static Path reversed(Path path) {
        const auto read = View<PathRecord>::at(path.octets);
        const auto slid = read[PathRecord::slid], dlid = read[PathRecord::dlid];
        return path.set(PathRecord::slid, dlid).set(PathRecord::dlid, slid);
    }

    Stage& stage_;
    Net net_;
    std::uint8_t lmc_;
};

}  // namespace

/// RFC 4391, 9.1.2: there may be several LIDs, and so paths, between two interfaces.
const Profile lmc{
    .name = "lmc",
    .what = "ports have several LIDs, and the SA gives several paths, to other programs others than to IPoIB",
    .impact = Impact::fabric,
    .no_fabric = "it plays the subnet manager",
    .prepare = [](Stage&) {},
    .play =
        [](Stage& stage) {
            std::vector<Multipath> links;
            for (std::size_t i = 0; i < stage.scene().nets().size(); ++i) {
                links.emplace_back(stage, i);
                if (i == 0) links.back().set_up();
                links.back().comes_up();
            }
            while (stage.goes_on()) links[stage.any(links.size())].speak();
        },
};

}  // namespace ipoib::traffic
