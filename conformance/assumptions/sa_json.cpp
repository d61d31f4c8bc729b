// SPDX-License-Identifier: GPL-2.0-or-later
// A list of the SA's records as JSON. Read event by event: what a hostile file may build is bounded by what is kept.
#include "conformance/assumptions/sa_list.hpp"
#include "protocol/wire/text.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iterator>

namespace ipoib::assumptions {
namespace {

/// How far the parser has read. It looks one octet ahead of a number, so the last octet does not count as a line's end.
struct Position {
    std::size_t line = 1;
    bool is_after_line_feed = false;
};

/// The text, octet by octet, telling where.
class Octet {
public:
    using iterator_category = std::input_iterator_tag;
    using value_type = char;
    using difference_type = std::ptrdiff_t;
    using pointer = const char*;
    using reference = const char&;

    Octet(const char* at, Position& position) : at_(at), position_(&position) {}
    const char& operator*() const { return *at_; }
    Octet& operator++() {
        if (position_->is_after_line_feed) ++position_->line;
        position_->is_after_line_feed = *at_ == '\n';
        ++at_;
        return *this;
    }
    Octet operator++(int) {
        const auto before = *this;
        ++*this;
        return before;
    }
    friend bool operator==(const Octet& a, const Octet& b) { return a.at_ == b.at_; }

private:
    const char* at_;
    Position* position_;
};

enum class Type : std::uint8_t { number, string, boolean };

class Handler : public nlohmann::json_sax<nlohmann::json> {
public:
    Handler(Collector& into, const Position& position) : into_(into), position_(position) {}

    bool null() override {
        if (unknown_depth_ != 0) return true;
        if (!is_object()) refuse_shape();
        // As if the member were not there.
        if (is_known(key_)) (place_ == Place::member ? member_keys_ : group_keys_).pop_back();
        return true;
    }
    bool boolean(bool value) override { return scalar(value ? "true" : "false", Type::boolean); }
    bool number_integer(number_integer_t value) override { return scalar(std::to_string(value), Type::number); }
    bool number_unsigned(number_unsigned_t value) override { return scalar(std::to_string(value), Type::number); }
    bool number_float(number_float_t, const string_t& text) override { return scalar(text, Type::number); }
    bool string(string_t& text) override { return scalar(text, Type::string); }
    bool binary(binary_t&) override { return true; }

    bool start_array(std::size_t) override {
        if (unknown_depth_ != 0 || (is_object() && !is_known(key_)))
            ++unknown_depth_;
        else if (place_ == Place::document)
            place_ = Place::list;
        else if (place_ == Place::group && key_ == "members") {
            place_ = Place::members;
            record_.group.members_are_listed = true;
        } else
            refuse_shape();
        return true;
    }
    bool end_array() override {
        if (unknown_depth_ != 0)
            --unknown_depth_;
        else
            place_ = place_ == Place::members ? Place::group : Place::document;
        return true;
    }

    bool start_object(std::size_t) override {
        if (unknown_depth_ != 0 || (is_object() && !is_known(key_)))
            ++unknown_depth_;
        else if (place_ == Place::list)
            begin_group();
        else if (place_ == Place::members)
            begin_member();
        else
            refuse_shape();
        return true;
    }
    bool end_object() override {
        if (unknown_depth_ != 0)
            --unknown_depth_;
        else if (place_ == Place::member)
            end_member();
        else
            end_group();
        return true;
    }

    bool key(string_t& name) override {
        if (unknown_depth_ != 0) return true;
        constexpr std::size_t longest_known = 32;
        key_ = name.size() <= longest_known ? plain_name(name) : std::string();
        if (!is_known(key_)) return true;
        auto& seen = place_ == Place::member ? member_keys_ : group_keys_;
        for (const auto& other : seen)
            if (other == key_) refuse("\"" + key_ + "\" twice in one object");
        seen.push_back(key_);
        return true;
    }

    bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& why) override {
        std::string_view text = why.what();
        if (const auto begin = text.find("] "); begin != std::string_view::npos) text.remove_prefix(begin + 2);
        // "parse error at line 1, column 5: syntax error ...": the line is known here.
        constexpr std::string_view place = "parse error at line ";
        if (text.substr(0, place.size()) == place)
            if (const auto end = text.find(": "); end != std::string_view::npos) text.remove_prefix(end + 2);
        const auto quoted = shown(text.substr(0, 200));
        refuse("this is no JSON: " + quoted.substr(1, quoted.size() - 2));
    }

private:
    enum class Place : std::uint8_t { document, list, group, members, member };

