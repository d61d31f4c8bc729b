// SPDX-License-Identifier: GPL-2.0-or-later
// A link's life as a judge sees it, packet by packet, for the tests of what needs more than one packet.
#pragma once

#include "catch2.hpp"
#include "conformance/judge/judge.hpp"
#include "conformance/judge/passive.hpp"
#include "protocol/build/management.hpp"
#include "protocol/build/samples.hpp"
#include "protocol/wire/smp.hpp"
#include "protocol/wire/text.hpp"

#include <set>

namespace ipoib::testing {

using namespace ipoib::build;
using namespace ipoib::wire;
using conformance::Judge;
using conformance::Party;
using Ids = std::set<std::string>;

inline const Node a = samples::host(1), b = samples::host(2), c = samples::host(3), sa = samples::sa();
inline constexpr std::uint16_t mlid = 0xc007;
inline constexpr std::int64_t second = 1'000'000'000;
using mask = McMemberRecord::component;

/// One frame of a story.
struct Moment {
    std::vector<std::uint8_t> octets;
    std::int64_t time = 0;
    std::size_t cut = 0;  ///< octets that the capture leaves out at its end
};

/// Frames a millisecond apart, and the longer pauses between them.
class Story {
public:
    Story& operator()(const PacketBuilder& packet) {
        moments_.push_back({packet.build(), time_ += 1'000'000});
        return *this;
    }
    Story& octets(std::vector<std::uint8_t> frame) {
        moments_.push_back({std::move(frame), time_ += 1'000'000});
        return *this;
    }
    /// As a capture has it that keeps no more of a frame.
    Story& cut(const PacketBuilder& packet, std::size_t kept) {
        auto frame = packet.build();
        const auto lost = frame.size() - kept;
        frame.resize(kept);
        moments_.push_back({std::move(frame), time_ += 1'000'000, lost});
        return *this;
    }
    Story& pause(std::int64_t ns) {
        time_ += ns;
        return *this;
    }
    /// Time that passes for sure: other packets show that the clock of the capture has not just been set.
    Story& pass(std::int64_t seconds) {
        for (; seconds > 0; --seconds) {
            pause(second);
            auto packet = mad(sa, b, MgmtClass::subn_lid_routed, Method::get, smp_attribute::node_description, 1);
            (*this)(packet.add(std::vector<std::uint8_t>(mad_size - Mad::size)));
        }
        return *this;
    }
    /// A request for a group and the SA's answer.
    Story& exchange(const Node& port, Method method, const Gid& mgid, std::uint16_t group_mlid, std::uint8_t state,
                    std::uint16_t status = 0, std::uint64_t more = 0) {
        const auto record = build::group_record(port, link, mgid, group_mlid, state);
        const auto answer = method == Method::del ? Method::delete_resp : Method::get_resp;
        auto asked = record;
        asked.set(McMemberRecord::mlid, 0);
        (*this)(mc_member(port, sa, method, ++transaction_, asked, mask::join | more));
        return (*this)(mc_member(sa, port, answer, transaction_, record, mask::join | more).set(Mad::status, status));
    }
    Story& join(const Node& port, const Gid& mgid, std::uint16_t group_mlid, std::uint8_t state = 1,
                std::uint16_t status = 0) {
        return exchange(port, Method::set, mgid, group_mlid, state, status);
    }
    Story& leave(const Node& port, const Gid& mgid, std::uint16_t group_mlid, std::uint8_t state = 1) {
        return exchange(port, Method::del, mgid, group_mlid, state);
    }
    /// The join of the broadcast group of a port that is on the link already.
    Story& join_link(const Node& port) { return join(port, link.broadcast_gid(), link.broadcast_mlid); }
    /// The SM finds the port, which was down.
    Story& found(const Node& port) {
        auto info = Bytes<PortInfo>{}
                        .set(PortInfo::gid_prefix, port.gid.prefix())
                        .set(PortInfo::lid, port.lid)
                        .set(PortInfo::port_state, PortState::armed);
        return (*this)(port_info(sa, port, Method::set, info))(port_info(port, sa, Method::get_resp, info));
    }
    /// And brings it up: its life on the link begins with the join of the broadcast group.
    Story& up(const Node& port) { return found(port).join_link(port); }
    Story& subscribe(const Node& port, std::uint16_t trap_number, const Gid& group = {}) {
        (*this)(subscription(port, sa, Method::set, ++transaction_, trap_number, group));
        return (*this)(subscription(sa, port, Method::get_resp, transaction_, trap_number, group));
    }
    Story& path(const Node& from, const Node& to, std::uint8_t sl = 0) {
        (*this)(path_record(from, sa, Method::get, ++transaction_, from, to, 0, 0));
        return (*this)(path_record(sa, from, Method::get_resp, transaction_, from, to, sl, 3));
    }
    [[nodiscard]] Gid group(const char* address) const {
        return mgid_for_ipv4(parse_ipv4(address).value(), link.p_key, link.scope);
    }
    [[nodiscard]] PacketBuilder to_group(const Node& from, const char* address, std::uint16_t group_mlid) const {
        return udp_to_group(from, parse_ipv4(address).value(), group_mlid, link, 32);
    }

    [[nodiscard]] std::int64_t now() const { return time_; }
    [[nodiscard]] const std::vector<Moment>& moments() const { return moments_; }
    build::Link link = samples::controlled();

private:
    std::vector<Moment> moments_;
    std::int64_t time_ = 1'000 * second;
    std::uint64_t transaction_ = 0;
};

/// Two ports on the link, which want to be told of groups.
inline Story both_up() {
    Story story;
    story.up(a).up(b);
    for (const auto& port : {a, b})
        story.subscribe(port, trap::multicast_group_created).subscribe(port, trap::multicast_group_deleted);
    return story;
}

/// Gives a judge the frames of a story that `takes(index)` names, to the end.
template <class Takes>
void tell(Judge& judge, const Story& story, Takes&& takes) {
    std::uint64_t number = 0;
    for (std::size_t i = 0; i < story.moments().size(); ++i) {
        if (!takes(i)) continue;
        const auto& moment = story.moments()[i];
        judge.frame({.number = ++number,
                     .time_ns = moment.time,
                     .link_type = capture::LinkType::infiniband,
                     .octets = moment.octets,
                     .wire_length = static_cast<std::uint32_t>(moment.octets.size() + moment.cut)});
    }
    judge.finish();
}

/// Judges these frames.
template <class Takes>
Judge judged(const Story& story, Takes&& takes, inspection::Options options = {}) {
    Judge judge{conformance::selected_rules({}), 0, {}, std::move(options)};
    tell(judge, story, takes);
    return judge;
}
inline Judge judged(const Story& story) {
    return judged(story, [](std::size_t) { return true; });
}

inline Ids violated(const Judge& judge) {
    Ids ids;
    for (const auto& result : judge.results())
        if (result.violations) ids.insert(result.id.substr(5));
    return ids;
}
inline Ids violated(const Story& story) { return violated(judged(story)); }
/// What would be violated if nothing were missing in the capture.
inline Ids undecided(const Story& story) {
    Ids ids;
    for (const auto& result : judged(story).results())
        if (result.verdict == reports::Verdict::inconc) ids.insert(result.id.substr(5));
    return ids;
}
inline Ids observed(const Story& story) {
    Ids ids;
    for (const auto& result : judged(story).results())
        if (result.observed) ids.insert(result.id.substr(5));
    return ids;
}

}  // namespace ipoib::testing
