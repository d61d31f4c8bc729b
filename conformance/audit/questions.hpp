// SPDX-License-Identifier: GPL-2.0-or-later
// Asking a subnet administrator; and what is asked of it about the topology. Of the survey only.
#pragma once

#include "conformance/audit/inventory.hpp"
#include "protocol/wire/sa.hpp"

#include <algorithm>
#include <stdexcept>

namespace ipoib::audit {

/// The only way to the SA here: it has no method that changes anything.
class Questions {
public:
    Questions(fabric::Port& port, bool is_trusted, fabric::Duration patience, Pace pace = {})
        : port_(port), is_trusted_(is_trusted), patience_(patience), pace_(std::move(pace)) {}
    [[nodiscard]] std::size_t count() const noexcept { return count_; }

    template <class Record>
    [[nodiscard]] fabric::SaAnswer get(std::uint16_t attribute, std::uint64_t components,
                                       const wire::Bytes<Record>& like) {
        return ask(wire::Method::get, attribute, components, like.octets, false);
    }
    /// Of an attribute that not every SA knows. One that was silent about it is not asked again.
    template <class Record>
    [[nodiscard]] fabric::SaAnswer get_if_told(std::uint16_t attribute, std::uint64_t components,
                                               const wire::Bytes<Record>& like) {
        if (std::ranges::find(untold_, attribute) != untold_.end()) return {};
        auto answer = send(wire::Method::get, attribute, components, like.octets, false);
        if (!answer.is_answered) untold_.push_back(attribute);
        return answer;
    }
    template <class Record>
    [[nodiscard]] fabric::SaAnswer table(std::uint16_t attribute, std::uint64_t components,
                                         const wire::Bytes<Record>& like, bool with_key) {
        return ask(wire::Method::get_table, attribute, components, like.octets, with_key && is_trusted_);
    }

private:
    [[nodiscard]] fabric::SaAnswer ask(wire::Method method, std::uint16_t attribute, std::uint64_t components,
                                       wire::Octets record, bool with_key) {
        auto answer = send(method, attribute, components, record, with_key);
        if (answer.is_answered) return answer;
        throw std::runtime_error(std::string("the SA does not answer a question about ") +
                                 std::string(wire::name_of(wire::sa_attribute_names, attribute)) +
                                 (with_key ? " with the SM_Key; is it the right one?" : ""));
    }

    [[nodiscard]] fabric::SaAnswer send(wire::Method method, std::uint16_t attribute, std::uint64_t components,
                                        wire::Octets record, bool with_key) {
        if (pace_) pace_();
        if (fabric::Loop::stop_requested()) throw std::runtime_error("interrupted");
        ++count_;
        auto answer = port_.ask_sa({.method = method,
                                    .attribute = attribute,
                                    .component_mask = components,
                                    .record = {record.begin(), record.end()},
                                    .is_trusted = with_key},
                                   patience_);
        if (!answer.is_answered && fabric::Loop::stop_requested()) throw std::runtime_error("interrupted");
        return answer;
    }

    std::vector<std::uint16_t> untold_;  ///< attributes that the SA was silent about
    fabric::Port& port_;
    bool is_trusted_;
    fabric::Duration patience_;
    Pace pace_;
    std::size_t count_ = 0;
};

/// What the switch that the port is attached to has room for. An SA that does not tell of links leaves it untold.
void ask_for_switch(Questions& questions, std::uint8_t port_number, assumptions::StatedPort& port);
/// Whether the subnet has routers.
void ask_for_routers(Questions& questions, Inventory& inventory);
/// Paths between members of each link whose P_Key the asker has, and both ends too: first from each to its neighbour in
/// the list, then to the next but one, until all have been asked for, or `most_paths`. The rest is noted.
void ask_for_paths(Questions& questions, Inventory& inventory);

}  // namespace ipoib::audit
