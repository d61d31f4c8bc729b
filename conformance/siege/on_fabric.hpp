// SPDX-License-Identifier: GPL-2.0-or-later
// The subnet administrator of any fabric, by the tester's ports. It goes on from history to history, and others may use
// it: MGIDs are of this run.
#pragma once

#include "conformance/siege/subject.hpp"
#include "fabric/port.hpp"

#include <set>

namespace ipoib::conformance::siege {

class FabricSubject : public Subject {
public:
    struct Options {
        std::uint64_t seed = 1;                               ///< where MGIDs begin
        std::uint16_t p_key = 0;                              ///< of the link; 0: the first full one of the port
        unsigned others = 2;                                  ///< so many ports of others are asked for, at most
        fabric::Duration patience = std::chrono::seconds{2};  ///< for an answer; it is asked for three times
    };
    /// Not owned. Throws std::runtime_error where the partition has no broadcast group, or nobody answers.
    FabricSubject(fabric::Fabric& fabric, const Options& options);
    ~FabricSubject() override;
    FabricSubject(const FabricSubject&) = delete;
    FabricSubject& operator=(const FabricSubject&) = delete;

    [[nodiscard]] Abilities abilities() const override;
    [[nodiscard]] Ground begin(bool is_anew) override;
    [[nodiscard]] sa_model::Answer ask(const sa_model::Request& request) override;
    [[nodiscard]] sa_model::Answer subscribe(unsigned port, std::uint16_t trap, bool begins) override;
    void repeat() override { is_again_ = true; }
    [[nodiscard]] std::vector<sa_model::Seen> look(const wire::Gid& mgid) override;
    [[nodiscard]] std::string set_port(unsigned port, bool is_there) override;
    [[nodiscard]] std::string move_port(unsigned port) override;
    [[nodiscard]] std::string restart() override;
    [[nodiscard]] std::vector<Heard> heard(std::size_t wanted) override;
    [[nodiscard]] bool may_follow(const std::vector<std::string>& keys) override;
    [[nodiscard]] std::vector<std::string> left_out() const override;
    [[nodiscard]] std::string problem() const override { return gone_.empty() ? fabric_.problem() : gone_; }

private:
    [[nodiscard]] fabric::SaAnswer ask_sa(unsigned port, wire::Method method, std::uint16_t attribute,
                                          std::uint64_t mask, wire::Octets record, bool is_trusted = false,
                                          bool is_again = false);
    /// By a port of the tester: that of a join, a leave or a subscription.
    [[nodiscard]] sa_model::Answer answer_to(unsigned port, wire::Method method, std::uint16_t attribute,
                                             std::uint64_t mask, wire::Octets record);
    /// A change of the fabric from outside that may stop its administrator for a while. Why not, or empty.
    [[nodiscard]] std::string change(const std::vector<fabric::FabricChange>& changes);
    /// The groups of the configuration, as the SA tells them; the link's first.
    void learn_links();
    /// Ports of other nodes, as far as the SA tells them by their LIDs.
    void learn_others();
    /// MTU code of the port with this LID; 0: the SA does not tell.
    [[nodiscard]] std::uint8_t mtu_at(std::uint16_t lid);

    fabric::Fabric& fabric_;
    Options options_;
    sa_model::Facts facts_;
    unsigned askers_ = 0;
    std::vector<Heard> heard_;
    std::uint32_t group_number_;
    bool is_again_ = false;
    std::string why_no_moves_, why_no_restarts_;  ///< as the fabric has said once
    std::string gone_;
    std::set<std::string> lasting_;  ///< keys of what deviated for as long as was waited
    fabric::Duration waited_{};      ///< since the last request, for what deviates
};

}  // namespace ipoib::conformance::siege
