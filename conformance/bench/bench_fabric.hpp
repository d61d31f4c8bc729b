// SPDX-License-Identifier: GPL-2.0-or-later
// The fabric as a case changes it from outside.
#pragma once

#include "fabric/change/change.hpp"
#include "protocol/wire/field.hpp"

#include <optional>
#include <string>
#include <vector>

namespace ipoib::conformance {

class Bench;
struct CaseContext;

class BenchFabric {
public:
    BenchFabric(Bench& bench, CaseContext& context) : bench_(bench), context_(context) {}
    BenchFabric(const BenchFabric&) = delete;
    BenchFabric& operator=(const BenchFabric&) = delete;

    /// NA where the fabric cannot do it. After the case, however it ends, it is taken back, unless the case itself has
    /// done so.
    void change(const fabric::FabricChange& change);
    /// The same for what a case can do without: false where the fabric cannot do it.
    [[nodiscard]] bool can_change(const fabric::FabricChange& change);
    /// A further GID of the tester's port that nobody has asked for yet, and the SA knows from now on, until the case
    /// ends. Nothing where the fabric cannot do so.
    [[nodiscard]] std::optional<wire::Gid> peer_never_seen();

    /// Whether the case asked for a change at all.
    [[nodiscard]] bool was_changed() const noexcept { return was_changed_; }
    /// After the case: takes the changes back, the last one first, also those that failed, since they may have been
    /// made nevertheless. What could not be put back; empty where all could. Of what failed that is a note.
    [[nodiscard]] std::string undo();

private:
    /// What takes a change back.
    struct Undo {
        fabric::FabricChange change;
        bool is_certain;  ///< else the fabric did not say whether it has made the change
    };
    fabric::ChangeAnswer try_to(const fabric::FabricChange& change);

    Bench& bench_;
    CaseContext& context_;
    bool was_changed_ = false;
    std::vector<Undo> to_undo_;
};

}  // namespace ipoib::conformance
