// SPDX-License-Identifier: GPL-2.0-or-later
#include "reports/json_document.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include <fmt/format.h>

#include "base/utf8.hpp"

namespace ipoib::reports {
namespace {

constexpr std::size_t deepest = 16;
/// An object keeps the order of its members, so each one added is looked for among all before it.
constexpr std::size_t most_members = 1000;
constexpr std::size_t most_values = 20'000'000;
/// Of an entry of a list, and of the head: as many as stand in memory as a tree.
constexpr std::size_t most_together = 500'000;
constexpr std::size_t longest_string = std::size_t{16} << 20U;

bool is_list(std::span<const std::string_view> lists, std::string_view name) {
    return std::find(lists.begin(), lists.end(), name) != lists.end();
}

/// A first pass over the text that builds nothing: syntax, and bounds on what is built later.
class Bounds : public nlohmann::json_sax<Json> {
public:
    explicit Bounds(std::span<const std::string_view> lists) : lists_(lists) {}

    std::string error;

    bool null() override { return count(); }
    bool boolean(bool) override { return count(); }
    bool number_integer(number_integer_t) override { return count(); }
    bool number_unsigned(number_unsigned_t) override { return count(); }
    bool number_float(number_float_t, const string_t&) override { return count(); }
    bool string(string_t& text) override {
        if (text.size() > longest_string) return refuse(fmt::format("a string of {} octets", text.size()));
        return count();
    }
    bool binary(binary_t&) override { return count(); }
    bool start_object(std::size_t) override { return enter(); }
    bool start_array(std::size_t) override { return enter(); }
    bool end_object() override { return leave(); }
    bool end_array() override { return leave(); }
    bool key(string_t& name) override {
        if (depth_ == 1) is_in_list_ = is_list(lists_, name);
        if (++members_[depth_] <= most_members) return true;
        return refuse(fmt::format("an object with more than {} members, at \"{}\"", most_members, clipped(name, 40)));
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& why) override {
        const std::string_view text = why.what();
        const auto begin = text.find("] ");
        return refuse(std::string(begin == std::string_view::npos ? text : text.substr(begin + 2)));
    }

private:
    /// A value inside a list's entry counts there, any other one in the head.
    bool count() {
        if (is_in_list_ && depth_ <= 2) in_entry_ = 0;
        if (++values_ > most_values) return refuse(fmt::format("more than {} values", most_values));
        return ++(is_in_list_ ? in_entry_ : in_head_) <= most_together ||
               refuse(fmt::format("more than {} values in one entry", most_together));
    }
    bool enter() {
        if (depth_ == deepest) return refuse(fmt::format("nested more than {} deep", deepest));
        const bool is_fine = count();
        members_[++depth_] = 0;
        return is_fine;
    }
    bool leave() {
        --depth_;
        return true;
    }
    bool refuse(std::string why) {
        error = std::move(why);
        return false;
    }

    std::span<const std::string_view> lists_;
    bool is_in_list_ = false;
    std::size_t depth_ = 0, values_ = 0, in_entry_ = 0, in_head_ = 0;
    std::array<std::size_t, deepest + 1> members_{};
};

/// Walks over the values of a text that is known to be JSON.
class Cursor {
public:
    explicit Cursor(std::string_view text) : left_(text) {
        if (left_.starts_with("\xef\xbb\xbf")) left_.remove_prefix(3);
    }

    /// The next octet that is no white space; nothing is taken. NUL at the end.
    [[nodiscard]] char next() {
        left_.remove_prefix(std::min(left_.find_first_not_of(" \t\r\n"), left_.size()));
        return left_.empty() ? '\0' : left_.front();
    }
    /// Takes the next octet when it is this one.
    bool take(char wanted) {
        if (next() != wanted) return false;
        left_.remove_prefix(1);
        return true;
    }
    /// Takes a value.
    std::string_view value() {
        std::size_t size = 0;
        const char first = next();
        if (first == '"')
            size = after_string(0);
        else if (first == '{' || first == '[')
            size = after_nested();
        else
            size = std::min(left_.find_first_of(",]} \t\r\n"), left_.size());
        const auto text = left_.substr(0, size);
        left_.remove_prefix(size);
        return text;
    }

private:
    [[nodiscard]] std::size_t after_string(std::size_t begin) const {
        auto at = left_.find_first_of("\"\\", begin + 1);
        while (at < left_.size() && left_[at] == '\\') at = left_.find_first_of("\"\\", at + 2);
        return std::min(at, left_.size() - 1) + 1;
    }
    [[nodiscard]] std::size_t after_nested() const {
        std::size_t depth = 0;
        for (std::size_t at = 0; (at = left_.find_first_of("\"{}[]", at)) < left_.size();) {
            if (left_[at] == '"') {
                at = after_string(at);
                continue;
            }
            depth += left_[at] == '{' || left_[at] == '[' ? 1 : std::size_t(-1);
            ++at;
            if (depth == 0) return at;
        }
        return left_.size();
    }

    std::string_view left_;
};

}  // namespace

Loaded<JsonDocument> JsonDocument::of(std::string_view text, std::span<const std::string_view> lists) {
    Bounds bounds(lists);
    if (!Json::sax_parse(text, &bounds)) return Loaded<JsonDocument>::failed(bounds.error);
    JsonDocument document;
    Cursor cursor(text);
    if (!cursor.take('{')) {
        document.head_ = Json::parse(text);
        return Loaded<JsonDocument>::of(std::move(document));
    }
    document.head_ = Json::object();
    while (cursor.next() == '"') {
        const auto name = Json::parse(cursor.value()).get<std::string>();
        cursor.take(':');
        const auto value = cursor.value();
        if (is_list(lists, name))
            document.lists_[name] = value;
        else
            document.head_[name] = Json::parse(value);
        cursor.take(',');
    }
    return Loaded<JsonDocument>::of(std::move(document));
}

Node JsonDocument::head() const {
    Node head(head_, "");
    if (!head.is_object()) head.member("", [](const Node&) {});
    return head;
}

void JsonDocument::entries(std::string_view list, const std::function<void(const Node&)>& each) const {
    const auto found = lists_.find(list);
    if (found == lists_.end()) return;
    const auto place = fmt::format("/{}", list);
    Cursor cursor(found->second);
    if (!cursor.take('[')) {
        // An object of any size is no list, whatever is in it.
        const auto value = cursor.next() == '{' ? Json::object() : Json::parse(found->second);
        Node(value, place).items([](const Node&) {});
        return;
    }
    for (std::size_t i = 0; cursor.next() != ']'; ++i) {
        const auto entry = Json::parse(cursor.value());
        each(Node(entry, fmt::format("{}/{}", place, i)));
        cursor.take(',');
    }
}

}  // namespace ipoib::reports
