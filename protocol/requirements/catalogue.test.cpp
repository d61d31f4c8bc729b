// SPDX-License-Identifier: GPL-2.0-or-later
// Holds the catalogue against the statement list and the texts where those are at hand, and checks its own promises.
#include "protocol/requirements/catalogue.hpp"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "catch2.hpp"
#ifdef IPOIB_HAS_JSON
#include <nlohmann/json.hpp>
#endif

using namespace ipoib::requirements;
namespace {

namespace rfc4391 = ipoib::rfc4391;
using Names = std::vector<std::string_view>;
using Words = std::vector<std::string>;

const std::filesystem::path sources = IPOIB_SOURCE_DIR "/protocol/requirements";
const std::filesystem::path shared = IPOIB_SOURCE_DIR "/../shared";

std::string text_of(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

/// The words in lower case, without punctuation and without the page headings of an RFC.
Words words_of(const std::string& text) {
    Words words;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        if (line.find("[Page ") != std::string::npos || line.starts_with("RFC ")) continue;
        std::string word;
        for (const char c : line + ' ') {
            const auto octet = static_cast<unsigned char>(c);
            if (std::isalnum(octet) != 0) word += static_cast<char>(std::tolower(octet));
            if (std::isspace(octet) != 0 && !word.empty()) words.push_back(std::exchange(word, {}));
        }
    }
    return words;
}

std::set<std::string> runs_of(const Words& words, std::size_t length) {
    std::set<std::string> runs;
    for (std::size_t i = 0; i + length <= words.size(); ++i) {
        std::string run;
        for (std::size_t k = i; k < i + length; ++k) run += words[k] + ' ';
        runs.insert(run);
    }
    return runs;
}

}  // namespace

TEST_CASE("Catalogue: every constant of the sources is in the list of its document") {
    std::map<std::string, std::size_t> declared;
    for (const auto& file : std::filesystem::directory_iterator(sources)) {
        if (file.path().extension() != ".hpp") continue;
        std::istringstream lines(text_of(file.path()));
        const auto name = file.path().stem().string();
        for (std::string line; std::getline(lines, line);)
            if (line.starts_with("inline constexpr Requirement ")) ++declared[name.substr(0, name.find('_'))];
    }
    const std::map<std::string, std::size_t> listed{
        {"rfc4391", rfc4391::all.size()},        {"rfc4392", ipoib::rfc4392::all.size()},
        {"rfc4755", ipoib::rfc4755::all.size()}, {"rfc4390", ipoib::rfc4390::all.size()},
        {"udmc", ipoib::udmc::all.size()},       {"iba", ipoib::iba::all.size()}};
    CHECK(declared == listed);
}

TEST_CASE("Catalogue: an id finds its entry and no other string does") {
    for (const auto* requirement : all()) CHECK(find(requirement->id) == requirement);
    CHECK(find("RFC4391-6-02") == &rfc4391::encap_reserved_tx);
    for (const auto* unknown : {"", "RFC4391-6-2", "RFC4391-6-020", "rfc4391-6-02", "ZZZ", "\xff"})
        CHECK(find(unknown) == nullptr);
}

TEST_CASE("Catalogue: documents follow each other and each runs in the order of its sections") {
    Names documents;
    const auto numbers = [](std::string_view section) {
        std::vector<int> parts;
        std::istringstream in{std::string(section)};
        for (std::string part; std::getline(in, part, '.');) parts.push_back(std::stoi(part));
        return parts;
    };
    const Requirement* before = nullptr;
    for (const auto* r : all()) {
        CAPTURE(r->id);
        const auto number = r->id.substr(r->id.rfind('-') + 1);
        if (before == nullptr || before->document() != r->document()) {
            documents.push_back(r->document());
        } else if (before->section() == r->section()) {
            CHECK(before->id.substr(before->id.rfind('-') + 1) < number);
        } else {
            CHECK(numbers(before->section()) < numbers(r->section()));
        }
        before = r;
    }
    CHECK(documents == Names{"RFC4391", "RFC4392", "RFC4755", "RFC4390", "UDMC", "IBA"});
}

