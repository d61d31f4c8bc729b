// SPDX-License-Identifier: GPL-2.0-or-later
// From requests of schedules to requests of the adapter.
#include "conformance/explore/remote.hpp"

#include "fabric/socket/unix_socket.hpp"

#include <algorithm>

namespace ipoib::conformance::explore {
using namespace wire;
using namespace std::chrono_literals;

namespace {

/// In which a guest boots, and a subnet manager brings its port up.
constexpr auto longest_plugging = 180s, longest_bring_up = 30s;

/// What the DUT refuses, or does not know, is not done.
template <class Request>
bool is_done(const Request& request) {
    try {
        request();
        return true;
    } catch (const ControlFailed&) {
        return false;
    } catch (const Unsupported&) {
        return false;
    }
}

std::vector<std::uint8_t> octets_of_hex(const std::string& hex) {
    std::vector<std::uint8_t> octets;
    for (std::size_t i = 0; i + 1 < hex.size(); i += 2)
        octets.push_back(static_cast<std::uint8_t>(std::stoul(hex.substr(i, 2), nullptr, 16)));
    return octets;
}

/// IPv6 groups that stay within the host are on no link. RFC 4291, 2.7.
bool is_on_link(const IpAddress& group) {
    constexpr std::uint8_t within_interface = 1;
    return group.is_v4() || (group.octets.octets[1] & 0xf) > within_interface;
}

class RemoteSubject final : public Subject {
public:
    RemoteSubject(RemoteDut& remote, fabric::Subnet& subnet, const Station::Config& config,
                  const std::set<std::uint64_t>& others)
        : remote_(remote), dut_(remote.dut()), subnet_(subnet), config_(config) {
        make_ready();
        plug(others);
    }

    [[nodiscard]] Cable& cable() noexcept override { return *cable_; }
    [[nodiscard]] std::uint64_t guid() const noexcept override { return guid_; }
    [[nodiscard]] Gid gid() const override {
        const auto* port = known();
        return port ? port->gid : last_gid_;
    }
    [[nodiscard]] std::uint16_t lid() const override {
        const auto* port = known();
        return port ? port->lid : std::uint16_t{0};
    }
    [[nodiscard]] bool has_p_key(std::uint16_t p_key) const override {
        const auto* port = known();
        return port && std::ranges::find(port->p_keys, p_key) != port->p_keys.end();
    }
    [[nodiscard]] IpAddress address(bool is_v4) const override {
        const auto found = std::ranges::find_if(addresses_, [&](const IpAddress& one) { return one.is_v4() == is_v4; });
        return found == addresses_.end() ? IpAddress{} : *found;
    }

    [[nodiscard]] bool seems_to_run() const override {
        const auto* port = known();
        return is_told_up_ && port && port->is_active;
    }
    void up() override {
        is_told_up_ = is_done([&] { dut_.up(); });
    }
    void down() override {
        is_told_up_ = false;
        static_cast<void>(is_done([&] { dut_.down(); }));
    }
    void join(const IpAddress& group, std::function<void(bool)> joined) override {
        joined(is_done([&] { dut_.join(group); }));
    }
    void leave(const IpAddress& group) override {
        static_cast<void>(is_done([&] { dut_.leave(group); }));
    }
    void send(const IpAddress& to, Octets payload) override {
        constexpr std::size_t smallest_mtu = 256;
        try {
            dut_.send(to, listening_port, payload);
        } catch (const ControlFailed&) {
            // What it does not send does not come.
        } catch (const Unsupported&) {
            if (payload.size() >= smallest_mtu) remote_.sends_no_fragments();
        }
    }
    [[nodiscard]] bool knows_fragments() const noexcept override { return remote_.knows_fragments(); }
    [[nodiscard]] bool set_mtu(std::size_t octets) override {
        return is_done([&] { dut_.set_mtu(octets); });
    }
    void flush_neighbours() override {
        static_cast<void>(is_done([&] { dut_.flush_neighbours(); }));
    }
    [[nodiscard]] State state() override {
        State state;
        const bool is_told = is_done([&] {
            const auto facts = dut_.interface();
            state.is_running = facts.is_up;
            state.mtu = facts.mtu;
            std::ranges::copy_if(facts.groups, std::back_inserter(state.groups), is_on_link);
            if (!dut_.can("neighbours")) return;
            for (const auto& [address, told] : dut_.neighbours())
                if (const auto link_address = View<LinkAddress>::at(told))
                    state.neighbours.emplace_back(address, link_address[LinkAddress::gid]);
        });
        if (!is_told) state.trouble = "it does not tell its state";
        return state;
    }
    [[nodiscard]] std::vector<Datagram> received() override {
        std::vector<Datagram> all;
        static_cast<void>(is_done([&] {
            for (const auto& one : dut_.received())
                if (one.port == listening_port)
                    all.push_back({.from = one.from, .to = one.to, .payload = octets_of_hex(one.payload)});
        }));
        return all;
    }
    [[nodiscard]] std::vector<std::string> faults() override {
        auto all = std::exchange(before_, {});
        std::ranges::move(remote_.faults(), std::back_inserter(all));
        return all;
    }

private:
    /// What schedules before this one left.
    void make_ready() {
        dut_.undo();
        dut_.down();
        static_cast<void>(received());
        // The end of the schedule before this one may have been too much for it.
        before_ = remote_.faults();
        const auto facts = dut_.interface();
        for (const auto& network : config_.addresses) {
            const auto& has = network.address.is_v4() ? facts.ipv4 : facts.ipv6;
            const bool is_there =
                std::ranges::any_of(has, [&](const IpNetwork& one) { return one.address == network.address; });
            // A stack may know one family only.
            const bool is_its = is_there || is_done([&] { dut_.lend_address(network); });
            if (is_its) addresses_.push_back(network.address);
        }
    }

