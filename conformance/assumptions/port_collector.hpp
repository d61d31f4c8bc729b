// SPDX-License-Identifier: GPL-2.0-or-later
// Puts together what saquery prints of ports: NodeRecord, PortInfoRecord, P_KeyTableRecord and SwitchInfoRecord, each
// on its own, told apart by LID.
#pragma once

#include "conformance/assumptions/parameter_value.hpp"

#include <map>

namespace ipoib::assumptions {

class PortCollector {
public:
    /// Whether such a record begins with this line.
    [[nodiscard]] static bool begins(std::string_view line);
    void begin(std::string_view line, std::size_t number);
    /// A line without blanks at its ends; false for one that is not of the record. `is_cut`: the file ends within it.
    /// Throws Wrong.
    [[nodiscard]] bool take(std::string_view line, std::size_t number, bool is_cut);
    /// Of each port whose NodeRecord was there.
    [[nodiscard]] std::vector<StatedPort> ports() &&;
    /// The least MulticastFDBCap of the switches that were there.
    [[nodiscard]] std::optional<std::uint16_t> switch_groups() const noexcept { return switch_groups_; }

private:
    enum class Kind : std::uint8_t { node, port_info, p_keys, switch_info };
    /// Of one port of a node; a switch has many behind one LID, the one with number 0 is its own.
    struct PortRecord {
        std::uint64_t prefix = 0;
        std::uint8_t mtu = 0, width = 0, speed = 0, extended = 0;
        bool has_unknown_rate = false;  ///< of a width or speed
        std::optional<std::vector<std::uint16_t>> p_keys;
        std::optional<std::uint16_t> p_key_violations, q_key_violations;
    };
    struct Node {
        std::uint64_t guid = 0;  ///< of its port; 0: no NodeRecord
        bool is_switch = false, is_router = false;
        std::uint8_t port = 0;
        std::string description;
        std::map<std::uint8_t, PortRecord> ports;
    };

    template <class Table>
    void take_code(const Table& words, std::string_view value, std::uint8_t& into);
    void take_of_node(const std::string& name, std::string_view value);
    void take_of_port(const std::string& name, std::string_view value);
    void take_of_switch(const std::string& name, std::string_view value);
    void take_p_keys(std::string_view line);
    [[nodiscard]] std::uint64_t number(const std::string& name, std::string_view value, std::uint64_t most) const;
    [[nodiscard]] Node& node();
    [[nodiscard]] PortRecord& port();

    std::map<std::uint16_t, Node> nodes_;
    Kind kind_ = Kind::node;
    std::size_t line_ = 0, begun_ = 0;
    std::optional<std::uint16_t> lid_;
    std::optional<std::uint8_t> number_;
    std::optional<std::uint16_t> switch_groups_;
};

}  // namespace ipoib::assumptions
