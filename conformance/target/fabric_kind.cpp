// SPDX-License-Identifier: GPL-2.0-or-later
// Finding the kind that words name, and telling of all kinds.
#include "conformance/target/fabric_kind.hpp"

#include <algorithm>
#include <chrono>
#include <vector>

namespace ipoib::conformance {
namespace {

/// What stands before the colon.
std::string_view scheme_of(std::string_view text) { return text.substr(0, text.find(':')); }

/// "a, b or c".
std::string list_of(const std::vector<std::string>& items, std::string_view last) {
    std::string text;
    for (std::size_t i = 0; i < items.size(); ++i) {
        if (i > 0) text += i + 1 == items.size() ? last : ", ";
        text += items[i];
    }
    return text;
}

}  // namespace

bool FabricForm::takes(std::string_view text) const noexcept {
    const auto fixed = syntax.substr(0, syntax.find_first_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ"));
    if (has_usual_port && text == scheme_of(syntax)) return true;
    return fixed.size() == syntax.size() ? text == fixed : text.starts_with(fixed);
}

std::string_view Opening::words() const noexcept {
    const auto colon = fabric.find(':');
    return colon == std::string_view::npos ? std::string_view{} : fabric.substr(colon + 1);
}

std::string Opening::named() const {
    return std::string(option) + ' ' + std::string(fabric.substr(0, fabric.find(':'))) + ':';
}

fabric::Duration Opening::patience(fabric::Duration usual) const noexcept {
    return std::chrono::duration_cast<fabric::Duration>(usual * timeout_scale);
}

bool FabricKind::opens(const FabricForm& form, FabricUse use) const noexcept {
    return form.use == use && (use != FabricUse::audit || is_ours() || look);
}

bool FabricKind::has(FabricUse use) const noexcept {
    return std::ranges::any_of(forms, [&](const FabricForm& form) { return opens(form, use); });
}

bool FabricKind::takes(std::string_view text, FabricUse use) const noexcept {
    return std::ranges::any_of(forms, [&](const FabricForm& form) { return opens(form, use) && form.takes(text); });
}

const FabricKind* FabricKinds::find(std::string_view text, FabricUse use) const noexcept {
    const auto found = std::ranges::find_if(all_, [&](const FabricKind* kind) { return kind->takes(text, use); });
    return found == all_.end() ? nullptr : *found;
}

const FabricKind* FabricKinds::with_scheme_of(std::string_view text) const noexcept {
    const auto found = std::ranges::find(all_, scheme_of(text), &FabricKind::scheme);
    return found == all_.end() ? nullptr : *found;
}

fabric::Impact FabricKinds::usual_impact(std::string_view text) const noexcept {
    const auto* kind = find(text, FabricUse::run);
    return kind ? kind->usual_impact : fabric::Impact::fabric;
}

std::string FabricKinds::help(FabricUse use) const {
    std::vector<const FabricKind*> kinds{all_.begin(), all_.end()};
    // What people ask about is told before what it can be tried on.
    if (use == FabricUse::audit) std::ranges::stable_sort(kinds, std::ranges::greater{}, &FabricKind::owner);
    std::vector<FabricForm> forms;
    for (const auto* kind : kinds)
        std::ranges::copy_if(kind->forms, std::back_inserter(forms),
                             [&](auto& form) { return kind->opens(form, use); });
    std::string text;
    for (std::size_t i = 0; i < forms.size(); ++i) {
        text += forms[i].syntax;
        const bool is_next_alike = i + 1 < forms.size() && forms[i + 1].what == forms[i].what;
        if (!is_next_alike) text += " (" + std::string(forms[i].what) + ")";
        if (i + 1 < forms.size()) text += is_next_alike ? " or " : ", ";
    }
    return text;
}

std::string FabricKinds::help_on_hosts() const {
    std::string text;
    for (const auto* kind : all_)
        if (!kind->hosts.empty()) text += "; on " + std::string(kind->scheme) + ": " + std::string(kind->hosts);
    return text;
}

std::string FabricKinds::schemes(FabricUse use, fabric::Impact usual) const {
    std::vector<std::string> schemes;
    for (const auto* kind : all_)
        if (kind->usual_impact == usual && kind->has(use)) schemes.emplace_back(kind->scheme);
    return list_of(schemes, " and ");
}

std::string FabricKinds::forms(FabricUse use) const {
    std::vector<std::string> forms;
    for (const auto* kind : all_)
        for (const auto& form : kind->forms)
            if (kind->opens(form, use)) forms.emplace_back(form.syntax.substr(0, form.syntax.find('[')));
    return list_of(forms, " or ");
}

}  // namespace ipoib::conformance
