// SPDX-License-Identifier: GPL-2.0-or-later
// A request to the SA as a frame of the tester's: its way can be told wrongly, and nobody waits for the answer.
#pragma once

#include "conformance/cases/prelude.hpp"

namespace ipoib::conformance {

/// Of a port with these facts, about a record of MCMemberRecord, in the partition that the SA is asked in.
inline Message raw_request(std::string what, const fabric::PortFacts& facts, Method method,
                           const Bytes<McMemberRecord>& record, std::uint64_t components) {
    return {std::move(what), [=](const Situation& s) {
                constexpr std::uint64_t transaction = 0x7261'7700'0000'0000;
                constexpr std::uint16_t usual_p_key = 0xffff;
                auto manager = s.tester;
                manager.lid = facts.sm_lid;
                auto packet = build::administration(s.tester, manager, method, attribute::mc_member_record,
                                                    transaction | s.nonce, record, components);
                for (const auto p_key : facts.p_keys)
                    if (is_same_partition(p_key, usual_p_key)) packet.set(Bth::p_key, p_key);
                return packet;
            }};
}

}  // namespace ipoib::conformance
