// SPDX-License-Identifier: GPL-2.0-or-later
// What Wireshark looks for in a plugin.
#define WS_BUILD_DLL
#include "dissector/epan.hpp"
#include "dissector/expert.hpp"
#include "dissector/fields.hpp"
#include "dissector/frame.hpp"
#include "dissector/layers.hpp"
#include "dissector/preferences.hpp"
#include "dissector/statistics.hpp"

extern "C" {
// A const object is seen from outside only when it was declared extern before.
extern WS_DLL_PUBLIC_DEF const char plugin_version[];
extern WS_DLL_PUBLIC_DEF const int plugin_want_major;
extern WS_DLL_PUBLIC_DEF const int plugin_want_minor;
WS_DLL_PUBLIC void plugin_register(void);
WS_DLL_PUBLIC uint32_t plugin_describe(void);

const char plugin_version[] = IPOIB_VERSION;
const int plugin_want_major = WIRESHARK_VERSION_MAJOR;
const int plugin_want_minor = WIRESHARK_VERSION_MINOR;
}

namespace {

using namespace ipoib::dissector;

void register_protocol() {
    register_fields();
    register_expert_infos(hf.protocol);
    register_preferences(hf.protocol, [] {});
    register_init_routine(forget_frames);
    register_cleanup_routine(forget_frames);
    register_postseq_cleanup_routine([] { end_first_pass(); });
}

void hand_off() {
    take_over_layers();
    register_statistics();
}

}  // namespace

void plugin_register(void) {
    static proto_plugin plugin;
    plugin.register_protoinfo = register_protocol;
    plugin.register_handoff = hand_off;
    proto_register_plugin(&plugin);
}

/// WS_PLUGIN_DESC_DISSECTOR, asked for since 4.2.
uint32_t plugin_describe(void) { return 1; }
