// SPDX-License-Identifier: GPL-2.0-or-later
// A subnet administrator that can be asked by several ports, and what can be made to happen around it.
#pragma once

#include "conformance/sa_model/worlds.hpp"
#include "conformance/siege/history.hpp"

#include <map>
#include <string>
#include <vector>

namespace ipoib::conformance::siege {

/// Where a history takes place: ports by their numbers, groups by those of their names.
struct Ground {
    sa_model::Facts facts;
    /// What a member of the group gives, without what is its own.
    std::map<unsigned, sa_model::Record> groups;
    /// Groups of no history: created and left, they show the MLID that is next.
    std::vector<sa_model::Record> probes;
};
using sa_model::Heard;

class Subject {
public:
    virtual ~Subject() = default;

    /// What it can do beyond being asked.
    struct Abilities {
        unsigned ports = 1;
        unsigned askers = 1;           ///< the first of the ports; for the others they can only be asked for
        std::vector<unsigned> groups;  ///< numbers of those that there are
        bool ports_vanish = false, ports_move = false, restarts = false, hears = false, tells_members = false;
        unsigned first_to_vanish = 0;  ///< ports before this one stay
        bool lasts = false;            ///< it goes on from history to history: none has a new one
    };
    [[nodiscard]] virtual Abilities abilities() const = 0;
    /// New groups, of MGIDs that no history had before; and a new administrator, where `is_anew` and there can be one.
    [[nodiscard]] virtual Ground begin(bool is_anew) = 0;

    [[nodiscard]] virtual sa_model::Answer ask(const sa_model::Request& request) = 0;
    [[nodiscard]] virtual sa_model::Answer subscribe(unsigned port, std::uint16_t trap, bool begins) = 0;
    /// The next request is the last one once more, with its TransactionID where that can be chosen.
    virtual void repeat() {}
    /// What it tells of a group, port by port; nothing where it does not tell.
    [[nodiscard]] virtual std::vector<sa_model::Seen> look(const wire::Gid& mgid) = 0;
    /// The port vanishes or comes back, and the manager has noticed. Why not, or empty.
    [[nodiscard]] virtual std::string set_port(unsigned port, bool is_there) = 0;
    /// The port gets another LID. Why not, or empty.
    [[nodiscard]] virtual std::string move_port(unsigned port) = 0;
    /// The administrator restarts; whether it has its database still is its own to know. Why not, or empty.
    [[nodiscard]] virtual std::string restart() = 0;
    /// Reports that have come. In real time it is waited until so many are there, and for a while.
    [[nodiscard]] virtual std::vector<Heard> heard(std::size_t wanted) = 0;
    /// Whether what it tells may be other in a moment, since it does some things behind its answers; in real time that
    /// moment is over then. `keys`: of what deviates.
    [[nodiscard]] virtual bool may_follow(const std::vector<std::string>& /*keys*/) { return false; }
    /// What of histories cannot take place here, for people.
    [[nodiscard]] virtual std::vector<std::string> left_out() const { return {}; }
    /// Why it cannot be asked any more; empty: it can.
    [[nodiscard]] virtual std::string problem() const { return {}; }
};

}  // namespace ipoib::conformance::siege
