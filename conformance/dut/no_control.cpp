// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/dut/no_control.hpp"

#include "base/json_object.hpp"

namespace ipoib::conformance {

using nlohmann::json;

DutControlReply NoControl::ask(const std::string& request, fabric::Duration) {
    const auto asked = object_in(request).value_or(json::object());
    const auto member = [&](const char* name) { return asked.contains(name) ? asked[name] : json(); };
    json answer{{"id", member("id")}};
    if (member("do") == "hello")
        answer.update({{"ok", true}, {"protocol", control_version}, {"name", "none"}, {"can", json::array()}});
    else
        answer.update({{"error", "unsupported"}, {"message", "no control"}});
    return {.line = json_line(answer), .error = {}};
}

}  // namespace ipoib::conformance
