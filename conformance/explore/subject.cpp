// SPDX-License-Identifier: GPL-2.0-or-later
// A stack in this process.
#include "conformance/explore/subject.hpp"

namespace ipoib::conformance::explore {
namespace {

class StackSubject final : public Subject {
public:
    StackSubject(fabric::Subnet& subnet, Station::Config config) : station_(subnet, std::move(config)) {}

    [[nodiscard]] Cable& cable() noexcept override { return station_.cable(); }
    [[nodiscard]] std::uint64_t guid() const noexcept override { return station_.guid(); }
    [[nodiscard]] wire::Gid gid() const override { return station_.gid(); }
    [[nodiscard]] std::uint16_t lid() const override { return station_.lid(); }
    [[nodiscard]] bool has_p_key(std::uint16_t p_key) const override { return station_.has_p_key(p_key); }
    [[nodiscard]] wire::IpAddress address(bool is_v4) const override { return station_.address(is_v4); }

    [[nodiscard]] bool seems_to_run() const override { return station_.is_running(); }
    void up() override { static_cast<void>(interface().up()); }
    void down() override { interface().down(); }
    void join(const wire::IpAddress& group, std::function<void(bool)> joined) override {
        interface().membership().join(
            group, [joined = std::move(joined)](const std::string& reason) { joined(reason.empty()); });
    }
    void leave(const wire::IpAddress& group) override { static_cast<void>(interface().membership().leave(group)); }
    void send(const wire::IpAddress& to, wire::Octets payload) override { station_.send(to, payload); }
    [[nodiscard]] bool set_mtu(std::size_t octets) override { return interface().set_mtu(octets).empty(); }
    void flush_neighbours() override { interface().neighbours().flush(); }
    [[nodiscard]] State state() override {
        State state{.is_running = interface().is_running(),
                    .trouble = interface().trouble(),
                    .mtu = interface().mtu(),
                    .groups = interface().membership().groups()};
        for (const auto& [address, link_address] : interface().neighbours().list())
            state.neighbours.emplace_back(address, link_address[wire::LinkAddress::gid]);
        return state;
    }
    [[nodiscard]] std::vector<Datagram> received() override { return received_by(interface()); }
    [[nodiscard]] std::vector<std::string> faults() override { return station_.node().take_faults(); }

private:
    [[nodiscard]] stack::Interface& interface() noexcept { return station_.interface(); }
    Station station_;
};

}  // namespace

std::unique_ptr<Subject> make_stack(fabric::Subnet& subnet, Station::Config config) {
    return std::make_unique<StackSubject>(subnet, std::move(config));
}

std::vector<Subject::Datagram> received_by(stack::Interface& interface) {
    std::vector<Subject::Datagram> all;
    for (auto& datagram : interface.sockets().take())
        all.push_back({.from = datagram.from, .to = datagram.to, .payload = std::move(datagram.payload)});
    return all;
}

}  // namespace ipoib::conformance::explore
