// SPDX-License-Identifier: GPL-2.0-or-later
// The parameters in an MCMemberRecord.
#include "protocol/state/parameters.hpp"

namespace ipoib::state {

GroupParameters parameters_of(wire::View<wire::McMemberRecord> record) noexcept {
    using wire::McMemberRecord;
    return {.mgid = record[McMemberRecord::mgid],
            .q_key = record[McMemberRecord::q_key],
            .flow_label = record[McMemberRecord::flow_label],
            .mlid = record[McMemberRecord::mlid],
            .p_key = record[McMemberRecord::p_key],
            .mtu = record[McMemberRecord::mtu],
            .sl = record[McMemberRecord::sl],
            .traffic_class = record[McMemberRecord::traffic_class],
            .hop_limit = record[McMemberRecord::hop_limit],
            .rate = record[McMemberRecord::rate],
            .lifetime = record[McMemberRecord::lifetime],
            .scope = record[McMemberRecord::scope]};
}

}  // namespace ipoib::state
