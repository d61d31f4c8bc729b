// SPDX-License-Identifier: GPL-2.0-or-later
// The one interface between a tester and a fabric, whether it is simulated, behind a raw port, or a real HCA.
#pragma once

#include "fabric/change/change.hpp"
#include "fabric/loop.hpp"
#include "protocol/wire/mgid.hpp"
#include "protocol/wire/notice.hpp"
#include "protocol/wire/sa.hpp"

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace ipoib::fabric {

/// What a backend may be able to do. A case that needs more is NA.
enum class Ability : std::uint32_t {
    any_frame = 1,       ///< sends frames with every bit as given; else only what a UD queue pair lets through
    see_all = 2,         ///< sees the frames between other nodes and the SA too
    reports = 4,         ///< receives the SA's reports
    fabric_control = 8,  ///< changes the fabric from outside (Fabric::change)
    two_ports = 16,      ///< a second port for the tester
    trusted_sa = 32,     ///< the SA tells members and join states of a group
    long_tables = 64,    ///< the SA's answers of several segments get here (RMPP)
};
/// A set of them.
class Abilities {
public:
    constexpr Abilities() = default;
    constexpr Abilities(Ability ability) : bits_(static_cast<std::uint32_t>(ability)) {}
    [[nodiscard]] constexpr bool has(Abilities other) const noexcept { return (bits_ & other.bits_) == other.bits_; }
    [[nodiscard]] constexpr Abilities without(Abilities other) const noexcept {
        Abilities rest;
        rest.bits_ = bits_ & ~other.bits_;
        return rest;
    }
    friend constexpr Abilities operator|(Abilities a, Abilities b) noexcept {
        a.bits_ |= b.bits_;
        return a;
    }
    friend constexpr bool operator==(Abilities, Abilities) = default;

private:
    std::uint32_t bits_ = 0;
};
constexpr Abilities operator|(Ability a, Ability b) noexcept { return Abilities{a} | Abilities{b}; }

/// A port as its subnet manager left it.
struct PortFacts {
    bool is_active = false;
    std::uint16_t lid = 0, sm_lid = 0;
    std::uint8_t sm_sl = 0;
    std::uint8_t mtu = 0;   ///< active IB MTU, as code: 4 is 2048
    std::uint8_t rate = 0;  ///< rate code of width and speed
    wire::Gid gid;          ///< subnet prefix and port GUID
    std::vector<std::uint16_t> p_keys;
    std::uint32_t qpn = 0;  ///< of the tester's UD queue pair: the QPN of its link-layer address
    /// Somebody else on this host uses the port for IPoIB: a membership that the SA holds for it may be theirs.
    bool is_shared = false;

    /// The first P_Key that makes its port a full member of a partition; 0: there is none.
    [[nodiscard]] std::uint16_t first_full_p_key() const noexcept {
        for (const auto p_key : p_keys)
            if (wire::is_full_member(p_key)) return p_key;
        return 0;
    }
};

/// A request to the subnet administrator. IBTA Vol 1, 15.2.
struct SaRequest {
    wire::Method method = wire::Method::get;
    std::uint16_t attribute = 0;
    std::uint32_t modifier = 0;
    std::uint64_t component_mask = 0;
    std::vector<std::uint8_t> record;  ///< the attribute's octets; padded with zeros
    bool is_trusted = false;           ///< carries the SM_Key, where the port was given one: tells of others' members
    bool is_again = false;             ///< the port's last request once more, with its TransactionID
};

/// What became of it.
struct SaAnswer {
    bool is_answered = false;  ///< false: nothing came, also not to the repeated request
    wire::Method method{};
    std::uint16_t status = 0;        ///< mad_status, sa_status
    std::vector<std::uint8_t> data;  ///< the records, a whole RMPP table too
    std::size_t record_size = 0;     ///< from record to record; 0: a single one
    bool is_cut = false;             ///< the SA told more than this fabric carries: records are missing
    unsigned repeats = 0;            ///< so often the request was sent again before it came

    [[nodiscard]] bool is_ok() const noexcept { return is_answered && status == 0; }
    /// The first record; absent when there is none.
    template <class Record>
    [[nodiscard]] wire::View<Record> first() const noexcept {
        return wire::View<Record>::at(data);
    }
};

/// A tester's place on the fabric: one port with one UD queue pair and its GSI.
class Port {
public:
    virtual ~Port() = default;
    [[nodiscard]] virtual PortFacts facts() const = 0;

    /// Sends one frame, LRH to VCRC. Both CRCs zero are filled in, and so is PSN 0 of a datagram: adapters number
    /// what they send. Empty when it was sent, else why this backend cannot send it.
    [[nodiscard]] virtual std::string send(wire::Octets frame) = 0;
    /// Sends several, in order; why the one that stopped it was not sent, or empty. `sent` counts those before it.
    [[nodiscard]] virtual std::string send_all(std::span<const wire::Octets> frames, std::size_t& sent) {
        for (sent = 0; sent < frames.size(); ++sent)
            if (auto why = send(frames[sent]); !why.empty()) return why;
        return {};
    }
    /// Attaches the UD queue pair to a multicast group (after joining it at the SA), or detaches it; why not, or empty.
    [[nodiscard]] virtual std::string attach(const wire::Gid& mgid, std::uint16_t mlid) = 0;
    virtual void detach(const wire::Gid& mgid, std::uint16_t mlid) = 0;
    /// The Q_Key that the UD queue pair takes; frames with another are dropped (they are still observed).
    virtual void set_q_key(std::uint32_t q_key) = 0;

    /// Told of every frame, LRH to VCRC, that the UD queue pair took: P_Key, Q_Key, DestQP and group were right.
    virtual void on_datagram(std::function<void(wire::Octets frame)> listener) = 0;

    /// Asks the SA, runs the loop until the answer is there, repeats the request twice, each time after `patience`.
    [[nodiscard]] virtual SaAnswer ask_sa(const SaRequest& request, Duration patience) = 0;
    /// Told of every report (80 octets: wire::Notice) the SA sends here. ReportResp is sent by the port.
    virtual void on_report(std::function<void(wire::View<wire::Notice>)> listener) = 0;
};

/// Who sent a frame that was seen.
enum class Sender : std::uint8_t {
    tester,  ///< one of the tester's ports
    sa,      ///< the port of the subnet manager and administrator, or a switch
    other,   ///< any other node: the DUT is among them
};
/// One frame, seen once, when its sender sent it (see_all) or when the tester received it.
struct Sighting {
    Time time{};
    wire::Octets octets;
    Sender sender = Sender::other;
    bool is_rebuilt = false;  ///< not as it was on the wire, but of what a queue pair or a MAD layer told
};

/// A fabric as a run was pointed at it.
class Fabric {
public:
    virtual ~Fabric() = default;
    [[nodiscard]] virtual Loop& loop() = 0;
    [[nodiscard]] virtual Abilities abilities() const = 0;
    /// For the reports: "kind", "clock", "scenario", "device" ...
    [[nodiscard]] virtual std::vector<std::pair<std::string, std::string>> facts() const = 0;
    /// The tester's ports, at least one.
    [[nodiscard]] virtual std::span<Port* const> ports() = 0;
    /// Told of every frame in order. One observer; an empty one ends it.
    virtual void observe(std::function<void(const Sighting&)> observer) = 0;
    /// Changes the fabric from outside (Ability::fabric_control); the answer is there within `patience`.
    [[nodiscard]] virtual ChangeAnswer change(const FabricChange& change, Duration patience) = 0;
    [[nodiscard]] ChangeAnswer change(const FabricChange& what) { return change(what, usual_patience); }
    /// What the tester does by itself after a while. Not the loop's timers: a run that is played again does it where it
    /// was done, and a real clock was late by as much as it was.
    virtual TimerId after(Duration delay, std::function<void()> action) {
        return loop().after(delay, std::move(action));
    }
    /// As the loop does it.
    virtual void cancel(TimerId& timer) noexcept { loop().cancel(timer); }
    /// Why it cannot be used any more, as after a port has lost it; empty as long as it can.
    [[nodiscard]] virtual std::string problem() const { return {}; }
};

}  // namespace ipoib::fabric
