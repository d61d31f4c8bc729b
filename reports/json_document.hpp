// SPDX-License-Identifier: GPL-2.0-or-later
// A JSON document that may come from anyone and be large: an object whose long lists are read an entry at a time, as a
// tree of all of it would take many times the memory of its text.
#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "reports/json_node.hpp"
#include "reports/loaded.hpp"

namespace ipoib::reports {

/// The text is no JSON, or there is more of something than a document may have.
struct Unreadable {
    std::string what;
};

class JsonDocument {
public:
    /// Reads all but the lists of the text, which must outlive the document. `lists` are the members of the object that
    /// are read by `entries`. Syntax, depth, breadth and the number of values are checked here and there. An error says
    /// what is wrong, without a place.
    [[nodiscard]] static Loaded<JsonDocument> of(std::string_view text, std::span<const std::string_view> lists);

    /// All members but the lists. Throws `Wrong` when the document is no object.
    [[nodiscard]] Node head() const;

    /// Calls `each` with one entry of the list after the other; not at all when there is no such member. Throws `Wrong`
    /// when it is no list, and `Unreadable` with what `of` would say.
    void entries(std::string_view list, const std::function<void(const Node&)>& each) const;

private:
    JsonDocument() = default;
    void read_head(std::span<const std::string_view> lists);

    std::string_view text_;
    Json head_;
    std::map<std::string, std::string_view, std::less<>> lists_;  ///< the text of each that is there
    mutable std::size_t values_left_ = 0;                         ///< that the document may hold beside those read
};

}  // namespace ipoib::reports
