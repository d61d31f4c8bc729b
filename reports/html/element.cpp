// SPDX-License-Identifier: GPL-2.0-or-later
// The tree, and how HTML5 writes it: WHATWG HTML, 13.1.2 and 13.3.
#include "reports/html/element.hpp"

#include <algorithm>
#include <array>

#include "base/one_line.hpp"
#include "base/utf8.hpp"

namespace ipoib::reports::html {
namespace {

constexpr std::size_t longest_text = 2000;

template <std::size_t Size>
bool is_one_of(const std::array<std::string_view, Size>& tags, std::string_view tag) {
    return std::ranges::find(tags, tag) != tags.end();
}

/// Of HTML's, those that the page uses.
bool is_void(std::string_view tag) {
    return is_one_of(std::array<std::string_view, 4>{"br", "input", "meta", "link"}, tag);
}

/// Shapes are elements of SVG, which close themselves when they are empty.
bool is_shape(std::string_view tag) {
    return is_one_of(std::array<std::string_view, 4>{"rect", "line", "path", "circle"}, tag);
}

bool is_raw(std::string_view tag) { return tag == "style" || tag == "script"; }

/// After which a line of the source may end: no blank is seen there.
bool ends_line(std::string_view tag) {
    static constexpr std::array<std::string_view, 34> tags{
        "html", "head",    "body",    "meta",  "title",   "style",   "script", "header", "nav",
        "main", "section", "article", "form",  "details", "summary", "div",    "h1",     "h2",
        "h3",   "h4",      "p",       "ul",    "li",      "dl",      "dd",     "table",  "tr",
        "pre",  "svg",     "g",       "label", "thead",   "tbody",   "output"};
    return is_one_of(tags, tag);
}

std::string_view entity_of(char c) {
    switch (c) {
        case '&':
            return "&amp;";
        case '<':
            return "&lt;";
        case '>':
            return "&gt;";
        case '"':
            return "&quot;";
        case '\'':
            return "&#39;";
        default:
            return {};
    }
}

void escape(std::string_view text, std::string& out) {
    while (!text.empty()) {
        const auto end = std::min(text.find_first_of("&<>\"'"), text.size());
        out += text.substr(0, end);
        if (end == text.size()) return;
        out += entity_of(text[end]);
        text.remove_prefix(end + 1);
    }
}

void print(const pugi::xml_node& node, std::string& out) {
    const std::string_view tag = node.name();
    out += '<';
    out += tag;
    for (const auto& attribute : node.attributes()) {
        out += ' ';
        out += attribute.name();
        out += "=\"";
        escape(attribute.value(), out);
        out += '"';
    }
    if (is_void(tag) || (is_shape(tag) && !node.first_child())) {
        out += "/>";
    } else {
        out += '>';
        for (const auto& child : node.children()) {
            if (child.type() == pugi::node_element)
                print(child, out);
            else if (is_raw(tag))
                out += child.value();
            else
                escape(child.value(), out);
        }
        out += "</";
        out += tag;
        out += '>';
    }
    if (ends_line(tag)) out += '\n';
}

void append_text(pugi::xml_node node, const std::string& text) {
    if (!text.empty()) node.append_child(pugi::node_pcdata).set_value(text.c_str());
}

}  // namespace

std::string plain(std::string_view text) { return one_line(text, longest_text); }

Element Element::add(const char* tag, std::initializer_list<Attribute> attributes) {
    Element child{node_.append_child(tag)};
    for (const auto& [name, value] : attributes) child.whole(name, plain(value));
    return child;
}

Element& Element::text(std::string_view text) {
    append_text(node_, plain(text));
    return *this;
}

Element& Element::lines(std::string_view text) {
    append_text(node_, clipped(printable(text), longest_text));
    return *this;
}

Element& Element::verbatim(std::string_view text) {
    append_text(node_, printable(text));
    return *this;
}

Element& Element::literal(std::string_view text) {
    append_text(node_, std::string(text));
    return *this;
}

Element& Element::whole(const char* name, const std::string& value) {
    node_.append_attribute(name).set_value(value.c_str());
    return *this;
}

bool Element::has_child_with_id(const std::string& id) const {
    return !node_.find_child_by_attribute("id", id.c_str()).empty();
}

std::string Page::text() const {
    std::string out = "<!DOCTYPE html>\n";
    print(document_.document_element(), out);
    return out;
}

}  // namespace ipoib::reports::html
