// SPDX-License-Identifier: GPL-2.0-or-later
// DUT.toml read and written. Every complaint names file and line; all of them are reported at once.
#include "conformance/bench/profile.hpp"

#include "conformance/bench/toml_section.hpp"
#include "reports/file.hpp"
#include "reports/toml_document.hpp"
#include "reports/toml_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace ipoib::conformance {
using reports::Complaints;
using reports::from_ascii_toml;
using reports::Loaded;

namespace {

constexpr std::size_t largest_file = std::size_t{1} << 20;

void read_profile(TomlSection& section, Profile& profile, Complaints& complaints) {
    std::string role = "host";
    section.one_of("role", role, {"host", "router"});
    profile.role = role == "router" ? Role::router : Role::host;
    section.texts("modes", profile.modes);
    for (const auto& mode : profile.modes)
        if (mode != "datagram" && mode != "connected") complaints.add(1, "modes may hold datagram and connected");
    // RFC 4755, 2: an interface in connected mode has the datagrams of RFC 4391, too.
    if (section.has("modes") && std::ranges::find(profile.modes, "datagram") == profile.modes.end())
        complaints.add(1, "modes must hold datagram, which every IPoIB interface has");
    section.number("mtu", profile.mtu, 1280, 65520);
    section.one_of("guid_format", profile.guid_format, {"eui64", "modified-eui64", "unknown"});
    section.one_of("interface_id", profile.interface_id, {"guid", "stable-opaque", "lid"});
    section.seconds("send_only_leave", profile.send_only_leave);
    section.number("multicast_limit", profile.multicast_limit, 0, 0xffff);
}

void read_control(TomlSection& section, Profile& profile, Complaints& complaints) {
    section.text("adapter", profile.adapter);
    section.text("interface", profile.interface);
    section.networks("addresses", profile.addresses);
    section.networks("tester", profile.tester);
    for (const auto& of_tester : profile.tester)
        for (const auto& of_dut : profile.addresses)
            if (of_tester.address == of_dut.address)
                complaints.add(1, "addresses and tester both have " + text(of_dut.address));
}

Profile read(const toml::table& document, Complaints& complaints) {
    Profile profile;
    for (const auto& [key, value] : document) {
        const auto name = from_ascii_toml(key.str());
        const auto* table = value.as_table();
        if (!table || (name != "dut" && name != "profile" && name != "control")) {
            complaints.add(TomlSection::line_of(value),
                           "unknown key \"" + name + "\"; there are [dut], [profile] and [control]" +
                               did_you_mean(name, std::array{"dut", "profile", "control"}, TomlSection::itself));
            continue;
        }
        TomlSection section{*table, name, complaints};
        if (name == "dut") section.all({"name", "vendor", "model", "os", "driver", "firmware"}, profile.dut);
        if (name == "profile") read_profile(section, profile, complaints);
        if (name == "control") read_control(section, profile, complaints);
        section.refuse_unknown();
    }
    return profile;
}

std::string list_of(const std::vector<std::string>& values) {
    std::string list = "[";
    for (const auto& value : values) list += (list.size() > 1 ? ", " : "") + reports::toml_string(value);
    return list + ']';
}

std::string list_of(const std::vector<wire::IpNetwork>& networks) {
    std::vector<std::string> values;
    values.reserve(networks.size());
    for (const auto& network : networks) values.push_back(wire::text(network));
    return list_of(values);
}

const std::vector<std::string> usual_modes{"datagram"};
constexpr std::size_t usual_mtu = 2044;

/// A key, or how it would be stated.
std::string stated(bool is_stated, std::string_view key, const std::string& value) {
    return (is_stated ? "" : "# ") + std::string(key) + value;
}

}  // namespace

Loaded<Profile> parse_profile(std::string_view text, std::string_view source) {
    Complaints complaints{source};
    Profile profile;
    if (const auto document = reports::toml_document(text, source, complaints)) profile = read(*document, complaints);
    if (auto wrong = complaints.text(); !wrong.empty()) return Loaded<Profile>::failed(std::move(wrong));
    return Loaded<Profile>::of(std::move(profile));
}

