// SPDX-License-Identifier: GPL-2.0-or-later
// What a port is on its fabric, as far as histories depend on it: a history that was played on one is played on another
// by ports that are the same there.
#pragma once

#include "conformance/siege/subject.hpp"

namespace ipoib::conformance::siege {

/// Of every port, in their order. The link is the first of `facts.administrative`, the other partition its last, where
/// there are two.
[[nodiscard]] std::vector<Role> roles_of(const sa_model::Facts& facts);

/// The history with the roles of the ports that it names.
[[nodiscard]] History with_roles(History history, const sa_model::Facts& facts);

struct Fitted {
    History history;                                       ///< by the ports that are here
    std::vector<std::pair<unsigned, unsigned>> renamed{};  ///< a port of the history, and what it is here
    std::string why_not{};                                 ///< no ports here are as its ports were; empty: there are
};
/// A history without roles is as it was.
[[nodiscard]] Fitted fitted(const History& history, const sa_model::Facts& facts, const Subject::Abilities& abilities);

}  // namespace ipoib::conformance::siege
