// SPDX-License-Identifier: GPL-2.0-or-later
// libFuzzer target: whatever the octets are, as `--assume` and as `--sa` they are taken or refused in a short sentence.
#include "conformance/assumptions/statement.hpp"

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

using namespace ipoib::assumptions;

namespace {

void demand(bool is_kept) {
    if (!is_kept) std::abort();
}

void look_at(const std::exception& refusal) {
    const std::string_view what = refusal.what();
    demand(!what.empty() && what.size() < 1000);
    for (const char c : what) demand(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
}

void look_at(const Statement& statement) {
    demand(!statement.groups.empty());
    for (const auto& group : statement.groups) {
        const auto& told = group.parameters;
        demand(told.mgid.is_multicast() && group.given < std::uint32_t{1} << parameter_count);
        demand(told.sl < 16 && told.scope < 16 && told.flow_label < 0x100000 && told.rate < 64 && told.lifetime < 64);
        demand(group.tells(Parameter::mtu) == (told.mtu >= 1 && told.mtu <= 5));
        demand(group.tells(Parameter::mlid) == (told.mlid >= 0xc000));
        demand(group.members.empty() || group.members_are_listed);
        demand(std::is_sorted(group.members.begin(), group.members.end(),
                              [](const auto& a, const auto& b) { return a.port_gid < b.port_gid; }));
        for (const auto& member : group.members) demand(!member.port_gid.is_zero() && member.join_state < 16);
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string text(data, data + size);
    try {
        look_at(parse_assumption(text));
    } catch (const std::invalid_argument& refusal) {
        look_at(refusal);
    }
    try {
        look_at(parse_sa_list(text, "list"));
    } catch (const std::runtime_error& refusal) {
        look_at(refusal);
    }
    return 0;
}
