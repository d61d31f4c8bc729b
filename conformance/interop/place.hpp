// SPDX-License-Identifier: GPL-2.0-or-later
// Where two implementations meet: a fabric that shows every frame between them, and a way to steer each.
#pragma once

#include "conformance/dut/dut.hpp"
#include "conformance/interop/side.hpp"
#include "fabric/port.hpp"
#include "protocol/build/ipoib.hpp"

#include <stdexcept>

namespace ipoib::conformance {
class InputJournal;
}

namespace ipoib::conformance::interop {

/// One of the two cannot be begun with: its adapter does not start, or not greet.
struct SideBroken : std::runtime_error {
    SideBroken(Side which, const std::string& why) : std::runtime_error(why), side(which) {}
    Side side;
};

class Place {
public:
    virtual ~Place() = default;
    /// For the next exchange: both are there and have been greeted. Where both are in this process, all is new; else
    /// what did not break is as it was left. Throws SideBroken; std::runtime_error where the fabric is at fault.
    virtual void prepare(std::uint64_t seed) = 0;
    [[nodiscard]] virtual fabric::Fabric& fabric() = 0;
    [[nodiscard]] virtual Dut& dut(Side side) = 0;
    /// What its adapter has written to standard error since the last call.
    [[nodiscard]] virtual std::string diagnostics(Side side) = 0;
    /// The process that its adapter is, to be named to a person; 0: it is none of its own.
    [[nodiscard]] virtual int process(Side) const { return 0; }
    /// It is begun anew before the next exchange. Its channel may be broken.
    virtual void drop(Side side) noexcept = 0;
    /// The interface of multi-interface adapters has its scope to be told where the link has not the usual one.
    [[nodiscard]] virtual build::Link link() = 0;

    /// What the subnet manager knows: the LID of an active port, by its GUID; 0 where there is none.
    [[nodiscard]] virtual std::uint16_t lid_of(std::uint64_t port_guid) = 0;
    /// The same of its GID; all zero where there is none.
    [[nodiscard]] virtual wire::Gid gid_of(std::uint64_t port_guid) = 0;
    /// What the subnet administrator holds: the join states of a port in a group; 0: it is no member.
    [[nodiscard]] virtual std::uint8_t join_states(const wire::Gid& mgid, std::uint64_t port_guid) = 0;
    /// The MLID of a group; 0: there is no such group.
    [[nodiscard]] virtual std::uint16_t mlid_of(const wire::Gid& mgid) = 0;

    [[nodiscard]] virtual bool is_virtual() const = 0;
    /// What is known since the last prepare() of what came from fabric and adapters; null where none is kept.
    [[nodiscard]] virtual InputJournal* journal() { return nullptr; }
};

}  // namespace ipoib::conformance::interop