TEST_CASE("Catalogue: a closure holds the requirement and all that follows from it, in document order") {
    CHECK(closure(rfc4391::encap_reserved_rx) == Names{"RFC4391-6-03"});
    CHECK(closure(rfc4391::encap_reserved_tx) == Names{"RFC4391-6-01", "RFC4391-6-02"});
    CHECK(closure(rfc4391::arp_hardware_type) == Names{"RFC4391-9.2-01", "RFC4391-9.2-02", "RFC4391-14-01"});
    CHECK(closure(rfc4391::arp_hardware_type_assigned) == closure(rfc4391::arp_hardware_type));
    CHECK(closure(ipoib::udmc::join_checks_path_mtu) == Names{"RFC4391-5-05", "RFC4392-1.3-01", "UDMC-09"});
    CHECK(closure(ipoib::rfc4392::transient_flag_always_set) ==
          Names{"RFC4391-4-01", "RFC4391-4-02", "RFC4392-3.2.2-01"});
    CHECK(closure(ipoib::rfc4392::limited_members_kept_apart) ==
          Names{"RFC4391-3-01", "RFC4391-9.1-05", "RFC4392-1.2-01"});
    CHECK(closure(ipoib::rfc4755::cm_flags_reserved_tx) ==
          Names{"RFC4391-9.1.1-01", "RFC4391-9.1.1-02", "RFC4755-3.1-01", "RFC4755-3.1-02"});
}

TEST_CASE("Catalogue: the closure of a requirement outside the catalogue is empty") {
    auto stranger = rfc4391::encap_reserved_tx;
    stranger.id = "RFC4391-6-99";
    CHECK(closure(stranger).empty());
}

TEST_CASE("Catalogue: a statement is one short sentence without a full stop, and none is there twice") {
    std::set<std::string_view> seen;
    for (const auto* r : all()) {
        CAPTURE(r->id, r->statement);
        REQUIRE(r->statement.size() >= 30);
        CHECK(r->statement.size() <= 160);
        CHECK(std::isupper(static_cast<unsigned char>(r->statement.front())) != 0);
        CHECK(r->statement.back() != '.');
        CHECK(r->statement.find(". ") == std::string_view::npos);
        CHECK(r->statement.find("  ") == std::string_view::npos);
        CHECK(seen.insert(r->statement).second);
    }
}

TEST_CASE("Catalogue: a note ends with a full stop and fits in a line") {
    for (const auto* r : all()) {
        if (r->note.empty()) continue;
        CAPTURE(r->id, r->note);
        CHECK(r->note.back() == '.');
        CHECK(r->note.size() <= 140);
    }
}

TEST_CASE("Catalogue: shared runs of words are found over line ends, pages, case and punctuation") {
    const auto page = runs_of(words_of("One two, three\n   four\nA & B    [Page 3]\nRFC 1   Title\n FIVE (six)."), 4);
    CHECK(page == std::set<std::string>{"one two three four ", "two three four five ", "three four five six "});
    CHECK(runs_of(words_of("one two three"), 4).empty());
}

TEST_CASE("Catalogue: no statement or note shares nine words in a row with the texts") {
    const std::vector<std::string> names{"rfc4390.txt", "rfc4391.txt", "rfc4392.txt",
                                         "rfc4755.txt", "rfc8064.txt", "ud-multicasting-book-chapter.txt"};
    for (const auto& name : names) {
        const auto file = shared / "spec" / name;
        if (!std::filesystem::exists(file)) {
            WARN("not compared with " << name << ": the text is not there");
            continue;
        }
        const auto theirs = runs_of(words_of(text_of(file)), 9);
        REQUIRE(theirs.size() > 1000);
        for (const auto* r : all())
            for (const auto text : {r->statement, r->note})
                for (const auto& run : runs_of(words_of(std::string(text)), 9)) {
                    CAPTURE(name, r->id, run);
                    CHECK(theirs.count(run) == 0);
                }
    }
}

TEST_CASE("Catalogue: a keyword is one of RFC 2119 in capitals that binds; 54 statements of the texts have one") {
    std::map<std::string_view, int> with_keyword;
    std::size_t bound = 0;
    for (const auto* r : all()) {
        if (r->strength == Strength::must && r->document() != "IBA") ++bound;
        if (!r->has_keyword()) continue;
        CAPTURE(r->id, r->level);
        CHECK(r->strength == Strength::must);
        ++with_keyword[r->level];
    }
    CHECK(with_keyword == std::map<std::string_view, int>{{"MUST", 49}, {"MUST NOT", 2}, {"SHALL", 3}});
    CHECK(bound > 54);
    CHECK_FALSE(find("RFC4391-2-02")->has_keyword());
}

