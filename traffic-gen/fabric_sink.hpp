// SPDX-License-Identifier: GPL-2.0-or-later
// Packets onto a fabric, each at its time, from interfaces of ours; on a simulated one the judge listens.
#pragma once

#include "conformance/judge/judge.hpp"
#include "traffic-gen/crew.hpp"
#include "traffic-gen/sink.hpp"

#include <optional>
#include <stdexcept>
#include <vector>

namespace ipoib::traffic {

/// The fabric cannot send what was asked for.
struct Refused : std::runtime_error {
    using std::runtime_error::runtime_error;
};

class FabricSink : public Sink, public Administrator {
public:
    /// `to`: neighbours of our interfaces, by their addresses. Throws as Crew.
    FabricSink(const FabricOptions& options, const std::vector<wire::IpAddress>& to);
    ~FabricSink() override;

    /// Our interfaces and those neighbours.
    [[nodiscard]] Scene scene(SceneOptions options);
    [[nodiscard]] std::size_t hosts() const noexcept { return nodes_.size(); }
    /// Sends everything by our first interface, whoever the sender is, as a replay does.
    void take_all() noexcept { takes_all_ = true; }

    bool take(Time time, const Sender& sender, wire::Octets frame) override;
    [[nodiscard]] bool has_adapters() const noexcept override { return true; }
    [[nodiscard]] Time elapsed() override;
    [[nodiscard]] Administrator* administrator() noexcept override { return this; }
    void finish() override;

    bool join(Time time, const build::Node& host, const wire::Gid& mgid, std::uint8_t state) override;
    bool leave(Time time, const build::Node& host, const wire::Gid& mgid, std::uint8_t state) override;
    bool subscribe(Time time, const build::Node& host, std::uint16_t trap) override;
    [[nodiscard]] std::uint16_t mlid(const wire::Gid& mgid) const override;
    [[nodiscard]] bool is_ours(const build::Node& host) const override { return crew_.find(host) != nullptr; }

    [[nodiscard]] std::uint64_t received() const noexcept { return received_; }
    /// Questions to the subnet administrator, and those that it did not grant.
    [[nodiscard]] std::uint64_t asked() const noexcept { return asked_; }
    [[nodiscard]] std::uint64_t refused() const noexcept { return refused_; }
    /// Rules that were broken; none where no judge listens.
    [[nodiscard]] std::uint64_t broken_rules() const;
    /// What the judge says, a line for each rule that was broken and one for the rest; empty where none listens.
    [[nodiscard]] std::string judgement() const;

private:
    void wait_until(Time time);
    void flush();
    [[nodiscard]] fabric::Port* port_of(const Sender& sender) const;
    bool count(bool is_granted);

    [[nodiscard]] FabricOptions listening(FabricOptions options);

    std::optional<conformance::Judge> judge_;
    std::uint64_t seen_ = 0;
    mutable Crew crew_;
    std::vector<build::Node> nodes_;  ///< each of ours, and before each neighbour one of ours
    std::map<Sender, fabric::Port*> ports_;
    std::map<wire::Gid, std::uint16_t> mlids_;
    fabric::Time begun_{};
    bool has_begun_ = false, takes_all_ = false;
    std::uint64_t received_ = 0, asked_ = 0, refused_ = 0, sent_ = 0;

    /// Frames on their way to one port: handed over together.
    static constexpr std::size_t most_at_once = 32;
    std::vector<std::vector<std::uint8_t>> batch_{most_at_once};
    std::size_t batched_ = 0;
    fabric::Port* batch_port_ = nullptr;
};

}  // namespace ipoib::traffic
