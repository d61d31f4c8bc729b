// SPDX-License-Identifier: GPL-2.0-or-later
// What a node knows of its link and of the multicast groups on it.
#include "stack/link.hpp"

namespace ipoib::stack {
using namespace wire;

Group group_of(View<McMemberRecord> record) noexcept {
    return {.mgid = record[McMemberRecord::mgid],
            .mlid = record[McMemberRecord::mlid],
            .p_key = record[McMemberRecord::p_key],
            .q_key = record[McMemberRecord::q_key],
            .flow_label = record[McMemberRecord::flow_label],
            .mtu = record[McMemberRecord::mtu],
            .rate = record[McMemberRecord::rate],
            .lifetime = record[McMemberRecord::lifetime],
            .sl = record[McMemberRecord::sl],
            .traffic_class = record[McMemberRecord::traffic_class],
            .hop_limit = record[McMemberRecord::hop_limit],
            .scope = record[McMemberRecord::scope]};
}

std::string text(const HardwareAddress& address) {
    std::string text;
    for (const auto octet : address.octets) {
        if (!text.empty()) text += ':';
        text += hex(octet, 2).substr(2);
    }
    return text;
}

}  // namespace ipoib::stack
