// SPDX-License-Identifier: GPL-2.0-or-later
// What a subnet administrator may hold as long as it has not shown which: after a restart either all that it had, or
// nothing but its configuration. IBA knows both (it asks ports to reregister since an SA may have forgotten them). And
// after a change of a port's LID.
#pragma once

#include "conformance/sa_model/model.hpp"

namespace ipoib::conformance::sa_model {

/// Models of what may be. Whatever the SA says or does is held against each: those that it contradicts are given up,
/// and where it contradicts all, the one that it contradicts least stays, and tells how.
class Worlds {
public:
    explicit Worlds(Facts facts) : worlds_{Model{std::move(facts)}} {}

    /// The one that holds most.
    [[nodiscard]] const Model& most() const noexcept { return worlds_.front(); }
    [[nodiscard]] std::size_t count() const noexcept { return worlds_.size(); }

    [[nodiscard]] std::vector<Deviation> take(const Request& request, const Answer& answer);
    [[nodiscard]] std::vector<Deviation> take_again(const Request& request, const Answer& first, const Answer& again);
    [[nodiscard]] std::vector<Deviation> take_subscription(unsigned port, std::uint16_t trap, bool begins,
                                                           const Answer& answer);
    [[nodiscard]] std::vector<Deviation> take_reports(const std::vector<Heard>& heard);
    /// So many reports have to come, in one of them.
    [[nodiscard]] std::size_t reports_due() const noexcept;
    /// Whether one of them has a report of this group due.
    [[nodiscard]] bool is_due(const wire::Gid& mgid) const noexcept;
    /// In what this contradicts them, or the one of them that it contradicts least.
    [[nodiscard]] std::vector<Deviation> differences(const wire::Gid& mgid, const std::vector<Seen>& told) const;
    /// What the SA tells of a group, port by port. Where that is not as it must be, or nobody can say how it must be,
    /// it is taken for what is from now on.
    [[nodiscard]] std::vector<Deviation> look(const wire::Gid& mgid, const std::vector<Seen>& told);

    void vanish(unsigned port);
    void come_back(unsigned port);
    void move(unsigned port);
    /// The same, by a subnet manager of which is not known how it does so: it may take the port's link down for it, or
    /// start anew itself.
    void move_somehow(unsigned port);
    void restart();

private:
    template <class Take>
    [[nodiscard]] std::vector<Deviation> weigh(const Take& take);

    std::vector<Model> worlds_;  ///< never none; what holds more comes first
};

}  // namespace ipoib::conformance::sa_model
