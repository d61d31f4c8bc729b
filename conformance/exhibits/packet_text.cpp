// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/exhibits/packet_text.hpp"

#include "protocol/wire/mad_names.hpp"
#include "protocol/wire/registry.hpp"
#include "protocol/wire/text.hpp"

#include <algorithm>

namespace ipoib::conformance {
using namespace wire;
using reports::Detail;

namespace {

class Apart {
public:
    Apart(const Packet& packet, std::span<const Detail* const> wrong, reports::Exhibit& exhibit)
        : packet_(packet), wrong_(wrong), is_told_(wrong.size()), exhibit_(exhibit) {}

    void take(const HeaderSpec& header, const std::uint8_t* at) {
        reports::HeaderText text{.title = std::string(header.title), .offset = packet_.offset_of(at), .fields = {}};
        for (const auto& field : header.fields) {
            std::string judged;
            auto expected = expected_of(header, field, *text.offset, judged);
            const bool is_quiet =
                field.show == Show::reserved && field.width <= 64 && read_bits(at, field.at, field.width) == 0;
            if (is_quiet && !expected) continue;
            // The file may have changed since: what was judged goes before what is there now.
            text.fields.push_back({std::string(field.name),
                                   judged.empty() ? value_text(field, at, names_of(header, field, at)) : judged,
                                   expected});
        }
        exhibit_.headers.push_back(std::move(text));
    }

    /// What is wrong with the packet as a whole.
    void tell_rest() {
        reports::HeaderText rest{.title = "The packet", .fields = {}};
        for (std::size_t i = 0; i < wrong_.size(); ++i)
            if (!is_told_[i]) {
                rest.fields.push_back({wrong_[i]->field, wrong_[i]->actual, wrong_[i]->expected});
                if (wrong_[i]->offset > 0) exhibit_.wrong.emplace_back(wrong_[i]->offset, wrong_[i]->offset + 1);
            }
        if (!rest.fields.empty()) exhibit_.headers.insert(exhibit_.headers.begin(), std::move(rest));
    }

private:
    static bool names(const Detail& detail, const HeaderSpec& header, const FieldSpec& field) {
        const std::string_view name = detail.field;
        return name.size() == header.name.size() + 1 + field.name.size() && name.starts_with(header.name) &&
               name[header.name.size()] == '.' && name.ends_with(field.name);
    }

    std::optional<std::string> expected_of(const HeaderSpec& header, const FieldSpec& field, std::size_t offset,
                                           std::string& judged) {
        std::optional<std::string> expected;
        for (std::size_t i = 0; i < wrong_.size(); ++i) {
            const auto& detail = *wrong_[i];
            // The same header may be there twice.
            const bool is_here = detail.offset >= offset && detail.offset < offset + header.size;
            if (is_told_[i] || !is_here || !names(detail, header, field)) continue;
            is_told_[i] = true;
            judged = detail.actual;
            expected = expected ? *expected + "; " + detail.expected : detail.expected;
            const auto begin = offset + field.at.bit / 8u, end = offset + (field.at.bit + field.width + 7u) / 8u;
            exhibit_.wrong.emplace_back(begin, end);
        }
        return expected;
    }

    const Packet& packet_;
    std::span<const Detail* const> wrong_;
    std::vector<bool> is_told_;
    reports::Exhibit& exhibit_;
};

}  // namespace

void take_apart(const Shot& shot, std::span<const Detail* const> wrong, reports::Exhibit& exhibit) {
    const Octets octets{shot.octets};
    const auto shown = octets.first(std::min(octets.size(), reports::Exhibit::most_octets));
    exhibit.octets.assign(shown.begin(), shown.end());
    exhibit.size = octets.size();
    Packet packet;
    shot.decode(packet);
    Apart apart{packet, wrong, exhibit};
    for_each_shown(packet, [&](const HeaderSpec& header, const std::uint8_t* at) { apart.take(header, at); });
    apart.tell_rest();
}

}  // namespace ipoib::conformance
