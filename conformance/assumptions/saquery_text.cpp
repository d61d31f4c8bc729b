// SPDX-License-Identifier: GPL-2.0-or-later
// What saquery prints of multicast groups and ports: lines "\t\tMlid....................0xC000" under a line that says
// which kind of record begins. Releases differ in the fields they print, in the form of GIDs and in upper and lower
// case.
#include "conformance/assumptions/sa_list.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>

namespace ipoib::assumptions {
namespace {

enum class Kind : std::uint8_t {
    none,    ///< before the first record
    other,   ///< a record that is not about multicast
    group,   ///< saquery -g
    member,  ///< saquery -m
    whole,   ///< saquery MCMR
    port,    ///< saquery NR, PIR or PKTR
};

/// The kind of record that begins with this line, if one does.
std::optional<Kind> beginning(std::string_view line) {
    constexpr std::string_view end = "dump:";
    // A description may end so, too.
    if (line.size() < end.size() || line.substr(line.size() - end.size()) != end || line.find("..") != line.npos)
        return {};
    if (line == "MCMemberRecord group dump:") return Kind::group;
    if (line == "MCMemberRecord member dump:") return Kind::member;
    if (line == "MCMember Record dump:") return Kind::whole;
    if (PortCollector::begins(line)) return Kind::port;
    return Kind::other;
}

struct Field {
    std::string name;  ///< plain
    std::string_view value;
};

/// A name, at least two dots, a value. Values begin in column 24 at most: a description may begin with a dot.
std::optional<Field> field_in(std::string_view line) {
    constexpr std::size_t value_column = 24;
    const auto dots = line.find('.');
    if (dots == 0 || dots > value_column - 2 || dots + 1 >= line.size() || line[dots + 1] != '.') return {};
    for (const char c : line.substr(0, dots))
        if ((c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && c != '_') return {};
    const auto value = std::min(line.find_first_not_of('.', dots), value_column);
    if (value >= line.size()) return Field{plain_name(line.substr(0, dots)), {}};
    return Field{plain_name(line.substr(0, dots)), trimmed(line.substr(value))};
}

class Reader {
public:
    Reader(Collector& into, PortCollector& ports) : into_(into), ports_(ports) {}

    void take(std::string_view raw, std::size_t line, bool is_cut) {
        line_ = line;
        const auto text = trimmed(raw);
        if (kind_ == Kind::port && ports_.take(text, line, is_cut)) return;
        if (const auto kind = beginning(text)) {
            finish();
            kind_ = *kind;
            record_.line = line;
            if (kind_ == Kind::port) ports_.begin(text, line);
            return;
        }
        const auto field = field_in(text);
        if (!field || kind_ == Kind::other || kind_ == Kind::port) return;
        if (kind_ == Kind::none && field->name != "mgid" && field->name != "portgid") return;
        take(*field);
        if (is_cut && field->name != "sl" && field->name != "proxyjoin" && field->name != "nodedescription")
            refuse("the file ends within this line: it is cut off, or lacks its last line feed");
    }

    /// The record is over.
    void finish() {
        const bool is_ours = kind_ == Kind::group || kind_ == Kind::member || kind_ == Kind::whole;
        if (is_ours) {
            const auto cut = [&](const char* what) {
                throw Wrong{record_.line, std::string("the record that begins here has no ") + what};
            };
            if (!has_mgid_) cut("MGID");
            if (kind_ == Kind::member && !port_gid_) cut("PortGid");
            if (!join_state_ && (kind_ == Kind::member || (port_gid_ && !port_gid_->is_zero()))) cut("JoinState");
            // To those it does not trust, the SA gives one record of each group, with no port.
            if (port_gid_ && !port_gid_->is_zero()) {
                record_.group.members_are_listed = true;
                record_.group.members.push_back({*port_gid_, *join_state_, proxy_.value_or(false), description_});
            }
            into_.add(std::move(record_));
        }
        record_ = {};
        has_mgid_ = false;
        port_gid_.reset();
        join_state_.reset();
        proxy_.reset();
        description_.clear();
        kind_ = Kind::none;
    }

private:
    [[noreturn]] void refuse(const std::string& why) const { throw Wrong{line_, why}; }

    void once(bool is_given, const Field& field) const {
        if (is_given) refuse(field.name + " twice in one record");
    }

    wire::Gid gid(const Field& field) const {
        const auto value = gid_in(field.value);
        if (!value) refuse(field.name + " is no GID: " + shown(field.value));
        return *value;
    }

    std::uint32_t octet(const Field& field) const {
        const auto value = wire::parse_number(field.value);
        if (!value || *value > 0xff) refuse(field.name + " is no octet: " + shown(field.value));
        return static_cast<std::uint32_t>(*value);
    }

    void tell(Parameter parameter, std::uint32_t value, const Field& field) {
        once(record_.group.tells(parameter), field);
        set(record_.group, parameter, value);
    }

    void take_port_gid(const Field& field) {
        if (kind_ == Kind::none || kind_ == Kind::group || port_gid_)
            refuse("a PortGid that belongs to no record: saquery -m with an MLID does not say of which group; give " +
                   std::string("the output of saquery -m"));
        // Old releases print the node's name behind it.
        port_gid_ = gid({field.name, field.value.substr(0, field.value.find(" ("))});
        if (port_gid_->is_multicast()) refuse("PortGid is a multicast GID: " + shown(field.value));
    }

    void take(const Field& field) {
        const auto& name = field.name;
        if (name == "portgid") return take_port_gid(field);
        if (kind_ == Kind::none)
            refuse("an MGID outside of a record: the line before it, which ends in \"dump:\", is missing");
        if (name == "mgid") {
            once(has_mgid_, field);
            has_mgid_ = true;
            record_.group.parameters.mgid = gid(field);
        } else if (name == "scopestate") {
            const auto value = octet(field);
            tell(Parameter::scope, value >> 4, field);
            join_state_ = static_cast<std::uint8_t>(value & 0xf);
        } else if (name == "joinstate") {
            once(join_state_.has_value(), field);
            join_state_ = static_cast<std::uint8_t>(octet(field));
            if (*join_state_ > 0xf) refuse("JoinState has four bits, not " + shown(field.value));
        } else if (name == "proxyjoin") {
            once(proxy_.has_value(), field);
            proxy_ = octet(field) != 0;
        } else if (name == "nodedescription") {
            if (field.value != "<unknown>") description_ = description_in(field.value);
        } else if (const auto parameter = parameter_named(name)) {
            take_parameter(*parameter, field);
        }
    }

    void take_parameter(Parameter parameter, const Field& field) {
        if (into_.keeps_irregularities() && (parameter == Parameter::mlid || parameter == Parameter::mtu))
            return take_as_it_is(parameter, field);
        try {
            tell(parameter, printed_value(parameter, field.value), field);
        } catch (const std::invalid_argument& wrong) {
            refuse(wrong.what());
        }
    }

    /// Also what no administrator should say.
    void take_as_it_is(Parameter parameter, const Field& field) {
        constexpr std::uint64_t selector = 0xc0;
        const auto value = wire::parse_number(field.value);
        if (!value || *value > (parameter == Parameter::mlid ? 0xffffu : 0xffu))
            refuse(field.name + ": " + shown(field.value));
        tell(parameter, static_cast<std::uint32_t>(parameter == Parameter::mlid ? *value : *value & ~selector), field);
    }

    Collector& into_;
    PortCollector& ports_;
    Kind kind_ = Kind::none;
    std::size_t line_ = 0;
    Record record_;
    bool has_mgid_ = false;
    std::optional<wire::Gid> port_gid_;
    std::optional<std::uint8_t> join_state_;
    std::optional<bool> proxy_;
    std::string description_;
};

}  // namespace

void read_saquery_text(std::string_view text, Collector& groups, PortCollector& ports) {
    Reader reader(groups, ports);
    for (std::size_t line = 1; !text.empty(); ++line) {
        const auto end = text.find('\n');
        const bool is_cut = end == std::string_view::npos;
        reader.take(text.substr(0, end), line, is_cut);
        text.remove_prefix(is_cut ? text.size() : end + 1);
    }
    reader.finish();
}

}  // namespace ipoib::assumptions
