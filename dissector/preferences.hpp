// SPDX-License-Identifier: GPL-2.0-or-later
// What the user can set, in Edit > Preferences > Protocols > RFC4391 or with -o rfc4391.NAME:VALUE.
#pragma once

#include "dissector/epan.hpp"

namespace ipoib::dissector {

/// Which rules are shown when a packet breaks them.
enum class Strictness : int { must, should, all, notes };

struct Preferences {
    int strictness = static_cast<int>(Strictness::all);
    BoolPreference splits_addresses = true;   ///< link-layer addresses in the trees of ARP and ND
    BoolPreference knows_connections = true;  ///< IPoIB over reliable and unreliable connections (RFC 4755)
    const char* assume = "";                  ///< as `ipoib-conform check --assume`
    const char* sa_file = "";                 ///< as `ipoib-conform check --sa`
    const char* names_file = "";              ///< GUIDs and names: the node-name-map of OpenSM
    BoolPreference is_one_subnet = false;     ///< as `ipoib-conform check --together`, for the interfaces of a pcapng
};
extern Preferences preferences;

/// Registers them; `changed` is called when one has another value.
void register_preferences(int protocol, void (*changed)());

}  // namespace ipoib::dissector
