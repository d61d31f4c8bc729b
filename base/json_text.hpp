// SPDX-License-Identifier: GPL-2.0-or-later
// JSON as it is written to a file or a terminal. Whoever reads it gets the same text back, but nothing in it is obeyed
// by a terminal or seen by nobody.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace ipoib {

/// A JSON document with every character escaped that `printable` would show: "\u009b", beyond 16 bits as two.
[[nodiscard]] std::string printable_json(std::string json);

/// A value in lines, each level so many blanks further; what is no UTF-8 in it is replaced.
template <class Json>
[[nodiscard]] std::string json_text(const Json& value, int indent = 1) {
    return printable_json(value.dump(indent, ' ', false, Json::error_handler_t::replace));
}

/// Writes a document of any size piece by piece, as json_text() would write all of it: the pieces are whole lines.
class JsonWriter {
public:
    using Sink = std::function<void(std::string)>;
    explicit JsonWriter(Sink sink) : sink_(std::move(sink)) {}

    /// Within an object each has a name, within an array none.
    void begin_object(std::string_view name = {}) { begin(name, '{', '}'); }
    void begin_array(std::string_view name = {}) { begin(name, '[', ']'); }
    template <class Json>
    void add(const Json& value, std::string_view name = {}) {
        add_text(json_text(value), name);
    }
    /// Ends what was begun last. With the outermost the document ends, too.
    void end();

private:
    struct Level {
        char end;
        bool is_empty = true;
    };
    void begin(std::string_view name, char open, char close);
    void next(std::string_view name);
    void add_text(std::string_view text, std::string_view name);
    void break_line();

    Sink sink_;
    std::string text_;
    std::vector<Level> levels_;
};

}  // namespace ipoib
