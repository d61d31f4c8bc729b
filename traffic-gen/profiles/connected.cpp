// SPDX-License-Identifier: GPL-2.0-or-later
#include "traffic-gen/profiles/connections.hpp"

namespace ipoib::traffic {

const Profile connected{
    .name = "connected",
    .what = "echo over reliable connections between neighbours, which are made and ended by CM",
    .no_fabric = "there are no queue pairs behind its connections",
    .play =
        [](Stage& stage) {
            auto net = stage.scene().net();
            for (auto& host : net.hosts) host.link_flags = wire::flag_rc;
            constexpr std::uint16_t echoes = 4;
            for (std::uint32_t i = 0; stage.goes_on(); ++i) {
                Connection connection{stage, net.link, net.host(i), net.host(i + 1), i};
                connection.resolve();
                const bool is_crossing = i % 2 != 0;
                is_crossing ? connection.begin_crossing() : connection.begin();
                for (std::uint16_t n = 0; n < echoes; ++n) {
                    connection.echo(n, stage.size());
                    // Neighbours are asked again now and then, as ever by datagrams.
                    if (n == 1) connection.resolve();
                }
                connection.close();
            }
        },
};

}  // namespace ipoib::traffic
