// SPDX-License-Identifier: GPL-2.0-or-later
// Tables of the SA cut into RMPP segments, right and wrong ones, for the tests of the reassembly.
#pragma once

#include <algorithm>

#include "protocol/wire/mc_member_record.hpp"
#include "protocol/wire/rmpp.hpp"
#include "protocol/wire/table_check.hpp"

namespace ipoib::wire::testing {

using MadOctets = std::vector<std::uint8_t>;

/// One DATA segment of a GetTableResp(MCMemberRecord), with `data` behind the SA header.
struct Segment {
    std::uint32_t number = 1;
    bool is_first = true, is_last = true;
    std::uint32_t payload_length = 20;
    std::vector<std::uint8_t> data{};
    std::uint64_t transaction = 0x42;
    std::uint16_t offset = 7;
    RmppType type = RmppType::data;

    [[nodiscard]] MadOctets mad() const {
        MadOctets octets(mad_size);
        const MutableOctets all{octets};
        set_field(all, Mad::base_version, 1);
        set_field(all, Mad::mgmt_class, MgmtClass::subn_adm);
        set_field(all, Mad::class_version, 2);
        set_field(all, Mad::method, Method::get_table_resp);
        set_field(all, Mad::transaction_id, transaction);
        set_field(all, Mad::attribute_id, attribute::mc_member_record);
        const auto rmpp = all.subspan(Mad::size);
        set_field(rmpp, Rmpp::version, 1);
        set_field(rmpp, Rmpp::type, type);
        set_field(rmpp, Rmpp::active, true);
        set_field(rmpp, Rmpp::first, is_first);
        set_field(rmpp, Rmpp::last, is_last);
        set_field(rmpp, Rmpp::segment_number, number);
        set_field(rmpp, Rmpp::payload_length, payload_length);
        set_field(rmpp.subspan(Rmpp::size), SaHeader::attribute_offset, offset);
        REQUIRE(data.size() <= SaHeader::data_size);
        std::copy(data.begin(), data.end(), octets.begin() + SaHeader::data_offset);
        return octets;
    }
};

/// `count` records of 56 octets; the n-th (from 0) has MLID 0xc000 + n.
inline std::vector<std::uint8_t> records(std::size_t count) {
    std::vector<std::uint8_t> all(count * 56);
    for (std::size_t i = 0; i < count; ++i)
        set_field(MutableOctets{all}.subspan(i * 56), McMemberRecord::mlid, static_cast<std::uint16_t>(0xc000 + i));
    return all;
}

/// The segments of a table, as IBTA Vol 1, 13.6.2 has them: the first tells the sum, the last its own octets.
inline std::vector<Segment> segments(const std::vector<std::uint8_t>& table, std::uint64_t transaction = 0x42) {
    const auto count = std::max<std::size_t>(1, (table.size() + 199) / 200);
    std::vector<Segment> all;
    for (std::size_t i = 0; i < count; ++i) {
        Segment segment;
        segment.number = static_cast<std::uint32_t>(i + 1);
        segment.is_first = i == 0;
        segment.is_last = i + 1 == count;
        segment.transaction = transaction;
        const auto from = table.begin() + static_cast<std::ptrdiff_t>(i * 200);
        segment.data.assign(from, segment.is_last ? table.end() : from + 200);
        const auto here = static_cast<std::uint32_t>(segment.data.size() + 20);
        const auto sum = static_cast<std::uint32_t>(table.size() + 20 * count);
        segment.payload_length = segment.is_first ? sum : segment.is_last ? here : 0;
        all.push_back(segment);
    }
    return all;
}

inline RmppResult add(RmppReassembly& reassembly, const Segment& segment, std::uint16_t source = 1,
                      std::uint16_t destination = 2) {
    return reassembly.add(source, destination, segment.mad());
}

}  // namespace ipoib::wire::testing