    void plug(const std::set<std::uint64_t>& others) {
        auto& loop = remote_.loop();
        listener_.emplace(loop, remote_.options().listen, [this](std::unique_ptr<fabric::RawPort> port) {
            if (!port_) port_ = std::move(port);
        });
        if (!loop.run_until([this] { return port_ != nullptr; }, loop.now() + remote_.scaled(longest_plugging)))
            throw std::runtime_error("nobody has connected to " + remote_.options().listen);
        cable_.emplace(
            loop, *port_, [this](fabric::FrameSink* up) { up ? port_->deliver_to(up) : port_->send_link_down(); },
            config_.seed);
        cable_->plug(subnet_, config_.role);
        const auto is_its = [&](const fabric::KnownPort& port) {
            return port.is_active && !others.contains(port.port_guid) && !port.p_keys.empty();
        };
        const auto is_up = [&] { return std::ranges::any_of(subnet_.view().ports(), is_its); };
        if (!loop.run_until(is_up, loop.now() + remote_.scaled(longest_bring_up)))
            throw std::runtime_error("the subnet manager does not bring the DUT's port up");
        const auto& port = *std::ranges::find_if(subnet_.view().ports(), is_its);
        guid_ = port.port_guid;
        last_gid_ = port.gid;
    }

    [[nodiscard]] const fabric::KnownPort* known() const {
        const auto& ports = subnet_.view().ports();
        const auto found = std::ranges::find(ports, guid_, &fabric::KnownPort::port_guid);
        if (found == ports.end()) return nullptr;
        last_gid_ = found->gid;
        return &*found;
    }

    RemoteDut& remote_;
    Dut& dut_;
    fabric::Subnet& subnet_;
    const Station::Config config_;
    std::unique_ptr<fabric::RawPort> port_;
    std::optional<Cable> cable_;
    std::optional<fabric::RawPortListener> listener_;
    std::vector<IpAddress> addresses_;
    std::vector<std::string> before_;  ///< faults
    std::uint64_t guid_ = 0;
    mutable Gid last_gid_;  ///< the manager forgets ports that are gone
    bool is_told_up_ = false;
};

}  // namespace

RemoteDut::RemoteDut(Options options) : options_(std::move(options)) {}

std::unique_ptr<Subject> RemoteDut::begin(fabric::Subnet& subnet, const Station::Config& config,
                                          const std::set<std::uint64_t>& others) {
    if (is_given_up_) drop();
    return std::make_unique<RemoteSubject>(*this, subnet, config, others);
}

Dut& RemoteDut::dut() {
    if (dut_) return *dut_;
    adapter_ = std::make_unique<AdapterProcess>(loop_, options_.command, 2s, options_.remark);
    dut_.emplace(*adapter_, options_.interface, options_.timeout_scale);
    try {
        dut_->greet();
        for (const auto* request : {"interface", "up", "down", "join", "leave", "send", "listen", "received"})
            if (!dut_->can(request)) throw Unsupported(std::string("the adapter cannot do '") + request + '\'');
        dut_->listen(listening_port);
        // What it has to tell of the time before is nobody's here.
        static_cast<void>(faults());
        is_given_up_ = false;
    } catch (...) {
        drop();
        throw;
    }
    return *dut_;
}

std::vector<std::string> RemoteDut::faults() {
    std::vector<std::string> all;
    if (dut().can("health")) static_cast<void>(is_done([&] { all = dut().health(); }));
    is_given_up_ = is_given_up_ || !all.empty();
    return all;
}

void RemoteDut::drop() noexcept {
    is_given_up_ = false;
    if (dut_) dut_->bye();
    dut_.reset();
    adapter_.reset();
}

}  // namespace ipoib::conformance::explore
