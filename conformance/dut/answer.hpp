// SPDX-License-Identifier: GPL-2.0-or-later
// Answers of the DUT control protocol, read strictly: what an adapter writes is not trusted. interfaces.md, "DUT
// control".
#pragma once

#include "base/json_object.hpp"
#include "conformance/dut/dut.hpp"

namespace ipoib::conformance {

/// The beginning of a line that an adapter wrote, for a person: printable ASCII, the rest escaped.
[[nodiscard]] std::string excerpt(std::string_view line);

/// An object of an answer, read member by member. Members that nobody asks for are ignored, null counts as absent, and
/// one of a wrong type is ChannelBroken.
class AnswerObject : private JsonObject {
public:
    AnswerObject(nlohmann::json object, std::string where);

    [[nodiscard]] std::optional<bool> flag(const std::string& name) const;
    /// A whole number from 0 to `most`.
    [[nodiscard]] std::optional<std::uint64_t> number(const std::string& name, std::uint64_t most) const;
    [[nodiscard]] std::optional<std::string> text(const std::string& name) const;
    /// Octets in hex, separated by nothing, blanks, colons or dashes.
    [[nodiscard]] std::optional<std::vector<std::uint8_t>> octets(const std::string& name) const;
    [[nodiscard]] std::optional<wire::IpAddress> address(const std::string& name) const;
    /// Of an array of strings; empty when it is absent.
    [[nodiscard]] std::vector<std::string> texts(const std::string& name) const;
    /// Of an array of objects; empty when it is absent.
    [[nodiscard]] std::vector<AnswerObject> objects(const std::string& name) const;
    /// Names and values of an object of single values, by name; empty when it is absent.
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> pairs(const std::string& name) const;

    /// ChannelBroken where the member is absent.
    void demand(const std::string& name) const;
    /// Throws ChannelBroken about one member.
    [[noreturn]] void refuse(const std::string& name, const std::string& why) const override;

private:
    std::string where_;
};

/// The answer `line` to the request `what` with this id. Throws Unsupported, ControlFailed or ChannelBroken.
[[nodiscard]] AnswerObject read_answer(const std::string& line, std::uint64_t id, const std::string& what);

}  // namespace ipoib::conformance
