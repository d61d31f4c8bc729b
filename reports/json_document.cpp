// SPDX-License-Identifier: GPL-2.0-or-later
#include "reports/json_document.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

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

/// What a document, and one part of it that stands in memory as a tree, may hold.
struct Allowance {
    std::size_t values = most_values, together = most_together;
};

/// Builds the tree of one value, as long as it keeps the bounds.
class Tree : public nlohmann::json_sax<Json> {
public:
    /// `depth`: how many objects and lists it lies in.
    Tree(Allowance& left, std::size_t depth) : left_(left), depth_(depth) {}

    Json root;
    std::string error;

    bool null() override { return add(nullptr); }
    bool boolean(bool value) override { return add(value); }
    bool number_integer(number_integer_t value) override { return add(value); }
    bool number_unsigned(number_unsigned_t value) override { return add(value); }
    bool number_float(number_float_t value, const string_t&) override { return add(value); }
    bool string(string_t& text) override {
        if (text.size() > longest_string) return refuse(fmt::format("a string of {} octets", text.size()));
        return add(std::move(text));
    }
    bool binary(binary_t&) override { return false; }
    bool start_object(std::size_t) override { return enter(Json::object()); }
    bool start_array(std::size_t) override { return enter(Json::array()); }
    bool end_object() override { return leave(); }
    bool end_array() override { return leave(); }
    bool key(string_t& name) override {
        if (open_.back()->size() == most_members)
            return refuse(
                fmt::format("an object with more than {} members, at \"{}\"", most_members, clipped(name, 40)));
        member_ = &(*open_.back())[std::move(name)];
        return true;
    }
    bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception&) override { return false; }

private:
    template <class Value>
    bool add(Value&& value) {
        return count() && (static_cast<void>(place(std::forward<Value>(value))), true);
    }
    Json& place(Json value) {
        if (open_.empty()) return root = std::move(value);
        if (!open_.back()->is_array()) return *member_ = std::move(value);
        open_.back()->push_back(std::move(value));
        return open_.back()->back();
    }
    bool count() {
        if (left_.values == 0) return refuse(fmt::format("more than {} values", most_values));
        --left_.values;
        if (left_.together == 0) return refuse(fmt::format("more than {} values in one entry", most_together));
        --left_.together;
        return true;
    }
    bool enter(Json empty) {
        if (depth_ + open_.size() == deepest) return refuse(fmt::format("nested more than {} deep", deepest));
        if (!count()) return false;
        open_.push_back(&place(std::move(empty)));
        return true;
    }
    bool leave() {
        open_.pop_back();
        return true;
    }
    bool refuse(std::string why) {
        error = std::move(why);
        return false;
    }

    Allowance& left_;
    std::size_t depth_;
    std::vector<Json*> open_;  ///< those that are not closed; the last one grows, so that none of them moves
    Json* member_ = nullptr;
};

/// What a parser says of a whole text that is no JSON, with line and column.
std::string complaint(std::string_view text) {
    try {
        [[maybe_unused]] const auto whole =
            Json::parse(text, [](int depth, Json::parse_event_t, Json&) { return depth == 0; });
    } catch (const Json::exception& why) {
        const std::string_view all = why.what();
        const auto begin = all.find("] ");
        return std::string(begin == std::string_view::npos ? all : all.substr(begin + 2));
    }
    return "this is no JSON";
}

/// Walks over the values of a text. What lies in a value is not looked at: who reads it finds out.
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
    [[nodiscard]] bool is_at_end() { return next() == '\0' && left_.empty(); }
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
        for (auto at = left_.find('"', begin + 1); at < left_.size(); at = left_.find('"', at + 1)) {
            // An even number of backslashes are pairs.
            auto before = at;
            while (left_[before - 1] == '\\') --before;
            if ((at - before) % 2 == 0) return at + 1;
        }
        return left_.size();
    }
    [[nodiscard]] std::size_t after_nested() const {
        std::size_t depth = 0;
        for (std::size_t at = 0; at < left_.size();) {
            const char octet = left_[at];
            if (octet == '"') {
                at = after_string(at);
                continue;
            }
            ++at;
            if (octet == '{' || octet == '[') ++depth;
            if ((octet == '}' || octet == ']') && --depth == 0) return at;
        }
        return left_.size();
    }

    std::string_view left_;
};

/// The tree of a value of `text`. Throws Unreadable.
Json tree_of(std::string_view value, std::string_view text, Allowance& left, std::size_t depth) {
    Tree tree(left, depth);
    if (!Json::sax_parse(value, &tree)) throw Unreadable{tree.error.empty() ? complaint(text) : tree.error};
    return std::move(tree.root);
}

}  // namespace

Loaded<JsonDocument> JsonDocument::of(std::string_view text, std::span<const std::string_view> lists) {
    JsonDocument document;
    document.text_ = text;
    try {
        document.read_head(lists);
    } catch (const Unreadable& unreadable) {
        return Loaded<JsonDocument>::failed(unreadable.what);
    }
    return Loaded<JsonDocument>::of(std::move(document));
}

void JsonDocument::read_head(std::span<const std::string_view> lists) {
    const auto require = [&](bool is_so) {
        if (!is_so) throw Unreadable{complaint(text_)};
    };
    Allowance left;
    Cursor cursor(text_);
    if (!cursor.take('{')) {
        head_ = tree_of(text_, text_, left, 0);
        return;
    }
    head_ = Json::object();
    std::size_t members = 0;
    for (bool is_last = cursor.take('}'); !is_last;) {
        require(cursor.next() == '"');
        Allowance of_name;
        const auto name = tree_of(cursor.value(), text_, of_name, 1).get<std::string>();
        if (++members > most_members)
            throw Unreadable{
                fmt::format("an object with more than {} members, at \"{}\"", most_members, clipped(name, 40))};
        require(cursor.take(':'));
        const auto value = cursor.value();
        if (is_list(lists, name))
            lists_[name] = value;
        else
            head_[name] = tree_of(value, text_, left, 1);
        is_last = cursor.take('}');
        require(is_last || cursor.take(','));
    }
    require(cursor.is_at_end());
    values_left_ = left.values;
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
    Allowance left{.values = values_left_, .together = most_together};
    Cursor cursor(found->second);
    if (!cursor.take('[')) {
        const auto value = tree_of(found->second, text_, left, 1);
        Node(value, place).items([](const Node&) {});
        return;
    }
    bool is_last = cursor.take(']');
    for (std::size_t i = 0; !is_last; ++i) {
        left.together = most_together;
        const auto entry = tree_of(cursor.value(), text_, left, 2);
        each(Node(entry, fmt::format("{}/{}", place, i)));
        is_last = cursor.take(']');
        if (!is_last && !cursor.take(',')) throw Unreadable{complaint(text_)};
    }
    values_left_ = left.values;
    if (!cursor.is_at_end()) throw Unreadable{complaint(text_)};
}

}  // namespace ipoib::reports
