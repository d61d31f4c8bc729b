// SPDX-License-Identifier: GPL-2.0-or-later
// Holds the catalogue against the statement list and fingerprints of the texts (tests/golden), and checks its own
// promises.
#include "protocol/requirements/catalogue.hpp"

#include <algorithm>
#include <cctype>
#include <cstdint>
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

using namespace ipoib::requirements;
namespace {

namespace rfc4391 = ipoib::rfc4391;
using Names = std::vector<std::string_view>;
using Words = std::vector<std::string>;

const std::filesystem::path sources = IPOIB_SOURCE_DIR "/protocol/requirements";
const std::filesystem::path golden = IPOIB_SOURCE_DIR "/tests/golden";

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

/// The low 40 bits of the FNV-1a of a run, by which tests/golden/nine-word-runs.bin knows it.
std::uint64_t fingerprint(const std::string& run) {
    std::uint64_t value = 0xcbf29ce484222325;
    for (const char c : run) value = (value ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return value & 0xffffffffff;
}

/// Of every nine words in a row in the texts.
std::set<std::uint64_t> runs_of_the_texts() {
    constexpr std::size_t size = 5;
    const auto octets = text_of(golden / "nine-word-runs.bin");
    std::set<std::uint64_t> runs;
    for (std::size_t at = 0; at + size <= octets.size(); at += size) {
        std::uint64_t run = 0;
        for (std::size_t i = 0; i < size; ++i) run = run << 8U | static_cast<unsigned char>(octets[at + i]);
        runs.insert(run);
    }
    return runs;
}

/// The first of its runs of nine words that is in the texts, or nothing.
std::string shared_run(std::string_view statement, const std::set<std::uint64_t>& texts) {
    for (const auto& run : runs_of(words_of(std::string(statement)), 9))
        if (texts.count(fingerprint(run)) > 0) return run;
    return {};
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
    const auto texts = runs_of_the_texts();
    REQUIRE(texts.size() > 19'000);
    // A line that RFC 4391 and many others have.
    CHECK(shared_run("The key words MUST, MUST NOT, REQUIRED, SHALL, MAY", texts).empty());
    CHECK_FALSE(
        shared_run("The key words \"MUST\", \"MUST NOT\", \"REQUIRED\", \"SHALL\",\n \"SHALL NOT\"", texts).empty());
    for (const auto* r : all())
        for (const auto text : {r->statement, r->note}) {
            CAPTURE(r->id);
            CHECK(shared_run(text, texts) == "");
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
    // "Category: Standards Track" or "Category: Informational"; the chapter is of a book, the IBA a specification.
    const std::map<std::string_view, Status> first_pages{
        {"RFC4391", Status::standard}, {"RFC4392", Status::informative}, {"RFC4755", Status::standard},
        {"RFC4390", Status::standard}, {"UDMC", Status::informative},    {"IBA", Status::standard}};
    for (const auto* r : all()) {
        CAPTURE(r->id);
        CHECK(name(r->status()) == (r->status() == Status::standard ? "standard" : "informative"));
        CHECK(r->status() == first_pages.at(r->document()));
    }
}

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

std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> words;
    std::istringstream in(text);
    for (std::string word; std::getline(in, word, at);) words.push_back(word);
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

/// A line of the list, in the order of its columns.
struct Entry {
    std::string id, level, strength, binds, seen, test, same_as, part_of;
};

std::vector<Entry> statement_list() {
    std::istringstream lines(text_of(golden / "requirements.tsv"));
    std::vector<Entry> list;
    for (std::string line; std::getline(lines, line);) {
        if (line.starts_with("#")) continue;
        auto c = split(line, '\t');
        c.resize(8);
        list.push_back({c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]});
    }
    return list;
}

void includes(const Ids& ids, const std::string& theirs) {
    for (const auto& id : split(theirs, ',')) {
        CAPTURE(id);
        CHECK(std::find(ids.begin(), ids.end(), id) != ids.end());
    }
}

void compare(const Requirement& ours, const Entry& theirs) {
    CAPTURE(ours.id);
    CHECK(ours.level == theirs.level);
    CHECK(ours.strength == strengths.at(theirs.strength));
    CHECK(ours.binds == set_of(split(theirs.binds, ','), parties));
    CHECK(ours.seen == set_of(letters(theirs.seen), places));
    CHECK(ours.test == set_of(letters(theirs.test), ways));
    includes(ours.same_as, theirs.same_as);
    includes(ours.part_of, theirs.part_of);
}

}  // namespace

TEST_CASE("Catalogue: every entry of the statement list is there, in its order and with its marks") {
    const auto list = statement_list();
    std::vector<std::string> theirs, ours;
    for (const auto& entry : list) theirs.push_back(entry.id);
    for (const auto* r : all()) ours.emplace_back(r->id);
    std::erase_if(ours, [&](const auto& id) { return std::find(theirs.begin(), theirs.end(), id) == theirs.end(); });
    CHECK(theirs.size() == 208);
    // Statements found later are added to the catalogue only, so ours may have more.
    REQUIRE(ours == theirs);
    for (const auto& entry : list) compare(*find(entry.id), entry);
}
