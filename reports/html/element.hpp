// SPDX-License-Identifier: GPL-2.0-or-later
// A page as a tree of elements: what is text cannot become markup, whatever it holds.
#pragma once

#include <initializer_list>
#include <pugixml.hpp>
#include <string>
#include <string_view>

namespace ipoib::reports::html {

/// Text from outside as the page shows it: one line, nothing that a browser obeys. Very long text is cut.
[[nodiscard]] std::string plain(std::string_view text);

/// Of an element. The value is made `plain`.
struct Attribute {
    const char* name;
    std::string_view value;
};

/// A handle on an element of the tree; copies are the same element. All but `add` return it for more.
class Element {
public:
    explicit Element(pugi::xml_node node) : node_(node) {}

    /// A new last child.
    Element add(const char* tag, std::initializer_list<Attribute> attributes = {});
    /// Text from outside, made `plain`.
    Element& text(std::string_view text);
    /// The same with its line feeds.
    Element& lines(std::string_view text);
    /// The whole, with all blanks: a command that is copied.
    Element& verbatim(std::string_view text);
    /// Words of the page itself, as they are.
    Element& literal(std::string_view text);
    /// An attribute whose value is kept whole: a link, data.
    Element& whole(const char* name, const std::string& value);

    [[nodiscard]] bool has_child_with_id(const std::string& id) const;

private:
    pugi::xml_node node_;
};

/// A page that has only its root yet, <html>.
class Page {
public:
    [[nodiscard]] Element root() { return Element(document_.document_element()); }
    Page() { document_.append_child("html"); }

    /// HTML5 that is well-formed XML, too: void elements are closed by "/>", no other element of HTML is; style and
    /// script are raw text.
    [[nodiscard]] std::string text() const;

private:
    pugi::xml_document document_;
};

}  // namespace ipoib::reports::html