    [[noreturn]] void refuse(const std::string& why) const { throw Wrong{position_.line, why}; }
    [[noreturn]] void refuse_shape() const {
        switch (place_) {
            case Place::document:
            case Place::list:
                refuse("expected is an array of groups, each of them an object");
            case Place::group:
                refuse(key_ == "members" ? "\"members\" is no array" : "\"" + key_ + "\" is no single value");
            case Place::members:
                refuse("each member is an object: {\"port_gid\": ..., \"join_state\": ...}");
            case Place::member:
                refuse("\"" + key_ + "\" is no single value");
        }
        refuse("not expected here");
    }

    [[nodiscard]] bool is_object() const { return place_ == Place::group || place_ == Place::member; }
    [[nodiscard]] bool is_known(std::string_view name) const {
        if (place_ == Place::member)
            return name == "portgid" || name == "joinstate" || name == "proxy" || name == "nodedescription";
        return name == "mgid" || name == "members" || parameter_named(name);
    }

    void begin_group() {
        place_ = Place::group;
        record_ = {};
        record_.line = position_.line;
        group_keys_.clear();
    }
    void end_group() {
        if (!has(group_keys_, "mgid")) refuse("a group without \"mgid\"");
        into_.add(std::move(record_));
        place_ = Place::list;
    }
    void begin_member() {
        if (record_.group.members.size() >= most_members)
            refuse("more than " + std::to_string(most_members) + " members");
        place_ = Place::member;
        member_ = {};
        member_keys_.clear();
    }
    void end_member() {
        for (const auto* name : {"port_gid", "join_state"})
            if (!has(member_keys_, plain_name(name))) refuse("a member without \"" + std::string(name) + "\"");
        record_.group.members.push_back(std::move(member_));
        place_ = Place::members;
    }
    static bool has(const std::vector<std::string>& keys, std::string_view name) {
        return std::find(keys.begin(), keys.end(), name) != keys.end();
    }

    bool scalar(const std::string& text, Type type) {
        if (unknown_depth_ != 0) return true;
        if (!is_object() || (place_ == Place::group && key_ == "members")) refuse_shape();
        if (!is_known(key_)) return true;
        if (place_ == Place::member)
            take_of_member(text, type);
        else
            take_of_group(text, type);
        return true;
    }

    [[nodiscard]] wire::Gid gid(const std::string& text, Type type) const {
        const auto value = type == Type::string ? gid_in(text) : std::nullopt;
        if (!value) refuse("\"" + key_ + "\" is no GID: " + shown(text));
        return *value;
    }

    void take_of_group(const std::string& text, Type type) {
        if (key_ == "mgid") {
            record_.group.parameters.mgid = gid(text, type);
            return;
        }
        const auto parameter = parameter_named(key_);
        try {
            if (parameter) set(record_.group, *parameter, said_value(*parameter, trimmed(text)));
        } catch (const std::invalid_argument& wrong) {
            refuse(wrong.what());
        }
    }

    void take_of_member(const std::string& text, Type type) {
        if (key_ == "portgid") {
            member_.port_gid = gid(text, type);
            if (member_.port_gid.is_zero() || member_.port_gid.is_multicast())
                refuse("\"port_gid\" is no GID of a port: " + shown(text));
        } else if (key_ == "joinstate") {
            const auto bits = wire::parse_number(text);
            if (!bits || *bits > 0xf) refuse("\"join_state\" is a number from 0 to 15, not " + shown(text));
            member_.join_state = static_cast<std::uint8_t>(*bits);
        } else if (key_ == "proxy") {
            if (type != Type::boolean) refuse("\"proxy\" is neither true nor false: " + shown(text));
            member_.proxy = text == "true";
        } else {
            if (type != Type::string) refuse("\"node_description\" is no string: " + shown(text));
            member_.node_description = description_in(text);
        }
    }

    Collector& into_;
    const Position& position_;
    Place place_ = Place::document;
    std::size_t unknown_depth_ = 0;  ///< arrays and objects of unknown meaning around this value
    std::string key_;                ///< the plain name of the member being read
    std::vector<std::string> group_keys_, member_keys_;
    Record record_;
    StatedMember member_;
};

}  // namespace

void read_sa_json(std::string_view text, Collector& into) {
    Position position;
    Handler handler(into, position);
    nlohmann::json::sax_parse(Octet(text.data(), position), Octet(text.data() + text.size(), position), &handler);
}

}  // namespace ipoib::assumptions
