// SPDX-License-Identifier: GPL-2.0-or-later
// OpenSM is started and stopped by /lab/sm, so that boot, shell and tests speak of the same process.
#include "lab/guest/fabric_control/fabric.hpp"

#include "conformance/dut/linux/changed_files.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace ipoib::lab {
namespace {

namespace fs = std::filesystem;
using host::fail;
using host::milliseconds;
using host::read_text;
using host::run;

constexpr const char* partitions_file = "/etc/opensm/partitions.conf";
constexpr const char* options_file = "/etc/opensm/opensm.conf";
constexpr const char* log_file = "/var/log/opensm.log";
constexpr const char* cache = "/var/cache/opensm";
constexpr const char* debug = "/sys/kernel/debug/vib/";
constexpr const char* dut_port = "/sys/class/infiniband/vib0/ports/1/";
constexpr milliseconds sm_limit{20000}, tool_limit{5000};

void write(const std::string& path, const std::string& text) {
    std::ofstream file(path);
    file << text << std::flush;
    if (!file) fail(path + " cannot be written");
}

void manager(const host::Arguments& words) {
    host::Arguments all{"/lab/sm"};
    all.insert(all.end(), words.begin(), words.end());
    if (const auto outcome = run(all, sm_limit); !outcome.is_ok()) fail("OpenSM: " + outcome.errors);
}

std::string hex(std::uint64_t value, int count) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string text = "0x";
    for (int shift = 4 * (count - 1); shift >= 0; shift -= 4) text += digits[value >> shift & 15];
    return text;
}
std::string hex16(std::uint16_t value) { return hex(value, 4); }

/// The options of boot; the service level of a partition is OpenSM's to give only where it manages quality of service.
std::string options_with(const std::string& options, bool has_qos, std::uint64_t prefix) {
    std::istringstream lines(options);
    std::string text;
    for (std::string line; std::getline(lines, line);)
        if (!line.starts_with("qos ") && !line.starts_with("subnet_prefix ")) text += line + '\n';
    return text + "subnet_prefix " + hex(prefix, 16) + (has_qos ? "\nqos TRUE\n" : "\nqos FALSE\n");
}

bool is_active(const std::string& port) { return read_text(port + "state").value_or("").starts_with("4:"); }

unsigned mtu_capability() {
    const auto outcome = run({"smpquery", "-C", "vib0", "-D", "portinfo", "0"}, tool_limit);
    const auto at = outcome.output.find("MtuCap:");
    const auto digit = at == std::string::npos ? at : outcome.output.find_first_of("0123456789", at);
    if (digit == std::string::npos) fail("the port's MTU cannot be told");
    return static_cast<unsigned>(std::strtoul(outcome.output.c_str() + digit, nullptr, 10));
}

}  // namespace

Fabric::Fabric(const host::Interruption& interruption)
    : interruption_(interruption),
      boot_partitions_(read_text(partitions_file).value_or("")),
      boot_options_(read_text(options_file).value_or("")) {
    partitions_.scenario = find_scenario("default");
}

Fabric::~Fabric() try {
    for (const auto& cable : faulty_) command("fault " + cable + " off");
    for (const auto& cable : cut_) command("link " + cable + " up");
    if (!is_partitioned_) return;
    manager({"stop"});
    write(partitions_file, boot_partitions_ + '\n');
    write(options_file, boot_options_ + '\n');
    manager({"start"});
} catch (...) {  // the guest is going down
}

void Fabric::command(const std::string& line) const {
    if (const auto reason = host::write_text(std::string(debug) + "control", line); !reason.empty()) fail(reason);
}

void Fabric::cut(const std::string& cable) {
    command("link " + cable + " down");
    cut_.insert(cable);
}

void Fabric::mend(const std::string& cable) {
    command("link " + cable + " up");
    cut_.erase(cable);
}

void Fabric::configure() const {
    write(options_file, options_with(boot_options_, partitions_.scenario->sl != 0, prefix_));
    write(partitions_file, text_of(partitions_));
}

void Fabric::start_afresh(const std::string& lids) {
    manager({"stop"});
    // LIDs and memberships that the last one knew.
    std::error_code error;
    for (const auto& file : fs::directory_iterator(cache, error)) fs::remove(file.path(), error);
    if (!lids.empty()) write(std::string(cache) + "/guid2lid", lids);
    fs::rename(log_file, std::string(log_file) + ".old", error);
    configure();
    if (is_manager_cut_) mend(manager_cable());
    is_manager_cut_ = false;
    manager({"start"});
}

void Fabric::wait_for_subnet(milliseconds patience) const {
    const auto is_set_up = [&] {
        return read_text(log_file).value_or("").find("SUBNET UP") != std::string::npos && is_active(dut_port) &&
               read_text(std::string(dut_port) + "pkeys/0") == hex16(partitions_.scenario->p_key);
    };
    if (!host::wait_until(interruption_, patience, is_set_up)) fail("OpenSM does not bring the DUT's port up");
}

