// SPDX-License-Identifier: GPL-2.0-or-later
// What is looked up in the subnet manager's books, as lines of JSON: into a journal, and from there.
#pragma once

#include "conformance/interop/place.hpp"

#include <functional>
#include <string>

namespace ipoib::conformance::interop {

/// Writes into the place's journal, if it keeps one, what is looked up. Nothing is owned.
class JournaledPlace final : public Place {
public:
    explicit JournaledPlace(Place& place) : place_(place) {}

    void prepare(std::uint64_t seed) override { place_.prepare(seed); }
    [[nodiscard]] fabric::Fabric& fabric() override { return place_.fabric(); }
    [[nodiscard]] Dut& dut(Side side) override { return place_.dut(side); }
    [[nodiscard]] std::string diagnostics(Side side) override { return place_.diagnostics(side); }
    [[nodiscard]] int process(Side side) const override { return place_.process(side); }
    void drop(Side side) noexcept override { place_.drop(side); }
    [[nodiscard]] build::Link link() override;
    [[nodiscard]] std::uint16_t lid_of(std::uint64_t port_guid) override;
    [[nodiscard]] wire::Gid gid_of(std::uint64_t port_guid) override;
    [[nodiscard]] std::uint8_t join_states(const wire::Gid& mgid, std::uint64_t port_guid) override;
    [[nodiscard]] std::uint16_t mlid_of(const wire::Gid& mgid) override;
    [[nodiscard]] bool is_virtual() const override { return place_.is_virtual(); }
    [[nodiscard]] InputJournal* journal() override { return place_.journal(); }

private:
    void note(const std::string& request, const std::string& answer);
    Place& place_;
};

/// The same questions, answered by what was written then.
class Books {
public:
    /// `look_up` gives the answer to a request.
    explicit Books(std::function<std::string(const std::string&)> look_up) : look_up_(std::move(look_up)) {}

    // Each is all zero for an answer that is none.

    [[nodiscard]] build::Link link();
    [[nodiscard]] std::uint16_t lid_of(std::uint64_t port_guid);
    [[nodiscard]] wire::Gid gid_of(std::uint64_t port_guid);
    [[nodiscard]] std::uint8_t join_states(const wire::Gid& mgid, std::uint64_t port_guid);
    [[nodiscard]] std::uint16_t mlid_of(const wire::Gid& mgid);

private:
    std::function<std::string(const std::string&)> look_up_;
};

}  // namespace ipoib::conformance::interop
