// SPDX-License-Identifier: GPL-2.0-or-later
#include "dissector/expert.hpp"

#include "dissector/fields.hpp"
#include "dissector/preferences.hpp"

#include <deque>
#include <string>
#include <vector>

namespace ipoib::dissector {
using requirements::Strength;

namespace {

Strength strength_of(const rules::Rule& rule) { return rule.weight.value_or(rule.checks[0]->strength); }

int severity_of(const rules::Rule& rule) {
    switch (strength_of(rule)) {
        case Strength::must:
            return PI_ERROR;
        case Strength::should:
            return PI_WARN;
        case Strength::may:
            break;
    }
    return PI_NOTE;
}

/// No stronger than the text: "MUST" takes a keyword of RFC 2119 in capitals.
const char* level_of(const rules::Rule& rule) {
    switch (strength_of(rule)) {
        case Strength::must:
            for (const auto* requirement : rule.checks)
                if (requirement && requirement->has_keyword()) return "MUST";
            return "STATED";
        case Strength::should:
            return "SHOULD";
        case Strength::may:
            break;
    }
    return "MAY";
}

/// "RULE-RFC4391-6-02" is rfc4391.rule.rfc4391-6-02.
std::string filter_name(std::string_view id) {
    constexpr std::string_view prefix = "RULE-";
    std::string name = "rfc4391.rule.";
    for (const char c : id.substr(id.starts_with(prefix) ? prefix.size() : 0))
        name += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    return name;
}

/// In the order of rules::all(), and one more for what a rule notes. Wireshark keeps pointers into them.
std::vector<expert_field>& expert_fields() {
    static auto* the = new std::vector<expert_field>;
    return *the;
}
expert_field trouble_expert = EI_INIT, note_expert = EI_INIT, suspicion_expert = EI_INIT;

expert_field& expert_of(const rules::Rule& rule) {
    return expert_fields()[static_cast<std::size_t>(&rule - rules::all().data())];
}

/// The innermost item that stands for exactly these octets of the frame.
proto_node* item_at(proto_node* tree, int offset, int length) {
    proto_node* best = nullptr;
    for (auto* node = tree->first_child; node; node = node->next) {
        const auto* field = node->finfo;
        const bool is_it = field && field->hfinfo && field->hfinfo->type != FT_PROTOCOL && field->start == offset &&
                           field->length == length && field->ds_tvb == tvb_get_ds_tvb(shown.tvb) &&
                           !(field->flags & FI_GENERATED);
        if (is_it) best = node;
        if (auto* inner = item_at(node, offset, length)) best = inner;
    }
    return best;
}

void add_expert_info(packet_info* pinfo, proto_tree* tree, const ExpertInfo& info) {
    const auto& rule = *info.rule;
    auto* own = own_tree(tree);
    if (info.is_note) {
        if (own) proto_item_set_generated(proto_tree_add_string(own, hf.note, shown.tvb, 0, 0, info.text));
        expert_add_info_format(pinfo, shown.item, &note_expert, "%s: %s", rule.checks[0]->id.data(), info.text);
        return;
    }
    if (info.is_suspicion) {
        // Wireshark cuts the message of an expert info; the field has all of it.
        if (own) proto_item_set_generated(proto_tree_add_string(own, hf.suspicion, shown.tvb, 0, 0, info.text));
        expert_add_info_format(pinfo, shown.item, &suspicion_expert, "Suspicion: %s: %s: %s", rule.checks[0]->id.data(),
                               rule.title.data(), info.text);
        return;
    }
    const auto offset = static_cast<int>(info.offset), length = static_cast<int>(info.length);
    proto_item* at = shown.item;
    if (is_wanted(tree)) {
        const auto in_source = tvb_raw_offset(shown.tvb) + offset;
        auto* field = length ? item_at(tree, in_source, length) : nullptr;
        proto_item* first = nullptr;
        for (const auto* requirement : rule.checks) {
            if (!requirement) continue;
            auto* item = proto_tree_add_string_format_value(own, hf.requirement, shown.tvb, offset, length,
                                                            requirement->id.data(), "%s, %s", requirement->id.data(),
                                                            requirement->statement.data());
            proto_item_set_generated(item);
            // What is wrong comes before what is known.
            if (shown.lead) proto_tree_move_item(own, shown.lead, item);
            shown.lead = item;
            if (!first) first = item;
        }
        auto* detail = proto_item_add_subtree(first, ett.requirement);
        proto_item_set_generated(proto_tree_add_string(detail, hf.level, shown.tvb, offset, length, level_of(rule)));
        proto_item_set_generated(proto_tree_add_string(detail, hf.rule, shown.tvb, offset, length, rule.id.data()));
        at = field ? field : first;
    }
    expert_add_info_format(pinfo, at, &expert_of(rule), "%s: %s: %s", rule.checks[0]->id.data(), rule.title.data(),
                           info.text);
}

}  // namespace

void register_expert_infos(int protocol) {
    static auto& texts = *new std::deque<std::string>;
    static auto& infos = *new std::vector<ei_register_info>;
    auto& all = expert_fields();
    all.assign(rules::all().size(), EI_INIT);
    for (std::size_t i = 0; i < all.size(); ++i) {
        const auto& rule = rules::all()[i];
        infos.push_back({&all[i],
                         {texts.emplace_back(filter_name(rule.id)).c_str(), PI_PROTOCOL, severity_of(rule),
                          texts.emplace_back(rule.title).c_str(), EXPFILL}});
    }
    infos.push_back(
        {&suspicion_expert,
         {"rfc4391.suspicion", PI_PROTOCOL, PI_NOTE, "Not decided, for a doubt that the text names", EXPFILL}});
    infos.push_back({&note_expert, {"rfc4391.noted", PI_PROTOCOL, PI_CHAT, "Noted by a rule", EXPFILL}});
    infos.push_back(
        {&trouble_expert, {"rfc4391.trouble", PI_UNDECODED, PI_WARN, "The capture is not judged whole", EXPFILL}});
    expert_register_field_array(expert_register_protocol(protocol), infos.data(), static_cast<int>(infos.size()));
}

bool is_shown(const ExpertInfo& info) {
    const auto strictness = static_cast<Strictness>(preferences.strictness);
    if (info.rule->needs & wire::parts(wire::Part::connected) && !preferences.knows_connections) return false;
    if (info.is_note) return strictness == Strictness::notes;
    switch (strength_of(*info.rule)) {
        case Strength::must:
            return true;
        case Strength::should:
            return strictness != Strictness::must;
        case Strength::may:
            break;
    }
    return strictness == Strictness::all || strictness == Strictness::notes;
}

void add_trouble(packet_info* pinfo, proto_tree* tree) {
    const char* trouble = trouble_at(shown.number);
    if (!*trouble) return;
    own_tree(tree);
    expert_add_info_format(pinfo, shown.item, &trouble_expert, "%s", trouble);
}

void add_expert_infos(packet_info* pinfo, proto_tree* tree, const ExpertInfo* first) {
    // What is added meanwhile is listed under this protocol, not under the one whose dissector has called ours.
    const char* const caller = pinfo->current_proto;
    pinfo->current_proto = protocol_name;
    add_trouble(pinfo, tree);
    int count = 0;
    const char* requirement = "";
    for (const auto* info = first; info; info = info->next) {
        if (!is_shown(*info)) continue;
        add_expert_info(pinfo, tree, *info);
        if (!info->is_note && !info->is_suspicion && count++ == 0) requirement = info->rule->checks[0]->id.data();
    }
    pinfo->current_proto = caller;
    if (count == 0) return;
    if (shown.item) proto_item_append_text(shown.item, ", %d %s not kept", count, count == 1 ? "rule" : "rules");
    col_append_fstr(pinfo->cinfo, COL_INFO, count == 1 ? " [%s not kept]" : " [%s and %d more not kept]", requirement,
                    count - 1);
}

}  // namespace ipoib::dissector
