// SPDX-License-Identifier: GPL-2.0-or-later
// Every header has a row, and every row leads somewhere: decoding comes to the header, and its names are its own.
#include "protocol/wire/registry_text.hpp"

#include "catch2.hpp"
#include "protocol/wire/decode_management.hpp"
#include "protocol/wire/mad_names.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>

using namespace ipoib::wire;

namespace {

/// A MAD as a packet, and where its data begins by its class.
struct MadPacket {
    MadPacket(MgmtClass mgmt_class, std::uint16_t attribute_id) {
        const MutableOctets all{octets};
        set_field(all, Mad::mgmt_class, mgmt_class);
        set_field(all, Mad::method, Method::get_resp);
        set_field(all, Mad::attribute_id, attribute_id);
    }
    /// The headers shown of it.
    [[nodiscard]] std::vector<const HeaderSpec*> shown() const {
        Packet packet;
        packet.octets = packet.payload = octets;
        detail::decode_management(packet, packet.octets);
        CHECK_FALSE(packet.stop);
        std::vector<const HeaderSpec*> found;
        for_each_shown(packet, [&](const HeaderSpec& header, const std::uint8_t*) { found.push_back(&header); });
        return found;
    }
    std::vector<std::uint8_t> octets = std::vector<std::uint8_t>(mad_size);
};

bool holds(const std::vector<const HeaderSpec*>& headers, const HeaderSpec& wanted) {
    return std::ranges::find(headers, &wanted) != headers.end();
}

template <class Visit>
void for_each_way(Way::Kind kind, Visit&& visit) {
    for (const auto& row : registry())
        for (const auto& way : row.ways)
            if (way.kind == kind) visit(row, way);
}

/// The keys that the headers of a folder declare.
std::multiset<std::string> declared_keys(const std::filesystem::path& folder) {
    std::multiset<std::string> keys;
    const std::regex key(R"re(std::string_view key = "([^"]+)")re");
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
        if (entry.path().extension() != ".hpp") continue;
        std::ifstream file(entry.path());
        const std::string text{std::istreambuf_iterator<char>(file), {}};
        for (std::sregex_iterator at(text.begin(), text.end(), key), end; at != end; ++at) keys.insert((*at)[1]);
    }
    return keys;
}

}  // namespace

TEST_CASE("Registry: every header that a file declares has one row") {
    std::multiset<std::string> rows;
    for (const auto& row : registry()) rows.insert(std::string(row.header->key));
    auto declared = declared_keys(std::filesystem::path(IPOIB_SOURCE_DIR) / "protocol");
    for (const auto* folder : {"fabric/node", "fabric/simulated"})
        declared.merge(declared_keys(std::filesystem::path(IPOIB_SOURCE_DIR) / folder));
    CHECK(declared.size() > 50);
    for (const auto& key : declared) {
        CAPTURE(key);
        CHECK(rows.count(key) == 1);
        CHECK(declared.count(key) == 1);
    }
    CHECK(rows.size() == declared.size());
}

TEST_CASE("Registry: every row has a section, a way, and names of its own") {
    std::set<std::pair<std::string_view, std::string_view>> fields;
    for (const auto& row : registry()) {
        CAPTURE(row.header->key);
        CHECK_FALSE(row.section.empty());
        CHECK(row.ways[0].kind != Way::Kind::none);
        CHECK(row_of(*row.header) == &row);
        CHECK(header_named(row.header->key) == row.header);
        for (const auto& field : row.header->fields) {
            CAPTURE(field.name);
            CHECK(fields.emplace(row.header->name, field.name).second);
            CHECK(field_named(row.header->name, field.name).field == &field);
        }
    }
}

TEST_CASE("Registry: an attribute has the name that its number has, and decoding comes to it") {
    for_each_way(Way::Kind::attribute, [](const RegistryRow& row, const Way& way) {
        CAPTURE(row.header->name);
        CHECK(name_of(attribute_names(way.mgmt_class), way.attribute_id) == row.header->name);
        CHECK(attribute_header(way.mgmt_class, way.attribute_id) == row.header);
        CHECK(holds(MadPacket(way.mgmt_class, way.attribute_id).shown(), *row.header));
        if (way.mgmt_class == MgmtClass::subn_lid_routed)
            CHECK(holds(MadPacket(MgmtClass::subn_directed_route, way.attribute_id).shown(), *row.header));
    });
    CHECK_FALSE(attribute_header(MgmtClass::subn_adm, 0x7777));
    CHECK_FALSE(attribute_header(MgmtClass::performance, 0x0001));
}

TEST_CASE("Registry: explain tells of every header its section, ways and fields, and of every field its names") {
    std::set<std::string> filters;
    for (const auto& row : registry()) {
        CAPTURE(row.header->key);
        const auto text = explanation(row);
        CHECK_THAT(text, ContainsSubstring(std::string(row.section)));
        CHECK_THAT(text, ContainsSubstring("found "));
        const auto names = filters_of(*row.header);
        REQUIRE(names.size() == row.header->fields.size());
        for (std::size_t i = 0; i < names.size(); ++i) {
            const auto& field = row.header->fields[i];
            CAPTURE(field.name);
            CHECK(filters.insert(names[i]).second);
            CHECK_THAT(text, ContainsSubstring("  " + std::string(field.name)));
            const auto told = explanation(row, field);
            const bool is_by_plugin = row.shown == RegistryRow::Shown::by_plugin;
            CHECK((told.find("by " + names[i] + '\n') != std::string::npos) == is_by_plugin);
            for (const auto& named : field.names) CHECK_THAT(told, ContainsSubstring(std::string(named.name)));
        }
    }
    CHECK(explanation(*row_of(*header_named("P_KeyTableRecord"))) ==
          "P_KeyTableRecord: P_Key Table Record (IBTA Vol 1, 15.2.5.11), 72 octets\n"
          "  found in SubnAdm, attribute 0x0033\n"
          "  set by ipoib-gen --set p_key_table_record.FIELD=VALUE\n"
          "  filtered in Wireshark by rfc4391.p_key_table_record.*: explain P_KeyTableRecord.FIELD tells the filter\n"
          "  LID                     octet 0       16 bits   Of the port\n"
          "  BlockNum                octet 2       16 bits   Of 32 P_Keys\n"
          "  PortNum                 octet 4       8 bits    Of a switch\n"
          "  Reserved                octet 5       24 bits\n"
          "  P_KeyTable              octet 8       512 bits  Zero: no entry\n");
}
