// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/dut/linux/host_state.hpp"

#include "conformance/dut/linux/facts.hpp"
#include "conformance/dut/linux/ip_tool.hpp"
#include "conformance/dut/linux/state_text.hpp"

#include <fcntl.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <memory>
#include <stdexcept>

namespace ipoib::host {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t most_text = std::size_t{16} << 20;  // of one file

std::string now() {
    const auto time = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
    std::tm parts{};
    ::gmtime_r(&time, &parts);
    std::array<char, 32> text{};
    return {text.data(), std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts)};
}

std::string host_name() {
    utsname names{};
    return ::uname(&names) == 0 ? names.nodename : std::string{};
}

std::vector<std::string> entries_of(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (auto entry = fs::directory_iterator(folder, error); !error && entry != fs::directory_iterator();
         entry.increment(error))
        names.push_back(entry->path().filename().string());
    std::ranges::sort(names);
    return names;
}

std::optional<std::uint64_t> number_in(std::string_view text) {
    const bool is_hex = text.starts_with("0x");
    if (is_hex) text.remove_prefix(2);
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, is_hex ? 16 : 10);
    return error == std::errc{} && end == text.data() + text.size() ? std::optional{value} : std::nullopt;
}

/// Reads, and keeps in mind what could not be read.
class Reader {
public:
    /// All of a file but the last line's end; absent where it cannot be read, which is told.
    std::optional<std::string> file(const fs::path& path) {
        auto text = quietly(path);
        if (!text) tell(path.string(), error_);
        return text;
    }
    /// The same of a file that need not be there.
    std::optional<std::string> file_if_there(const fs::path& path) {
        auto text = quietly(path);
        if (!text && error_ != ENOENT) tell(path.string(), error_);
        return text;
    }
    /// What a program says.
    std::optional<std::string> output_of(const Arguments& words) {
        constexpr milliseconds limit{10'000};
        auto outcome = run(words, limit);
        if (outcome.is_ok()) return std::move(outcome.output);
        while (outcome.errors.ends_with('\n')) outcome.errors.pop_back();
        std::string command;
        for (const auto& word : words) command += (command.empty() ? "" : " ") + word;
        unread_.push_back(
            {{"what", command}, {"why", outcome.errors.empty() ? "it cannot be run, or fails" : outcome.errors}});
        return {};
    }
    void tell(const std::string& what, const std::string& why) { unread_.push_back({{"what", what}, {"why", why}}); }
    void tell(const std::string& what, int error) {
        auto why = error_text(error);
        if ((error == EACCES || error == EPERM) && ::geteuid() != 0) why += "; root may read it";
        tell(what, why);
    }
    [[nodiscard]] Json unread() && { return std::move(unread_); }

private:
    std::optional<std::string> quietly(const fs::path& path) {
        const Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
        std::string text;
        std::array<char, 65536> block{};
        for (;;) {
            const auto size = file ? ::read(file.value(), block.data(), block.size()) : -1;
            if (size < 0) {
                error_ = errno;
                return {};
            }
            if (size == 0) break;
            if (text.size() < most_text) text.append(block.data(), static_cast<std::size_t>(size));
        }
        while (text.ends_with('\n')) text.pop_back();
        return text;
    }

    Json unread_ = Json::array();
    int error_ = 0;
};

/// Files of one number each, by name.
Json numbers_in(Reader& reader, const fs::path& folder) {
    auto all = Json::object();
    for (const auto& name : entries_of(folder))
        if (const auto text = reader.file_if_there(folder / name))
            if (const auto number = number_in(*text)) all[name] = *number;
    return all;
}

struct PortPlace {
    fs::path device, port;
};

/// The port that has the GID of a link-layer address; else, of an address with another GID, the interface's own device.
std::optional<PortPlace> port_of(Reader& reader, const fs::path& interface, const std::string& guid) {
    std::optional<PortPlace> first;
    for (const auto& device : entries_of(interface / "device/infiniband"))
        for (const auto& port : entries_of("/sys/class/infiniband/" + device + "/ports")) {
            const PortPlace place{"/sys/class/infiniband/" + device,
                                  "/sys/class/infiniband/" + device + "/ports/" + port};
            auto gid = reader.file_if_there(place.port / "gids/0").value_or("");
            std::erase(gid, ':');
            if (gid.size() == 32 && "0x" + gid.substr(16) == guid) return place;
            if (!first) first = place;
        }
    return first;
}

Json port_state(Reader& reader, const PortPlace& place) {
    Json port{{"number", number_in(place.port.filename().string()).value_or(0)}};
    for (const auto* name : {"state", "phys_state", "rate", "link_layer"})
        if (const auto text = reader.file(place.port / name)) port[name] = *text;
    for (const auto& [file, name] : {std::pair{"lid", "lid"}, std::pair{"lid_mask_count", "lmc"},
                                     std::pair{"sm_lid", "sm_lid"}, std::pair{"sm_sl", "sm_sl"}})
        if (const auto text = reader.file(place.port / file))
            if (const auto number = number_in(*text)) port[name] = *number;
    if (const auto gid = reader.file(place.port / "gids/0")) port["gid"] = *gid;
    auto p_keys = Json::array();
    for (const auto& entry : entries_of(place.port / "pkeys"))
        if (const auto text = reader.file(place.port / "pkeys" / entry))
            if (const auto p_key = number_in(*text); p_key.value_or(0) != 0) p_keys.push_back(*text);
    if (fs::exists(place.port / "pkeys")) port["p_keys"] = std::move(p_keys);
    port["counters"] = numbers_in(reader, place.port / "counters");
    port["hw_counters"] = numbers_in(reader, place.port / "hw_counters");
    return port;
}

Json addresses_in(const InterfaceState& state) {
    auto addresses = Json::array();
    for (const auto& one : state.addresses)
        addresses.push_back({{"address", one.text},
                             {"state", one.is_duplicate   ? "duplicate"
                                       : one.is_tentative ? "tentative"
                                                          : "valid"}});
    return addresses;
}

/// The greater one of the interface's setting and that of all, which is how the kernel takes them.
void add_arp_settings(Reader& reader, const std::string& name, Json& to) {
    auto settings = Json::object();
    for (const auto* setting : {"arp_ignore", "arp_announce", "arp_filter", "rp_filter"}) {
        std::uint64_t most = 0;
        bool is_read = false;
        for (const auto* where : {"all", name.c_str()})
            if (const auto text = reader.file_if_there(fs::path{"/proc/sys/net/ipv4/conf"} / where / setting))
                if (const auto value = number_in(*text)) {
                    most = std::max(most, *value);
                    is_read = true;
                }
        if (is_read) settings[setting] = most;
    }
    to["settings"] = std::move(settings);
}

void add_driver_state(Reader& reader, const std::string& name, Json& to) {
    const fs::path debug{"/sys/kernel/debug/ipoib"};
    if (const auto text = reader.file(debug / (name + "_mcg"))) {
        auto groups = Json::array();
        for (const auto& one : parse_driver_groups(*text))
            groups.push_back({{"mgid", one.mgid},
                              {"complete", one.is_complete},
                              {"send_only", one.is_send_only},
                              {"queued", one.queued}});
        to["mcg"] = std::move(groups);
    }
    if (const auto text = reader.file(debug / (name + "_path"))) {
        auto paths = Json::array();
        for (const auto& one : parse_driver_paths(*text)) {
            Json path{{"gid", one.gid}, {"complete", one.is_complete}};
            if (one.is_complete) {
                path["dlid"] = one.dlid;
                path["sl"] = one.sl;
                path["rate"] = one.rate;
            }
            paths.push_back(std::move(path));
        }
        to["paths"] = std::move(paths);
    }
}

void add_groups(Reader& reader, const std::string& name, Json& to) {
    const auto igmp = reader.file("/proc/net/igmp");
    const auto igmp6 = reader.file_if_there("/proc/net/igmp6");
    auto groups = Json::array();
    for (const auto& group : parse_igmp(igmp.value_or(""), name)) groups.push_back(group);
    for (const auto& group : parse_igmp6(igmp6.value_or(""), name)) groups.push_back(group);
    if (igmp) to["groups"] = std::move(groups);
    if (const auto links = reader.file("/proc/net/dev_mcast")) to["link_groups"] = parse_dev_mcast(*links, name);
}

void add_neighbours(Reader& reader, const std::string& name, Json& to) {
    const auto output = reader.output_of({"ip", "-j", "neigh", "show", "dev", name});
    if (!output) return;
    auto neighbours = Json::array();
    for (const auto& one : parse_neighbours(*output))
        neighbours.push_back({{"address", one.address}, {"link_address", one.link_address}, {"state", one.state}});
    to["neighbours"] = std::move(neighbours);
}

/// What `ip` tells, which is of this network namespace for sure.
void add_ip_state(Reader& reader, const std::string& name, Json& to) {
    const auto output = reader.output_of({"ip", "-j", "addr", "show", "dev", name});
    const auto state = output ? parse_interface(*output, name) : std::nullopt;
    if (!state) return;
    if (!state->link_address.empty()) to["link_address"] = state->link_address;
    if (!state->broadcast.empty()) to["broadcast"] = state->broadcast;
    to["mtu"] = state->mtu;
    to["up"] = state->is_up;
    to["running"] = state->is_running;
    to["addresses"] = addresses_in(*state);
}

/// What files under /sys tell, which may be mounted for another network namespace: only of the same interface.
void add_files(Reader& reader, const std::string& name, unsigned index, Json& to) {
    const auto folder = fs::path{"/sys/class/net"} / name;
    const auto there = reader.file_if_there(folder / "ifindex");
    if (!there || number_in(*there) != index) {
        reader.tell(folder.string(), "/sys is of another network namespace");
        return;
    }
    for (const auto& [file, member] : {std::pair{"address", "link_address"}, std::pair{"broadcast", "broadcast"}})
        if (const auto text = reader.file(folder / file); text && !to.contains(member)) to[member] = *text;
    if (!to.contains("mtu"))
        if (const auto mtu = number_in(reader.file(folder / "mtu").value_or(""))) to["mtu"] = *mtu;
    for (const auto& [file, member] :
         {std::pair{"mode", "mode"}, std::pair{"pkey", "p_key"}, std::pair{"parent", "parent"},
          std::pair{"umcast", "umcast"}, std::pair{"operstate", "operstate"}})
        if (const auto text = reader.file_if_there(folder / file)) to[member] = *text;
    std::error_code error;
    if (const auto master = fs::read_symlink(folder / "master", error); !error) {
        to["master"] = master.filename().string();
        if (const auto kind = parse_device_type(reader.file_if_there(folder / "master/uevent").value_or(""));
            !kind.empty())
            to["master_kind"] = kind;
    }
    add_driver_state(reader, name, to);
    to["counters"] = numbers_in(reader, folder / "statistics");
    const auto guid = guid_in(to.value("link_address", std::string{}));
    if (const auto place = port_of(reader, folder, guid)) to["port"] = port_state(reader, *place);
}

Json interface_state(Reader& reader, const std::string& name, unsigned index) {
    Json all{{"name", name}};
    add_ip_state(reader, name, all);
    add_files(reader, name, index, all);
    add_groups(reader, name, all);
    add_neighbours(reader, name, all);
    add_arp_settings(reader, name, all);
    all["facts"] = facts_of(name, all.value("link_address", std::string{}));
    return all;
}

bool is_of_ipoib(const char* name) {
    const Descriptor socket{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
    ifreq request{};
    std::string_view{name}.copy(request.ifr_name, IFNAMSIZ - 1);
    return socket && ::ioctl(socket.value(), SIOCGIFHWADDR, &request) == 0 &&
           request.ifr_hwaddr.sa_family == ARPHRD_INFINIBAND;
}

}  // namespace

std::vector<std::string> ipoib_interfaces() {
    std::vector<std::string> names;
    const std::unique_ptr<struct if_nameindex, void (*)(struct if_nameindex*)> all(::if_nameindex(),
                                                                                   &::if_freenameindex);
    for (const auto* one = all.get(); one && one->if_index != 0; ++one)
        if (is_of_ipoib(one->if_name)) names.emplace_back(one->if_name);
    std::ranges::sort(names);
    return names;
}

Json state_of(const std::vector<std::string>& interfaces) {
    Json state{{"format", "ipoib-host-state/1"}, {"host", host_name()}, {"time", now()}, {"kernel", kernel_release()}};
    Reader reader;
    auto all = Json::array();
    for (const auto& name : interfaces) {
        const auto index = ::if_nametoindex(name.c_str());
        if (index == 0) throw std::runtime_error("there is no interface " + name);
        all.push_back(interface_state(reader, name, index));
    }
    state["interfaces"] = std::move(all);
    state["unread"] = std::move(reader).unread();
    return state;
}

}  // namespace ipoib::host