void Fabric::look_for_ports() {
    const auto device = read_text("/run/lab/sm.device").value_or("vib1");
    const auto outcome = run({"ibnetdiscover", "-C", device}, tool_limit);
    const auto links = parse_links(read_text(std::string(debug) + "links").value_or(""));
    for (const auto& port : parse_topology(outcome.output, links)) {
        // A node may come back with another GUID.
        std::erase_if(known_, [&](const auto& entry) { return entry.second.cable == port.cable; });
        known_[port.guid] = port;
    }
}

EndPort Fabric::port_of(const fabric::PortName& name) {
    const bool has_guid = name.guid != 0;
    const auto find = [&] {
        return std::find_if(known_.begin(), known_.end(), [&](const auto& entry) {
            return has_guid ? entry.first == name.guid : entry.second.lid == name.lid;
        });
    };
    auto found = has_guid ? find() : known_.end();  // LIDs may have changed
    if (found == known_.end()) {
        look_for_ports();
        found = find();
    }
    if (found == known_.end()) fail(has_guid ? "no port has this GUID" : "no port has this LID");
    return found->second;
}

std::string Fabric::manager_cable() const {
    auto device = read_text("/run/lab/sm.device").value_or("vib1");
    return device.replace(0, 3, "hca");
}

void Fabric::apply(const fabric::SetScenario& change) {
    const auto* scenario = find_scenario(change.name);
    if (!scenario) fail("no scenario has this name");
    constexpr unsigned octets_of_mtu_5 = 4096;
    if (scenario->port_mtu && mtu_capability() < octets_of_mtu_5)
        host::refuse_as_unsupported("the ports of this guest cannot do 4096 octets: boot it with lab.mtu=5,5");
    partitions_ = {.scenario = scenario};
    is_partitioned_ = true;
    start_afresh();
    wait_for_subnet(std::max(patience_, milliseconds{9000}));
    if (!scenario->not_set.empty()) answer_["not_set"] = scenario->not_set;
}

void Fabric::apply(const fabric::SetManager& change) {
    if (!change.runs) {
        // Its port is unplugged: what is sent to it meanwhile must not wait for it in a queue.
        if (manager_cable() == "hca0") host::refuse_as_unsupported("the manager is on the DUT's port");
        cut(manager_cable());
        is_manager_cut_ = true;
        return;
    }
    if (change.keeps_state) return resume_manager();
    if (change.takes_over) {
        is_partitioned_ = true;
        look_for_ports();
        start_afresh(lids_with(manager_guid(), next_lid()));
    } else {
        start_afresh();
    }
    wait_for_subnet(patience_);
}

void Fabric::resume_manager() {
    if (!is_manager_cut_) return;
    mend(manager_cable());
    is_manager_cut_ = false;
    manager({"reload"});
    const auto port = "/sys/class/infiniband/" + read_text("/run/lab/sm.device").value_or("vib1") + "/ports/1/";
    constexpr milliseconds patience{9000};
    if (!host::wait_until(interruption_, patience, [&] { return is_active(port); }))
        fail("the manager's port does not come up");
}

void Fabric::apply(const fabric::SetPort& change) {
    const auto port = port_of(change.port);
    if (!change.is_up) return cut(port.cable);
    mend(port.cable);
    // OpenSM hears of it by a trap of the switch. The nodes behind raw ports tell of their state themselves.
    const auto files = "/sys/class/infiniband/" + std::string(port.cable).replace(0, 3, "vib") + "/ports/1/";
    if (port.cable.starts_with("hca") && !host::wait_until(interruption_, patience_, [&] { return is_active(files); }))
        fail("the port does not come up");
}

void Fabric::wait_for_p_keys(const EndPort& port, std::uint16_t p_key, bool is_there) const {
    const auto holds = [&] {
        const auto outcome = run({"smpquery", "pkeys", std::to_string(port.lid)}, tool_limit);
        return (outcome.output.find(hex16(p_key)) != std::string::npos) == is_there && outcome.is_ok();
    };
    constexpr milliseconds patience{7000};
    if (!host::wait_until(interruption_, patience, holds)) fail("OpenSM does not change the port's table");
}

std::uint16_t Fabric::next_lid() const {
    std::uint16_t lid = 0;
    for (const auto& [guid, known] : known_) lid = std::max(lid, known.lid);
    return static_cast<std::uint16_t>(lid + 1);
}

std::string Fabric::lids_with(std::uint64_t moved, std::uint16_t lid) const {
    std::string lids;
    for (const auto& [guid, known] : known_) {
        const auto text = hex(guid == moved ? lid : known.lid, 4);
        lids.append(hex(guid, 16)).append(" ").append(text).append(" ").append(text).append("\n\n");
    }
    return lids;
}

