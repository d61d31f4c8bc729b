// SPDX-License-Identifier: GPL-2.0-or-later
// What the subnet manager does to ports in captures: each question with its answer.
#pragma once

#include "protocol/wire/node_record.hpp"
#include "protocol/wire/smp.hpp"
#include "traffic-gen/profile.hpp"

#include <span>

namespace ipoib::traffic {

/// Of an active port that fits on the link. IBTA Vol 1, 14.2.5.6.
[[nodiscard]] wire::Bytes<wire::PortInfo> port_info_of(const build::Node& host, const build::Node& manager,
                                                       const build::Link& link);
/// GUIDInfo of a port: its own GUID, and those of the virtual functions behind it, seven at most. IBTA Vol 1, 14.2.5.5.
[[nodiscard]] wire::OctetArray<64> guid_block(const build::Node& port, std::span<const build::Node> functions);

/// NodeInfo of an adapter whose ports' P_Key tables hold so many. IBTA Vol 1, 14.2.5.3.
[[nodiscard]] wire::Bytes<wire::NodeInfo> node_info_of(const build::Node& host, std::uint16_t partition_cap);
/// A while in which the subnet manager looks after the ports, and hosts send nothing.
void pass(Stage& stage, Time time);

/// Asks a port for an attribute, or sets it, LID-routed, and is answered with it.
template <class Attribute>
void manage(Stage& stage, const build::Node& port, wire::Method method, std::uint16_t attribute,
            const Attribute& content, std::uint32_t modifier = 0) {
    const auto& manager = stage.scene().administrator();
    build::SmpHead head{
        .method = method, .attribute = attribute, .transaction = stage.transaction(), .modifier = modifier};
    const Attribute nothing{};
    stage.send(build::smp(manager, port, head, method == wire::Method::get ? nothing : content));
    head.method = wire::Method::get_resp;
    stage.send(build::smp(port, manager, head, content));
}
/// The same by a directed route, as long as a port has no LID that holds.
template <class Attribute>
void manage_by_route(Stage& stage, std::span<const std::uint8_t> route, wire::Method method, std::uint16_t attribute,
                     const Attribute& content, std::uint32_t modifier = 0) {
    build::SmpHead head{
        .method = method, .attribute = attribute, .transaction = stage.transaction(), .modifier = modifier};
    const Attribute nothing{};
    stage.send(build::smp(head, route, method == wire::Method::get ? nothing : content));
    head.method = wire::Method::get_resp;
    stage.send(build::smp(head, route, content));
}

}  // namespace ipoib::traffic