TEST_CASE("Catalogue: a document's status is what its first page says") {
    std::set<std::string_view> compared;
    for (const auto* r : all()) {
        CAPTURE(r->id);
        CHECK(name(r->status()) == (r->status() == Status::standard ? "standard" : "informative"));
        if (!r->document().starts_with("RFC")) {
            CHECK((r->status() == Status::informative) == (r->document() == "UDMC"));
            continue;
        }
        if (!compared.insert(r->document()).second) continue;
        const auto file = shared / "spec" / ("rfc" + std::string(r->document().substr(3)) + ".txt");
        if (!std::filesystem::exists(file)) {
            WARN("not compared with " << file.filename() << ": the text is not there");
            continue;
        }
        const auto text = text_of(file);
        const bool is_standard = text.find("Category: Standards Track") != std::string::npos;
        CHECK(is_standard != (text.find("Category: Informational") != std::string::npos));
        CHECK((r->status() == Status::standard) == is_standard);
    }
}

#ifdef IPOIB_HAS_JSON
namespace {

template <Set T>
struct Mark {
    const char* name;
    T member;
};

/// The set that these marks of the list stand for; throws on an unknown one.
template <Set T>
T set_of(const std::vector<std::string>& words, const std::vector<Mark<T>>& marks) {
    T set{};
    for (const auto& word : words) {
        const auto mark = std::find_if(marks.begin(), marks.end(), [&](const auto& m) { return m.name == word; });
        if (mark == marks.end()) throw std::runtime_error("unknown mark " + word);
        set = set | mark->member;
    }
    return set;
}

std::vector<std::string> letters(const std::string& text) {
    std::vector<std::string> words;
    for (const char c : text) words.emplace_back(1, c);
    return words;
}

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> words;
    std::istringstream in(text);
    for (std::string word; std::getline(in, word, ',');) words.push_back(word);
    return words;
}

const std::vector<Mark<Binds>> parties{
    {"IF", Binds::interface},      {"RTR", Binds::router},     {"SA", Binds::sa},
    {"ADM", Binds::administrator}, {"HCA", Binds::hca},        {"DOC", Binds::document},
    {"DHCP", Binds::dhcp_client},  {"SRV", Binds::dhcp_server}};
const std::vector<Mark<Seen>> places{{"W", Seen::wire}, {"S", Seen::sa}, {"L", Seen::local}};
const std::vector<Mark<Test>> ways{{"P", Test::passive}, {"A", Test::active}, {"I", Test::inspection}};
const std::map<std::string, Strength> strengths{
    {"must", Strength::must}, {"should", Strength::should}, {"may", Strength::may}};

void compare(const Requirement& ours, const nlohmann::json& theirs) {
    const auto word = [&](const char* key) { return theirs.at(key).get<std::string>(); };
    CAPTURE(ours.id);
    CHECK(ours.level == word("level"));
    CHECK(ours.strength == strengths.at(word("strength")));
    CHECK(ours.binds == set_of(split(word("bound")), parties));
    CHECK(ours.seen == set_of(letters(word("observable")), places));
    CHECK(ours.test == set_of(letters(word("test")), ways));
    CHECK(ours.statement != word("statement"));
    const auto includes = [&](const Ids& ids, const char* key) {
        for (const auto& id : theirs.value(key, std::vector<std::string>{})) {
            CAPTURE(key, id);
            CHECK(std::find(ids.begin(), ids.end(), id) != ids.end());
        }
    };
    includes(ours.same_as, "same_as");
    includes(ours.part_of, "part_of");
}

}  // namespace

TEST_CASE("Catalogue: every entry of the statement list is there, in its order and with its marks") {
    const auto file = shared / "requirements" / "requirements.json";
    if (!std::filesystem::exists(file)) {
        WARN("not compared with requirements.json: the file is not there");
        return;
    }
    const auto list = nlohmann::json::parse(text_of(file));
    std::vector<std::string> theirs, ours;
    for (const auto& entry : list) theirs.push_back(entry.at("id").get<std::string>());
    for (const auto* r : all()) ours.emplace_back(r->id);
    std::erase_if(ours, [&](const auto& id) { return std::find(theirs.begin(), theirs.end(), id) == theirs.end(); });
    CHECK(theirs.size() == 208);
    // Statements found later are added to the catalogue only, so ours may have more.
    REQUIRE(ours == theirs);
    for (const auto& entry : list) compare(*find(entry.at("id").get<std::string>()), entry);
}
#endif
