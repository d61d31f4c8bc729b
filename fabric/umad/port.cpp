// SPDX-License-Identifier: GPL-2.0-or-later
// What a port without queue pairs can do.
#include "fabric/umad/port.hpp"

#include "protocol/wire/port_info.hpp"
#include "protocol/wire/text.hpp"

namespace ipoib::fabric {
using namespace wire;

namespace {

constexpr const char* no_data_path = "this fabric carries management datagrams only (libibumad)";

}  // namespace

PortFacts UmadPort::facts() const {
    auto facts = gsi_.facts();
    facts.mtu = mtu_;
    return facts;
}

std::string UmadPort::send(Octets) { return no_data_path; }
std::string UmadPort::attach(const Gid&, std::uint16_t) { return no_data_path; }

SaAnswer UmadPort::ask_sa(const SaRequest& request, Duration patience) {
    return gsi_.problem().empty() ? client_.answer_to(request, patience) : SaAnswer{};
}

std::string UmadPort::learn_mtu(std::uint8_t port_number, Duration patience) {
    using R = PortInfoRecord;
    const auto lid = gsi_.facts().lid;
    const auto wanted = Bytes<R>{}.set(R::endport_lid, lid).set(R::port_num, port_number);
    const auto answer = ask_sa({.method = Method::get,
                                .attribute = attribute::port_info_record,
                                .component_mask = R::component::endport_lid | R::component::port_num,
                                .record = {wanted.octets.begin(), wanted.octets.end()}},
                               patience);
    if (!gsi_.problem().empty()) return gsi_.problem();
    if (!answer.is_answered) return "the SA at LID " + hex(gsi_.facts().sm_lid, 4) + " does not answer";
    const auto info = port_info(answer.first<R>());
    if (!answer.is_ok() || !info)
        return "the SA does not tell of the port with LID " + hex(lid, 4) + ": status " + hex(answer.status, 4);
    mtu_ = info[PortInfo::neighbor_mtu];
    return {};
}

}  // namespace ipoib::fabric