std::uint64_t Fabric::manager_guid() const {
    for (const auto& [guid, known] : known_)
        if (known.cable == manager_cable()) return guid;
    fail("the manager's port is not known");
}

void Fabric::apply(const fabric::SetLid& change) {
    const auto port = port_of(change.port);
    look_for_ports();
    for (const auto& [guid, known] : known_)
        if (change.lid == known.lid && guid != port.guid) fail("another port has the LID");
    const auto lid = change.lid == 0 ? next_lid() : change.lid;
    start_afresh(lids_with(port.guid, lid));
    is_partitioned_ = true;
    wait_for_subnet(patience_);
    look_for_ports();
    if (known_[port.guid].lid != lid) fail("OpenSM does not change the port's LID");
}

void Fabric::apply(const fabric::SetPrefix& change) {
    prefix_ = change.prefix;
    is_partitioned_ = true;
    start_afresh();
    wait_for_subnet(patience_);
}

void Fabric::apply(const fabric::SetPKey& change) {
    if (change.index) host::refuse_as_unsupported("OpenSM chooses the places of P_Keys");
    constexpr std::uint16_t key_bits = 0x7fff;
    const bool adds = change.is_there;
    const auto p_key = change.p_key;
    if (p_key == 0) fail("0 is no P_Key");
    const auto port = port_of(change.port);
    auto changed = partitions_;
    look_for_ports();
    changed.ports.clear();
    for (const auto& [guid, known] : known_) changed.ports.push_back(guid);
    const auto base = static_cast<std::uint16_t>(p_key & key_bits);
    // Every port is a full member of the scenario's partitions, unless it is taken out of them.
    const bool is_full = base != p_key;
    if (adds)
        changed.additions[p_key].insert(port.guid);
    else
        changed.additions[p_key].erase(port.guid);
    if (is_full) adds ? void(changed.removals[base].erase(port.guid)) : void(changed.removals[base].insert(port.guid));
    partitions_ = std::move(changed);
    is_partitioned_ = true;
    configure();
    manager({"reload"});
    wait_for_p_keys(port, p_key, adds);
}

void Fabric::apply(const fabric::SetFaults& change) {
    constexpr double permille = 1000;
    constexpr fabric::Duration longest_delay = std::chrono::seconds{10};
    const auto port = port_of(change.port);
    const auto& faults = change.faults;
    if (faults.reordering > 0) host::refuse_as_unsupported("these cables keep the order of frames");
    if (faults.spares_management.value_or(false)) host::refuse_as_unsupported("these cables treat all frames alike");
    if (faults.delay > longest_delay) fail("these cables delay a frame by 10 s at most");
    std::vector<std::string> lines{"fault " + port.cable + " off"};
    const auto add = [&](const char* kind, double value) {
        if (value <= 0) return;
        const auto number = std::to_string(std::max(1L, std::lround(value)));
        for (const auto* const way : {" in ", " out "}) {
            auto line = "fault " + port.cable;
            line.append(way).append(kind).append(" ").append(number);
            lines.push_back(std::move(line));
        }
    };
    add("drop", faults.loss * permille);
    add("duplicate", faults.duplication * permille);
    add("corrupt", faults.corruption * permille);
    add("delay", std::chrono::duration<double, std::milli>(faults.delay).count());
    for (const auto& line : lines) command(line);
    lines.size() > 1 ? void(faulty_.insert(port.cable)) : void(faulty_.erase(port.cable));
}

void Fabric::apply(const fabric::Restore&) {
    for (const auto& cable : std::set<std::string>(faulty_)) {
        command("fault " + cable + " off");
        faulty_.erase(cable);
    }
    for (const auto& cable : std::set<std::string>(cut_))
        if (cable != manager_cable()) mend(cable);
    const bool has_changed_keys = !partitions_.additions.empty() || !partitions_.removals.empty();
    partitions_ = {.scenario = partitions_.scenario};
    if (has_changed_keys) configure();
    if (is_manager_cut_) return resume_manager();
    // A change may have ended between its stop and its start.
    manager({"start"});
    if (has_changed_keys) manager({"reload"});
}

host::Json Fabric::change(const host::Request& request) {
    answer_ = host::Json::object();
    patience_ = request.patience();
    try {
        std::visit([this](const auto& change) { apply(change); }, fabric::parse_change(request.line()));
    } catch (const fabric::ChangeRefused& refused) {
        throw host::Refusal{refused.is_unsupported, refused.what()};
    }
    return answer_;
}

host::Handlers Fabric::handlers() {
    host::Handlers all;
    for (const auto verb : fabric::change_verbs)
        all.emplace(verb, [this](const host::Request& request) { return change(request); });
    return all;
}

}  // namespace ipoib::lab
