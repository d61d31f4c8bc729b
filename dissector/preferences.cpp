// SPDX-License-Identifier: GPL-2.0-or-later
#include "dissector/preferences.hpp"

namespace ipoib::dissector {

Preferences preferences;

namespace {

constexpr enum_val_t strictness_values[] = {
    {"must", "Binding statements (MUST, or stated)", static_cast<int>(Strictness::must)},
    {"should", "And recommendations (SHOULD)", static_cast<int>(Strictness::should)},
    {"all", "All rules", static_cast<int>(Strictness::all)},
    {"notes", "All rules, and what they note", static_cast<int>(Strictness::notes)},
    {nullptr, nullptr, 0},
};

}  // namespace

void register_preferences(int protocol, void (*changed)()) {
    auto* module = prefs_register_protocol(protocol, changed);
    prefs_register_enum_preference(module, "strictness", "Show violations of", "Which rules become expert infos",
                                   &preferences.strictness, strictness_values, FALSE);
    prefs_register_bool_preference(module, "split_addresses", "Split link-layer addresses in ARP and ND",
                                   "Show flags, QPN and GID below the address fields of ARP, RARP and Neighbor "
                                   "Discovery; otherwise in a tree of their own",
                                   &preferences.splits_addresses);
    prefs_register_bool_preference(module, "connected_mode", "Connected mode (RFC 4755)",
                                   "Take IP packets over reliable and unreliable connections for IPoIB",
                                   &preferences.knows_connections);
    prefs_register_string_preference(module, "assume", "Assume",
                                     "What the capture does not show of a link's broadcast group, as for ipoib-conform "
                                     "check --assume: pkey=0x8001,qkey=0x0b1b,mtu=2048,...",
                                     &preferences.assume);
    prefs_register_filename_preference(module, "sa_file", "Records of the SA",
                                       "Text of saquery -g, saquery -m or saquery MCMR, or JSON", &preferences.sa_file,
                                       FALSE);
    prefs_register_filename_preference(module, "names_file", "Names of ports",
                                       "Lines of a port GUID and a name, as the node-name-map of OpenSM has them; "
                                       "otherwise what nodes call themselves in the capture and in the SA's records",
                                       &preferences.names_file, FALSE);
    prefs_register_bool_preference(module, "one_subnet", "All interfaces show one subnet",
                                   "Otherwise each interface of a pcapng is a subnet of its own",
                                   &preferences.is_one_subnet);
}

}  // namespace ipoib::dissector
