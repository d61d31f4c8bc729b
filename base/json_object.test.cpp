// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/json_object.hpp"

#include "catch2.hpp"

#include <functional>
#include <stdexcept>
#include <vector>

using namespace ipoib;

namespace {

class Request : public JsonObject {
public:
    explicit Request(std::string_view line) : JsonObject(object_in(line).value()) {}
    [[noreturn]] void refuse(const std::string& name, const std::string& why) const override {
        throw std::runtime_error(name + " " + why);
    }
};

std::string nested(int count) {
    const auto size = static_cast<std::size_t>(count);
    return R"({"x":)" + std::string(size, '[') + std::string(size, ']') + "}";
}

}  // namespace

TEST_CASE("JSON line: it holds one object, whole and not nested without end") {
    CHECK(object_in(R"({"a":1})") == nlohmann::json{{"a", 1}});
    for (const auto* line : {"", "x", "1", "[]", "null", "{", R"({"a":1}{)", R"({"a":"\xff"})", "{\"a\":\"\xff\"}"})
        CHECK_FALSE(object_in(line));
    CHECK_FALSE(object_in(std::string("{}\0{}", 5)));
    CHECK(object_in(nested(deepest_json)));
    CHECK_FALSE(object_in(nested(deepest_json + 1)));
    CHECK_FALSE(object_in(nested(1'000'000)));
    // Brackets in strings nest nothing.
    CHECK(object_in(R"({"x":")" + std::string(100, '[') + R"(","y":"\"[\""})"));
}

TEST_CASE("JSON line: members keep their order where they are kept in order, and the line is ASCII") {
    const auto json = object_in<nlohmann::ordered_json>("{\"b\":1,\"a\":\"\xc3\xa9\\n\"}");
    REQUIRE(json);
    CHECK(json_line(*json) == R"({"b":1,"a":"\u00e9\n"})");
    CHECK(json_line(nlohmann::json{{"a", "\xff"}}) == R"({"a":"\ufffd"})");
}

TEST_CASE("JSON object: members are read as what they are") {
    const Request request{
        R"({"t":"text","f":true,"w":65535,"h":"0xfF","d":"10","r":0.5,"a":[1],"o":{"x":1},"n":null})"};
    CHECK(request.text("t") == "text");
    CHECK(request.flag("f"));
    CHECK(request.whole("w", 65535) == 65535);
    CHECK(request.number("w", 65535) == 65535);
    CHECK(request.number("h", 255) == 255);
    CHECK(request.number("d", 255) == 16);
    CHECK(request.real("r", 1) == 0.5);
    CHECK(request.array("a").size() == 1);
    CHECK(request.object("o").size() == 1);
    CHECK(request.has("n"));
    CHECK_FALSE(request.has("m"));
}

TEST_CASE("JSON object: what is missing or of another type is refused by its name") {
    const Request request{
        R"({"t":"text","f":true,"w":65536,"minus":-1,"half":0.5,"a":[1],"hex":"0x","more":"1g","n":null})"};
    struct Row {
        std::function<void()> read;
        std::string why;
    };
    for (const auto& [read, why] : std::vector<Row>{
             {[&] { (void)request.text("m"); }, "m is missing"},
             {[&] { (void)request.flag("m"); }, "m is missing"},
             {[&] { (void)request.array("m"); }, "m is missing"},
             {[&] { (void)request.text("f"); }, "f is not a string"},
             {[&] { (void)request.text("n"); }, "n is not a string"},
             {[&] { (void)request.flag("t"); }, "t is neither true nor false"},
             {[&] { (void)request.flag("w"); }, "w is neither true nor false"},
             {[&] { (void)request.whole("w", 65535); }, "w is not a whole number from 0 to 65535"},
             {[&] { (void)request.whole("minus", 9); }, "minus is not a whole number from 0 to 9"},
             {[&] { (void)request.whole("half", 9); }, "half is not a whole number from 0 to 9"},
             {[&] { (void)request.whole("hex", 9); }, "hex is not a whole number from 0 to 9"},
             {[&] { (void)request.number("w", 65535); }, "w is not a number up to 65535"},
             {[&] { (void)request.number("minus", 9); }, "minus is not a number up to 9"},
             {[&] { (void)request.number("hex", 9); }, "hex is not a number up to 9"},
             {[&] { (void)request.number("more", 99); }, "more is not a number up to 99"},
             {[&] { (void)request.real("w", 1); }, "w is not between 0 and 1.000000"},
             {[&] { (void)request.real("minus", 1); }, "minus is not between 0 and 1.000000"},
             {[&] { (void)request.real("t", 1); }, "t is not between 0 and 1.000000"},
             {[&] { (void)request.array("t"); }, "t is not an array"},
             {[&] { (void)request.object("a"); }, "a is not an object"},
         })
        CHECK_THROWS_WITH(read(), why);
}
