// SPDX-License-Identifier: GPL-2.0-or-later
// What is written as JSON reads back as it was, and shows all that it holds.
#include "base/json_text.hpp"

#include <nlohmann/json.hpp>

#include "catch2.hpp"

using namespace ipoib;
using Json = nlohmann::ordered_json;

namespace {

const std::string unseen =
    "\x7f\xc2\x80\xc2\x9b\xc2\x9f\xc2\xad\xd8\x9c\xe2\x80\x8b\xe2\x80\xa8\xe2\x80\xae\xe2\x81\xa6"
    "\xef\xbb\xbf\xef\xbf\xbe\xf0\x91\x82\xbd\xf3\xa0\x80\x81";

}  // namespace

TEST_CASE("JSON text: what a terminal obeys or nobody sees is escaped, all else stays, and it reads back") {
    const std::string seen = "gr\xc3\xbc\xc3\x9f \xe4\xb8\x96 \xf0\x9f\x98\x80";
    const Json value{{"a" + unseen, seen + unseen + "\x1b[31m\n"}};
    const auto text = json_text(value);
    CHECK_THAT(text, ContainsSubstring(seen));
    CHECK_THAT(text,
               ContainsSubstring("\\u007f\\u0080\\u009b\\u009f\\u00ad\\u061c\\u200b\\u2028\\u202e\\u2066\\ufeff\\ufffe"
                                 "\\ud804\\udcbd\\udb40\\udc01"));
    CHECK_THAT(text, ContainsSubstring("\\u001b[31m\\n"));
    CHECK(Json::parse(text) == value);
    CHECK(json_text(Json("\xff")) == "\"\xef\xbf\xbd\"");
}

TEST_CASE("JSON writer: in pieces it is the text of the whole, and each piece ends a line") {
    Json whole{{"format", "x"}, {"none", Json::object()}, {"few", Json::array()}, {"nested", Json::array()}};
    std::vector<std::string> pieces;
    JsonWriter writer{[&](std::string piece) { pieces.push_back(std::move(piece)); }};
    writer.begin_object();
    writer.add(whole["format"], "format");
    writer.begin_object("none");
    writer.end();
    writer.begin_array("few");
    writer.end();
    writer.begin_array("nested");
    for (int i = 0; i < 3000; ++i) {
        const Json item{{"number", i}, {"unseen", unseen}, {"list", {1, {{"deep", true}}, Json::array()}}};
        whole["nested"].push_back({{"items", Json::array({item})}, {"next", nullptr}});
        writer.begin_object();
        writer.begin_array("items");
        writer.add(item);
        writer.end();
        writer.add(Json(nullptr), "next");
        writer.end();
    }
    writer.end();
    writer.end();
    std::string text;
    for (const auto& piece : pieces) {
        CHECK(piece.ends_with('\n'));
        text += piece;
    }
    CHECK(pieces.size() > 3);
    CHECK(text == json_text(whole) + '\n');
}
