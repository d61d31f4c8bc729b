// SPDX-License-Identifier: GPL-2.0-or-later
// libFuzzer target: tables of the SA are put together within bounds, and hold what their segments held, in whatever
// order and however damaged these come. Steps of 16 octets: who, which flags, which number, which length, which data.
#include "fabric/node/sa_table.hpp"
#include "fuzz/fuzzer.hpp"

#include <map>

using namespace ipoib;
using namespace ipoib::wire;
using fuzz::demand;

namespace {

constexpr std::size_t most_transactions = 3, most_octets = 8 * SaHeader::data_size;

struct Step {
    fabric::MadOctets mad{};
    std::uint16_t source = 0;
    std::size_t size = 0;  ///< of the MAD, as far as a capture has it
};

Step next_step(fuzz::Input& input) {
    Step step;
    const auto who = input.number(), flags = input.number();
    step.source = who & 1U;
    const MutableOctets all{step.mad};
    set_field(all, Mad::mgmt_class, flags & 0x80U ? MgmtClass::performance : MgmtClass::subn_adm);
    set_field(all, Mad::method, Method::get_table_resp);
    set_field(all, Mad::transaction_id, who >> 1 & 3U);
    set_field(all, Mad::attribute_id, static_cast<std::uint16_t>(attribute::mc_member_record + (who >> 3 & 1U)));
    const auto rmpp = all.subspan(Mad::size);
    set_field(rmpp, Rmpp::version, flags & 0x40U ? input.number() : std::uint8_t{1});
    const auto kind = flags >> 3 & 7U;
    set_field(rmpp, Rmpp::type, kind < 4 ? RmppType::data : static_cast<RmppType>(kind - 3));
    const auto number = input.number();
    set_field(rmpp, Rmpp::segment_number, number == 255 ? input.number<std::uint32_t>() : number);
    set_field(rmpp, Rmpp::active, true);
    set_field(rmpp, Rmpp::first, (flags & 1U) != 0 || number == 1);
    set_field(rmpp, Rmpp::last, (flags & 2U) != 0);
    const auto length = input.number();
    set_field(rmpp, Rmpp::payload_length, length == 255 ? input.number<std::uint32_t>() : length);
    set_field(rmpp.subspan(Rmpp::size), SaHeader::attribute_offset, input.number());
    const auto fill = input.number();
    std::fill(step.mad.begin() + SaHeader::data_offset, step.mad.end(), fill);
    const auto cut = input.number();
    step.size = (flags & 4U) != 0 ? cut : step.mad.size();
    input.octets(6);
    return step;
}

/// What the reassembly should know of the transactions that are open.
class Model {
public:
    void take(const Step& step, const RmppResult& result) {
        using State = RmppResult::State;
        const auto mad = View<Mad>::at(step.mad);
        const auto rmpp = View<Rmpp>::at(Octets{step.mad}.subspan(Mad::size));
        const RmppKey key{step.source,           2, mad[Mad::transaction_id], mad[Mad::mgmt_class], mad[Mad::method],
                          mad[Mad::attribute_id]};
        if (result.dropped) {
            const auto gone = open_.find(result.dropped->key);
            demand(result.dropped->segments == (gone == open_.end() ? 0 : gone->second.size()));
            if (gone != open_.end()) open_.erase(gone);
        }
        demand((result.state == State::complete) == result.table.has_value());
        if (result.state != State::incomplete && result.state != State::complete) return;
        const auto number = rmpp[Rmpp::segment_number];
        const bool is_last = rmpp[Rmpp::last];
        const auto data = is_last ? rmpp[Rmpp::payload_length] - SaHeader::size : SaHeader::data_size;
        open_[key][number].assign(data, step.mad[SaHeader::data_offset]);
        if (result.state == State::complete) compare(key, *result.table);
    }
    [[nodiscard]] std::size_t open() const { return open_.size(); }

private:
    void compare(const RmppKey& key, const RmppTable& table) {
        demand(table.key == key);
        std::vector<std::uint8_t> all;
        std::uint32_t number = 0;
        for (const auto& [at, data] : open_.at(key)) {
            demand(at == ++number);
            all.insert(all.end(), data.begin(), data.end());
        }
        demand(table.data == all && all.size() <= most_octets);
        open_.erase(key);
    }
    std::map<RmppKey, std::map<std::uint32_t, std::vector<std::uint8_t>>> open_;
};

void look_at(const fabric::SaTable::Step& step) {
    demand(!step.table || step.is_progress);
    if (!step.reply) return;
    const auto rmpp = View<Rmpp>::at(Octets{*step.reply}.subspan(Mad::size));
    demand(rmpp[Rmpp::active] && (rmpp[Rmpp::type] == RmppType::ack || rmpp[Rmpp::type] == RmppType::abort));
    if (rmpp[Rmpp::type] == RmppType::ack) demand(rmpp[Rmpp::payload_length] >= rmpp[Rmpp::segment_number]);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    fuzz::Input input{data, size};
    RmppReassembly reassembly{most_transactions, most_octets};
    fabric::SaTable table;
    Model model;
    while (!input.is_empty()) {
        const auto step = next_step(input);
        model.take(step, reassembly.add(step.source, 2, Octets{step.mad}.first(step.size)));
        demand(reassembly.open() == model.open() && model.open() <= most_transactions);
        if (step.size == step.mad.size()) look_at(table.take(step.source, 2, step.mad));
    }
    demand(reassembly.finish().size() == model.open() && reassembly.open() == 0);
    return 0;
}
