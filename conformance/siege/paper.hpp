// SPDX-License-Identifier: GPL-2.0-or-later
// The simulated subnet administrator by itself, in virtual time: its adapter is real, the ports of its subnet are on
// paper, and each history has a new one.
#pragma once

#include "conformance/siege/subject.hpp"
#include "fabric/simulated/subnet_administrator.hpp"

#include <memory>

namespace ipoib::conformance::siege {

class PaperSubject : public Subject {
public:
    /// Room for groups, those of the configuration included, and for subscriptions: few, so that a leak shows soon.
    static constexpr std::size_t room = 5, subscriptions = 4;

    explicit PaperSubject(const fabric::SaBehaviour& behaviour = {});
    ~PaperSubject() override;
    PaperSubject(const PaperSubject&) = delete;
    PaperSubject& operator=(const PaperSubject&) = delete;

    [[nodiscard]] Abilities abilities() const override;
    [[nodiscard]] Ground begin(bool is_anew) override;
    [[nodiscard]] sa_model::Answer ask(const sa_model::Request& request) override;
    [[nodiscard]] sa_model::Answer subscribe(unsigned port, std::uint16_t trap, bool begins) override;
    void repeat() override;
    [[nodiscard]] std::vector<sa_model::Seen> look(const wire::Gid& mgid) override;
    [[nodiscard]] std::string set_port(unsigned port, bool is_there) override;
    [[nodiscard]] std::string move_port(unsigned port) override;
    [[nodiscard]] std::string restart() override;
    [[nodiscard]] std::vector<Heard> heard(std::size_t wanted) override;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace ipoib::conformance::siege
