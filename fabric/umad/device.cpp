// SPDX-License-Identifier: GPL-2.0-or-later
// libibumad: finding a port, sending, receiving.
#include "fabric/umad/device.hpp"

#include "base/descriptor.hpp"
#include "fabric/host/host_interfaces.hpp"
#include "protocol/wire/sa.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <infiniband/umad.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <stdexcept>

namespace ipoib::fabric {
using namespace wire;

namespace {

constexpr unsigned active_state = 4;
constexpr std::size_t usual_octets = 4096, most_octets = std::size_t{16} << 20;
constexpr std::uint8_t sa_class_version = 2, smp_class_version = 1, rmpp_version = 1;

/// A port of the host, as umad_get_port gives it.
class HostPort {
public:
    HostPort(const std::string& device, int port) : is_there_(umad_get_port(device.c_str(), port, &port_) == 0) {}
    ~HostPort() {
        if (is_there_) umad_release_port(&port_);
    }
    HostPort(const HostPort&) = delete;
    HostPort& operator=(const HostPort&) = delete;
    [[nodiscard]] bool is_there() const noexcept { return is_there_; }
    [[nodiscard]] bool is_ethernet() const noexcept { return std::string_view(port_.link_layer) == "Ethernet"; }
    [[nodiscard]] bool is_active() const noexcept { return is_there_ && port_.state == active_state; }
    [[nodiscard]] const umad_port_t* operator->() const noexcept { return &port_; }

private:
    umad_port_t port_{};
    bool is_there_;
};

struct Place {
    std::string device;
    int port = 0;
    [[nodiscard]] std::string name() const { return device + '/' + std::to_string(port); }
};

std::string list_of(const std::vector<Place>& places) {
    std::string list;
    for (const auto& place : places) list += (list.empty() ? "" : ", ") + place.name();
    return list.empty() ? "none" : list;
}

/// The ports of the host, of one device or of all.
std::vector<Place> places(const std::string& device) {
    std::array<char[UMAD_CA_NAME_LEN], UMAD_MAX_DEVICES> names{};
    const int count = umad_get_cas_names(names.data(), UMAD_MAX_DEVICES);
    std::vector<Place> found;
    for (int i = 0; i < count; ++i) {
        const std::string name{names[static_cast<std::size_t>(i)]};
        if (!device.empty() && name != device) continue;
        for (int port = 1; port < UMAD_CA_MAX_PORTS; ++port)
            if (HostPort{name, port}.is_there()) found.push_back({name, port});
    }
    return found;
}

Place choose(const UmadOptions& options) {
    auto found = places(options.device);
    if (found.empty() && !options.device.empty())
        throw std::invalid_argument("there is no InfiniBand device '" + options.device +
                                    "' here; ports that are: " + list_of(places({})));
    if (found.empty()) throw std::invalid_argument("this host has no InfiniBand device");
    if (options.port != 0) {
        std::erase_if(found, [&](const Place& place) { return place.port != options.port; });
        if (found.size() != 1)
            throw std::invalid_argument("there is no port " + std::to_string(options.port) + " of '" + options.device +
                                        "'; ports that are: " + list_of(places({})));
    } else if (found.size() > 1) {
        const auto all = found;
        std::erase_if(found, [](const Place& place) {
            const HostPort port{place.device, place.port};
            return !port.is_active() || port.is_ethernet();
        });
        if (found.size() != 1)
            throw std::invalid_argument("which port is meant? " + std::to_string(found.size()) +
                                        " are active InfiniBand ports, of these: " + list_of(all));
    }
    if (HostPort{found[0].device, found[0].port}.is_ethernet())
        throw std::invalid_argument(found[0].name() + " is RoCE, on Ethernet: IPoIB needs InfiniBand");
    return found[0];
}

}  // namespace

std::uint8_t rate_code(unsigned gigabits) noexcept {
    for (const auto& rate : rate_names) {
        unsigned whole = 0;
        (void)std::from_chars(rate.name.data(), rate.name.data() + rate.name.size(), whole);
        if (whole == gigabits) return static_cast<std::uint8_t>(rate.value);
    }
    return 0;
}

struct UmadDevice::State {
    [[nodiscard]] std::uint16_t p_key(unsigned index) const noexcept {
        return index < p_keys.size() ? p_keys[index] : std::uint16_t{0};
    }
    /// Full and limited member are of one partition.
    [[nodiscard]] int index_of(std::uint16_t p_key) const noexcept {
        for (std::size_t i = 0; i < p_keys.size(); ++i)
            if (p_keys[i] == p_key) return static_cast<int>(i);
        return 0;
    }
    [[nodiscard]] int register_class(std::uint8_t mgmt_class, std::uint8_t version, std::uint8_t rmpp,
                                     std::array<long, 16 / sizeof(long)> methods = {}) const {
        const bool is_responder = std::ranges::any_of(methods, [](long word) { return word != 0; });
        return umad_register(port_id, mgmt_class, version, rmpp, is_responder ? methods.data() : nullptr);
    }
    void open_port();
    void raise_issm();

