// SPDX-License-Identifier: GPL-2.0-or-later
// A page is HTML5 and well-formed XML, whatever texts it holds.
#include "reports/html/element.hpp"

#include "catch2.hpp"
#include "reports/samples.hpp"

using namespace ipoib::reports;
using namespace ipoib::reports::html;

TEST_CASE("HTML tree: text and values are never markup") {
    Page page;
    page.root().add("p", {{"class", "\"><script>"}}).text("</p><script>&'").literal("<b>");
    CHECK(page.text() ==
          "<!DOCTYPE html>\n<html><p class=\"&quot;&gt;&lt;script&gt;\">&lt;/p&gt;&lt;script&gt;&amp;&#39;&lt;b&gt;</p>"
          "\n</html>\n");
}

TEST_CASE("HTML tree: void elements and shapes close themselves, nothing else does; style and script are raw") {
    Page page;
    auto root = page.root();
    root.add("br");
    root.add("td");
    root.add("rect", {{"x", "1"}});
    root.add("rect").add("title").literal("a");
    root.add("script").literal("a && b < \"c\"");
    CHECK(page.text() ==
          "<!DOCTYPE html>\n<html><br/><td></td><rect x=\"1\"/><rect><title>a</title>\n</rect>"
          "<script>a && b < \"c\"</script>\n</html>\n");
}

TEST_CASE("HTML tree: what comes from outside is one line, or lines, or the whole; what is long is cut") {
    Page page;
    auto root = page.root();
    root.add("a").text("a  b\nc\x1b");
    root.add("a").lines("a\nb");
    root.add("a").verbatim("a  b");
    root.add("a").whole("href", std::string(5000, 'x')).text(std::string(5000, 'y'));
    const auto text = page.text();
    CHECK_THAT(text, ContainsSubstring("<a>a b c\\x1b</a><a>a\nb</a><a>a  b</a>"));
    CHECK_THAT(text, ContainsSubstring(std::string(5000, 'x')));
    CHECK_THAT(text, !ContainsSubstring(std::string(2001, 'y')));
    root.add("a").text(samples::hostile()).whole("title", plain(samples::hostile()));
    CHECK(pugi::xml_document{}.load_string(page.text().c_str(), pugi::parse_doctype));
}
