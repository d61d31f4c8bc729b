// SPDX-License-Identifier: GPL-2.0-or-later
// Sessions by chance: new ones, and those before with something changed.
#pragma once

#include "conformance/fuzz/lie.hpp"
#include "conformance/fuzz/operation.hpp"

#include <set>
#include <span>
#include <vector>

namespace ipoib::conformance::fuzz {

class Generator {
public:
    /// Of operations in these areas. `can_be_asked` false: none that the node's host must do.
    Generator(std::uint64_t seed, std::set<Area> areas, std::string scenario);

    [[nodiscard]] Session fresh();
    /// One of them with operations and lies that come, go, change, and parts of others.
    [[nodiscard]] Session changed(std::span<const Session> corpus);
    /// One session for each packet, as it is; for each request and event; what can be done with what lives longer.
    [[nodiscard]] std::vector<Session> seeds() const;
    /// Every field of every packet through its values, some fields a session, in an order of chance.
    [[nodiscard]] std::vector<Session> sweeps();

private:
    [[nodiscard]] Session life();
    [[nodiscard]] std::uint32_t pause();
    void choose_patience();
    void add_lives(std::vector<Session>& all) const;
    [[nodiscard]] Operation operation();
    [[nodiscard]] std::string lie_about(const Operation& operation);
    void change(Operation& operation);
    [[nodiscard]] bool is_allowed(const Operation& operation) const;
    [[nodiscard]] std::uint32_t value_of(const Verb& verb);
    [[nodiscard]] std::size_t below(std::size_t count) { return static_cast<std::size_t>(random_() % count); }

    Random random_;
    std::set<Area> areas_;
    std::string scenario_;
    std::vector<const Verb*> verbs_;
    bool is_patient_ = false;  ///< the session that is being made waits for timers
};

/// "ipoib", "cm", "sa", "all"; empty for what is none of them. The link and the host belong to each.
[[nodiscard]] std::set<Area> areas_of(std::string_view target);

}  // namespace ipoib::conformance::fuzz