    Place place;
    int port_id = -1, agent = -1, descriptor = -1;
    Descriptor issm;
    bool is_simulated = false, hears_reports = false;
    std::vector<std::uint16_t> p_keys;
    std::vector<std::uint8_t> buffer;
    std::uint16_t lid = 0;
};

void UmadDevice::State::open_port() {
    errno = 0;
    port_id = umad_open_port(place.device.c_str(), place.port);
    if (port_id < 0)
        throw std::runtime_error(
            place.name() + " cannot be opened for management datagrams: " + std::strerror(errno ? errno : -port_id) +
            " (/dev/infiniband/umad* must be readable and writable)");
    const int number = umad_get_fd(port_id);
    is_simulated = ::fcntl(number, F_GETFD) < 0 && errno == EBADF;
    descriptor = is_simulated ? -1 : number;
    std::array<long, 16 / sizeof(long)> reports{1L << static_cast<unsigned>(Method::report)};
    agent = register_class(static_cast<std::uint8_t>(MgmtClass::subn_adm), sa_class_version, rmpp_version, reports);
    hears_reports = agent >= 0 && !is_simulated;
    // Another program may be the one who gets the reports.
    if (agent < 0)
        agent = register_class(static_cast<std::uint8_t>(MgmtClass::subn_adm), sa_class_version, rmpp_version);
    if (agent < 0) throw std::runtime_error(place.name() + ": the host lets nobody ask the subnet administrator");
}

void UmadDevice::State::raise_issm() {
    // libumad2sim does not survive a MAD of a class that nobody registered, and an SM's port gets some.
    for (const auto mgmt_class : {MgmtClass::subn_lid_routed, MgmtClass::subn_directed_route})
        (void)register_class(static_cast<std::uint8_t>(mgmt_class), smp_class_version, 0);
    std::array<char, 256> path{};
    errno = 0;
    if (umad_get_issm_path(place.device.c_str(), place.port, path.data(), static_cast<int>(path.size())) == 0)
        issm = Descriptor{::open(path.data(), O_RDWR | O_NONBLOCK | O_CLOEXEC)};
    if (!issm) throw std::runtime_error(place.name() + ": IsSM cannot be raised: " + std::strerror(errno));
    hears_reports = true;
}

UmadDevice::UmadDevice(const UmadOptions& options) : state_(std::make_unique<State>()) {
    auto& s = *state_;
    if (umad_init() < 0) throw std::runtime_error("libibumad does not know this kernel");
    s.place = choose(options);
    s.buffer.resize(umad_size() + usual_octets);
    s.open_port();
    if (options.raises_issm) s.raise_issm();
}

UmadDevice::~UmadDevice() {
    state_->issm.close();
    // libumad2sim does not survive a MAD for a port that was closed either; it closes all when the program ends.
    if (state_->is_simulated) return;
    umad_unregister(state_->port_id, state_->agent);
    umad_close_port(state_->port_id);
}

const std::string& UmadDevice::device() const noexcept { return state_->place.device; }
std::string UmadDevice::name() const { return state_->place.name(); }
bool UmadDevice::is_simulated() const noexcept { return state_->is_simulated; }
std::uint8_t UmadDevice::port_number() const noexcept { return static_cast<std::uint8_t>(state_->place.port); }
int UmadDevice::descriptor() const noexcept { return state_->descriptor; }
bool UmadDevice::hears_reports() const noexcept { return state_->hears_reports; }

PortFacts UmadDevice::facts() {
    auto& s = *state_;
    PortFacts facts;
    const HostPort port{s.place.device, s.place.port};
    if (!port.is_there()) return facts;
    const auto guid = be64toh(port->port_guid);
    facts.is_active = port.is_active();
    facts.lid = static_cast<std::uint16_t>(port->base_lid);
    facts.sm_lid = static_cast<std::uint16_t>(port->sm_lid);
    facts.sm_sl = static_cast<std::uint8_t>(port->sm_sl & 0xf);
    facts.rate = rate_code(port->rate);
    facts.gid = Gid::of(be64toh(port->gid_prefix), guid);
    facts.p_keys.assign(port->pkeys, port->pkeys + port->pkeys_size);
    while (!facts.p_keys.empty() && facts.p_keys.back() == 0) facts.p_keys.pop_back();
    facts.is_shared =
        !s.is_simulated && (has_ipoib_driver("/sys/module") || has_ipoib_interface("/sys/class/net", guid));
    s.p_keys = facts.p_keys;
    s.lid = facts.lid;
    return facts;
}

std::string UmadDevice::send(const MadPath& path, const MadOctets& mad, Duration patience) {
    const auto& s = *state_;
    std::vector<std::uint8_t> buffer(umad_size() + mad.size());
    std::copy(mad.begin(), mad.end(), static_cast<std::uint8_t*>(umad_get_mad(buffer.data())));
    umad_set_addr(buffer.data(), path.dlid, static_cast<int>(path.dest_qp), path.sl, static_cast<int>(gsi_q_key));
    umad_set_pkey(buffer.data(), s.index_of(path.p_key));
    // The kernel refuses to repeat a request that it still waits for: it gives up a little before the requester does.
    const auto milliseconds = std::chrono::duration_cast<std::chrono::milliseconds>(patience * 9 / 10).count();
    const bool is_request = !is_response(View<Mad>::at(mad)[Mad::method]);
    errno = 0;
    const int sent = umad_send(s.port_id, s.agent, buffer.data(), static_cast<int>(mad.size()),
                               is_request ? static_cast<int>(std::max<std::int64_t>(milliseconds, 1)) : 0, 0);
    return sent < 0 ? std::string(std::strerror(errno ? errno : -sent)) : std::string{};
}

std::optional<ReceivedMad> UmadDevice::receive() {
    auto& s = *state_;
    const auto room = [&] { return static_cast<int>(s.buffer.size() - umad_size()); };
    int length = room();
    errno = 0;
    int got = umad_recv(s.port_id, s.buffer.data(), &length, 0);
    if (got == -ENOSPC && length > room()) {
        if (static_cast<std::size_t>(length) > most_octets)
            throw std::runtime_error(name() + ": an answer of " + std::to_string(length) + " octets");
        s.buffer.resize(umad_size() + static_cast<std::size_t>(length));
        length = room();
        errno = 0;
        got = umad_recv(s.port_id, s.buffer.data(), &length, 0);
    }
    if (got == -EAGAIN || got == -EINTR) return {};
    if (got < 0) throw std::runtime_error(name() + " is gone: " + std::strerror(-got));
    const auto size = static_cast<std::size_t>(std::clamp(length, 0, room()));
    const auto* mad = static_cast<const std::uint8_t*>(umad_get_mad(s.buffer.data()));
    const auto* from = umad_get_mad_addr(s.buffer.data());
    const auto p_key = s.p_key(static_cast<unsigned>(umad_get_pkey(s.buffer.data())));
    return ReceivedMad{.path = {.slid = ntohs(from->lid),
                                .dlid = static_cast<std::uint16_t>(s.lid | from->path_bits),
                                .sl = static_cast<std::uint8_t>(from->sl & 0xf),
                                .p_key = p_key,
                                .src_qp = ntohl(from->qpn)},
                       .octets = {mad, mad + size},
                       .is_own = umad_status(s.buffer.data()) != 0};
}

}  // namespace ipoib::fabric