Loaded<Profile> load_profile(const std::filesystem::path& path) {
    const auto text = reports::read_whole(path, largest_file);
    if (!text) return Loaded<Profile>::failed(text.error);
    return parse_profile(*text, path.string());
}

std::vector<std::pair<std::string, std::string>> claims_of(const Profile& profile) {
    const auto stated_or = [](bool is_stated, std::string value) {
        return is_stated ? std::move(value) : "not stated";
    };
    std::string modes;
    for (const auto& mode : profile.modes) modes += (modes.empty() ? "" : ", ") + mode;
    const auto leave = profile.send_only_leave.count();
    return {{"role", profile.role == Role::router ? "IP multicast router" : "host"},
            {"modes", stated_or(!modes.empty(), modes)},
            {"IP MTU", stated_or(profile.mtu != 0, std::to_string(profile.mtu))},
            {"port GUIDs", stated_or(profile.guid_format != "unknown", profile.guid_format)},
            {"IPv6 interface identifier", stated_or(!profile.interface_id.empty(), profile.interface_id)},
            {"send-only membership ends", leave == 0 ? "never" : "after " + std::to_string(leave) + " s"},
            {"multicast groups", stated_or(profile.multicast_limit != 0, std::to_string(profile.multicast_limit))}};
}

std::string to_toml(const Profile& profile) {
    std::string text = "# What the device under test is. Facts go into every report.\n[dut]\n";
    for (const auto& [key, value] : profile.dut) text += key + " = " + reports::toml_string(value) + '\n';
    text += "\n[profile]\n# \"host\", or \"router\": an IP multicast router by RFC 4391, 11\nrole = ";
    text += profile.role == Role::router ? "\"router\"\n" : "\"host\"\n";
    text += "# transports it speaks: \"datagram\" (RFC 4391), \"connected\" (RFC 4755)\n" +
            stated(!profile.modes.empty(), "modes = ", list_of(profile.modes.empty() ? usual_modes : profile.modes));
    text += "\n# octets of an IP packet, as it is configured\n" +
            stated(profile.mtu != 0, "mtu = ", std::to_string(profile.mtu == 0 ? usual_mtu : profile.mtu));
    text +=
        "\n# how its port GUIDs are made, as the vendor states: \"eui64\", \"modified-eui64\" or \"unknown\"\n"
        "guid_format = " +
        reports::toml_string(profile.guid_format);
    text +=
        "\n# what its IPv6 interface identifier is made of: \"guid\", \"stable-opaque\" (RFC 8064) or \"lid\"\n" +
        stated(!profile.interface_id.empty(),
               "interface_id = ", reports::toml_string(profile.interface_id.empty() ? "guid" : profile.interface_id));
    constexpr std::chrono::seconds usual_leave{60};
    const bool leaves = profile.send_only_leave.count() != 0;
    text +=
        "\n# a send-only membership ends after so long without traffic; not stated: never\n" +
        stated(leaves, "send_only_leave = ",
               reports::toml_string(std::to_string((leaves ? profile.send_only_leave : usual_leave).count()) + "s"));
    text +=
        "\n# groups it can be a member of; 0: not stated\nmulticast_limit = " + std::to_string(profile.multicast_limit);
    text += "\n\n[control]\n";
    if (profile.adapter.empty())
        text += "# the adapter that controls it: --dut \"exec:ADAPTER\"\n# adapter = \"./adapter.py\"\n";
    else
        text += "adapter = " + reports::toml_string(profile.adapter) + '\n';
    if (!profile.interface.empty()) text += "interface = " + reports::toml_string(profile.interface) + '\n';
    text += "# its addresses, and those that the tester takes beside them\naddresses = " + list_of(profile.addresses);
    return text + "\ntester = " + list_of(profile.tester) + '\n';
}

}  // namespace ipoib::conformance
