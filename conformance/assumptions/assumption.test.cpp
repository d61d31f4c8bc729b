// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/assumptions/parameter_value.hpp"
#include "protocol/wire/mgid.hpp"
#include "protocol/wire/text.hpp"

#include <catch2.hpp>
#include <random>

using namespace ipoib;
using namespace ipoib::assumptions;

namespace {

/// What the refusal says; empty where the text is taken.
std::string refusal(std::string_view text) {
    try {
        static_cast<void>(parse_assumption(text));
        return {};
    } catch (const std::invalid_argument& wrong) {
        return wrong.what();
    }
}

StatedGroup only_group(std::string_view text) {
    const auto statement = parse_assumption(text);
    REQUIRE(statement.groups.size() == 1);
    CHECK(statement.source == state::Source::assumed);
    CHECK(statement.origin == "--assume");
    CHECK_FALSE(statement.groups[0].members_are_listed);
    return statement.groups[0];
}

bool contains(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

TEST_CASE("Assumption: every key sets its parameter in the record's own units") {
    const auto statement = parse_assumption(
        "pkey=0x8001,qkey=0x80000b1b,mtu=2048,sl=3,tclass=0x20,flowlabel=0x12345,hoplimit=255,scope=5,mlid=0xc001,"
        "rate=40,prefix=fec0:0:0:7::");
    const auto& group = statement.groups.at(0);
    CHECK(group.parameters == state::GroupParameters{.mgid = wire::broadcast_gid(0x8001, 5),
                                                     .q_key = 0x80000b1b,
                                                     .flow_label = 0x12345,
                                                     .mlid = 0xc001,
                                                     .p_key = 0x8001,
                                                     .mtu = 4,
                                                     .sl = 3,
                                                     .traffic_class = 0x20,
                                                     .hop_limit = 255,
                                                     .rate = 7,
                                                     .scope = 5});
    for (unsigned i = 0; i < parameter_count; ++i)
        CHECK(group.tells(static_cast<Parameter>(i)) == (static_cast<Parameter>(i) != Parameter::lifetime));
    CHECK(statement.subnet_prefix == 0xfec0000000000007);
}

TEST_CASE("Assumption: the P_Key is 0xffff unless given, always told, and has the membership bit") {
    CHECK(only_group("mtu=4096").parameters.p_key == 0xffff);
    CHECK(only_group("mtu=4096").given == (bit(Parameter::p_key) | bit(Parameter::mtu)));
    CHECK(only_group("pkey=0x0123").parameters.p_key == 0x8123);
    CHECK(only_group("pkey=291").parameters.mgid == wire::broadcast_gid(0x8123, 2));
    CHECK(only_group("pkey=0x8000").parameters.p_key == 0x8000);
}

TEST_CASE("Assumption: without scope the MGID has 2, which is not told") {
    const auto group = only_group("qkey=0x0b1b");
    CHECK(wire::text(group.parameters.mgid) == "ff12:401b:ffff::ffff:ffff");
    CHECK_FALSE(group.tells(Parameter::scope));
    CHECK(group.parameters.scope == 0);
}

TEST_CASE("Assumption: zero is told where it is given") {
    const auto group = only_group("sl=0,tclass=0,hoplimit=0,qkey=0");
    for (const auto parameter : {Parameter::sl, Parameter::traffic_class, Parameter::hop_limit, Parameter::q_key})
        CHECK(group.tells(parameter));
    CHECK_FALSE(group.tells(Parameter::flow_label));
}

TEST_CASE("Assumption: blanks, case and underscores do not matter") {
    CHECK(only_group(" P_Key = 0X8001 , Flow_Label=7,HopLimit=1 ").parameters ==
          only_group("pkey=0x8001,flowlabel=7,hoplimit=1").parameters);
}

TEST_CASE("Assumption: rates are what people write, or codes") {
    CHECK(only_group("rate=2.5").parameters.rate == 2);
    CHECK(only_group("rate=10").parameters.rate == 3);
    CHECK(only_group("rate=100").parameters.rate == 16);
    CHECK(only_group("rate=code=10").parameters.rate == 10);
    CHECK(only_group("rate=code=0x3f").parameters.rate == 0x3f);
    CHECK(contains(refusal("rate=11"), "known are 2.5, 10, 30"));
    CHECK_FALSE(refusal("rate=code=64").empty());
    CHECK_FALSE(refusal("rate=code=").empty());
}

TEST_CASE("Assumption: a prefix is a GID with nothing behind it, or a number") {
    CHECK(parse_assumption("prefix=0xfe80000000000000").subnet_prefix == 0xfe80000000000000);
    CHECK(parse_assumption("prefix=fe80::").subnet_prefix == 0xfe80000000000000);
    CHECK_FALSE(parse_assumption("mtu=2048").subnet_prefix.has_value());
    for (const auto* text :
         {"prefix=fe80::1", "prefix=ff12::", "prefix=fe80", "prefix=", "prefix=fe80::,prefix=fe80::"})
        CHECK_FALSE(refusal(text).empty());
}

TEST_CASE("Assumption: what the user vouches for stands beside parameters, of all ports or of one") {
    using state::Assumption, state::Vouch;
    const std::uint64_t guid = 0x0002c90300100001;
    CHECK(parse_assumption("whole").vouched == std::vector<Vouch>{{Assumption::whole}});
    CHECK(parse_assumption("whole").groups.empty());
    for (const auto* text : {"whole=0002c90300100001", "whole=0x0002c90300100001", " whole = 0002:c903:0010:0001 ",
                             "whole=fe80::0002:c903:0010:0001"})
        CHECK(parse_assumption(text).vouched == std::vector<Vouch>{{Assumption::whole, guid}});
    const auto both = parse_assumption("from-start=0002c90300100001,pkey=0x8001,steady-clock,whole,whole");
    CHECK(both.vouched ==
          std::vector<Vouch>{
              {Assumption::from_start, guid}, {Assumption::steady_clock}, {Assumption::whole}, {Assumption::whole}});
    CHECK(both.groups.at(0).parameters.p_key == 0x8001);
    CHECK(parse_assumption("mtu=2048").vouched.empty());
    for (const auto* text : {"whole=", "whole=5", "whole=0000000000000000", "whole=0002c9030010000g", "whole=ff12::1",
                             "whole=0002c90300100001=", "whole,,from-start", "Whole", "from_start"})
        CHECK_FALSE(refusal(text).empty());
    CHECK(contains(refusal("whole=5"), "expected is the GUID of a port"));
}

TEST_CASE("Assumption: what is wrong is named") {
    CHECK(contains(refusal("mtu=2044"), "4 more than that of the IPoIB link"));
    CHECK(contains(refusal("mtu=4"), "code 4 is 2048"));
    CHECK(contains(refusal("mtu=1500"), "256, 512, 1024, 2048 or 4096"));
    CHECK(contains(refusal("pkey=0x10000"), "0 to 0xffff"));
    CHECK(contains(refusal("sl=16"), "sl=\"16\""));
    CHECK(contains(refusal("sl=-1"), "0 to 15"));
    CHECK(contains(refusal("flowlabel=0x100000"), "0xfffff"));
    CHECK(contains(refusal("mlid=1"), "0xc000 to 0xfffe"));
    CHECK(contains(refusal("scope=16"), "0 to 15"));
    CHECK(contains(refusal("qkey=18446744073709551616"), "qkey"));
    CHECK(contains(refusal("hoplimit=1e2"), "hoplimit"));
    CHECK(contains(refusal("tclass=0x"), "tclass"));
    CHECK(contains(refusal("qkey"), "is not KEY=VALUE"));
    CHECK(contains(refusal("=1"), "is not KEY=VALUE"));
    CHECK(contains(refusal("qkey="), "has no value"));
    CHECK(contains(refusal("qkey=1,"), "is not KEY=VALUE"));
    CHECK(contains(refusal("qkey=1,q_key=1"), "qkey is given twice"));
    CHECK(contains(refusal("pktlife=1"), "is unknown"));
    CHECK(contains(refusal("q=1"), "known are pkey"));
    CHECK(contains(refusal(""), "nothing is assumed"));
    CHECK(contains(refusal(std::string(8'000'000, 'a')), "octets"));
}

TEST_CASE("Assumption: refusals are short and printable whatever the text holds") {
    std::mt19937 random(1);
    for (int i = 0; i < 20'000; ++i) {
        std::string text = i % 2 == 0 ? "pkey=0x8001,mtu=2048,rate=code=3,prefix=fe80::" : "";
        for (auto n = random() % 8; n > 0; --n)
            text.insert(random() % (text.size() + 1), 1, static_cast<char>(random() % 256));
        const auto why = refusal(text);
        CHECK(why.size() < 400);
        for (const char c : why) REQUIRE((static_cast<unsigned char>(c) >= 0x20 && c != 0x7f));
    }
}

TEST_CASE("Parameters: names, values and their texts go together") {
    StatedGroup group;
    for (unsigned i = 0; i < parameter_count; ++i) {
        const auto parameter = static_cast<Parameter>(i);
        CHECK(parameter_named(name_of(parameter)) == parameter);
        CHECK_FALSE(group.tells(parameter));
        const auto value = parameter == Parameter::mlid ? 0xc005u : 5u;
        set(group, parameter, value);
        CHECK(group.tells(parameter));
        CHECK(value_of(group.parameters, parameter) == value);
    }
    CHECK(text_of(Parameter::mtu, 5) == "4096");
    CHECK(text_of(Parameter::rate, 3) == "10 Gb/s");
    CHECK(text_of(Parameter::p_key, 0x8001) == "0x8001");
}
