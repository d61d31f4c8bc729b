// SPDX-License-Identifier: GPL-2.0-or-later
#include "reports/json_document.hpp"

#include <array>
#include <optional>
#include <random>
#include <string>

#include "catch2.hpp"
#include "reports/json.hpp"
#include "reports/samples.hpp"

using namespace ipoib::reports;

namespace {

constexpr std::array<std::string_view, 2> long_lists{"results", "captures"};

/// The document as one tree again, or why it is none.
std::string tree(std::string_view text) {
    try {
        const auto document = JsonDocument::of(text, long_lists);
        if (!document) return document.error;
        auto tree = Json::object();
        document->head().members([&](const std::string& name, const Node& node) { tree[name] = node.value(); });
        for (const auto list : long_lists) {
            auto entries = Json::array();
            document->entries(list, [&](const Node& node) { entries.push_back(node.value()); });
            if (!entries.empty()) tree[std::string(list)] = std::move(entries);
        }
        return tree.dump();
    } catch (const Wrong& wrong) {
        return wrong.place + ": " + wrong.what;
    } catch (const Unreadable& unreadable) {
        return unreadable.what;
    }
}

}  // namespace

TEST_CASE("JSON document: what is read by entries is what a tree of all has") {
    const auto text = to_json(samples::every_verdict());
    auto whole = Json::parse(text);
    for (const auto list : long_lists) {
        auto entries = whole[std::string(list)];
        whole.erase(std::string(list));
        if (!entries.empty()) whole[std::string(list)] = std::move(entries);
    }
    CHECK(tree(text) == whole.dump());
}

TEST_CASE("JSON document: brackets and quotation marks in strings end nothing") {
    CHECK(tree(R"( { "a" : "]}\"" , "results" : [ "[\\" , {"b":"}\\\""} , 1.5e3 , [ [ ] ] ,null ] , "c":[1,2] } )") ==
          R"({"a":"]}\"","c":[1,2],"results":["[\\",{"b":"}\\\""},1500.0,[[]],null]})");
    CHECK(tree("\xef\xbb\xbf{\"results\":[1]}") == R"({"results":[1]})");
    CHECK(tree(R"({"re\u0073ults":[1,2]})") == R"({"results":[1,2]})");
    CHECK(tree("{}") == "{}");
    CHECK(tree(R"({"results":[],"a":{}})") == R"({"a":{}})");
}

TEST_CASE("JSON document: what a parser of the whole refuses is refused, and nothing else") {
    const std::string text =
        R"({"a":["x\\",{"b":null}],"results":[{"c":"\"]"},[1,-2.5e3],"\u00e9"],"captures":[ ],"d":true})";
    constexpr std::string_view octets = "[]{}\",:\\ 1-.e0ntu\xff";
    std::minstd_rand random;
    const auto below = [&](std::size_t bound) { return random() % bound; };
    std::size_t legal = 0;
    for (int i = 0; i < 20'000; ++i) {
        auto other = text;
        for (auto changes = 1 + below(2); changes-- != 0;) {
            const auto at = below(other.size());
            if (const auto octet = octets[below(octets.size())]; below(3) == 0)
                other.insert(at, 1, octet);
            else if (below(2) == 0)
                other[at] = octet;
            else
                other.erase(at, 1 + below(4));
        }
        const bool is_legal = Json::accept(other);
        legal += is_legal ? 1 : 0;
        CAPTURE(other);
        CHECK((tree(other).find("parse error") == std::string::npos) == is_legal);
    }
    CHECK(legal > 100);
}

TEST_CASE("JSON document: of members with one name the last counts") {
    CHECK(tree(R"({"results":[1],"a":1,"results":[2],"a":2})") == R"({"a":2,"results":[2]})");
}

TEST_CASE("JSON document: what is no object, or no list, is told by its place") {
    CHECK(tree("[1]") == ": an object is expected, found a list");
    CHECK(tree("7") == ": an object is expected, found 7");
    CHECK(tree(R"({"results":{"a":1}})") == "/results: a list is expected, found an object");
    CHECK(tree(R"({"results":"[1]"})") == "/results: a list is expected, found a string");
    CHECK(tree(R"({"results":[1},"a":1})").find("syntax error") != std::string::npos);
}

TEST_CASE("JSON document: one entry, and the head, are bounded; a list is not", "[size]") {
    std::string many = "[0";
    for (int i = 0; i < 500'000; ++i) many += ",0";
    many += "]";
    CHECK(tree(R"({"results":)" + many + "}").size() > 1'000'000);
    CHECK(tree(R"({"results":[)" + many + "]}") == "more than 500000 values in one entry");
    CHECK(tree(R"({"results":{"a":)" + many + "}}") == "more than 500000 values in one entry");
    CHECK(tree(R"({"a":)" + many + "}") == "more than 500000 values in one entry");
    CHECK(tree("{\"a\":\"" + std::string((16U << 20U) + 1, 'x') + "\"}") == "a string of 16777217 octets");
}
