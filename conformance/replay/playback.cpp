// SPDX-License-Identifier: GPL-2.0-or-later
// One place in the journal, which inputs leave behind when their time has come, and the tester when it does what stands
// there.
#include "conformance/replay/playback.hpp"

#include "base/json_object.hpp"
#include "base/one_line.hpp"
#include "protocol/wire/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace ipoib::conformance::replay {
namespace {

/// As the journal writes a request: members in their order, no blanks.
std::string canonical(const std::string& line) {
    const auto object = object_in<nlohmann::ordered_json>(line);
    return object ? json_line(*object) : line;
}

bool is_same(const fabric::SaRequest& a, const fabric::SaRequest& b) {
    return a.method == b.method && a.attribute == b.attribute && a.modifier == b.modifier &&
           a.component_mask == b.component_mask && a.record == b.record && a.is_trusted == b.is_trusted;
}

std::string text_of(const fabric::SaRequest& request) {
    return fmt::format("method {:#x}, attribute {:#06x}, modifier {:#x}, mask {:#x}, record {}",
                       static_cast<unsigned>(request.method), request.attribute, request.modifier,
                       request.component_mask, wire::hex_octets(request.record));
}

std::string_view octets_as_text(wire::Octets octets) {
    return {reinterpret_cast<const char*>(octets.data()), octets.size()};
}

std::string text_of(const wire::Gid& mgid, std::uint16_t mlid) { return text(mgid) + " at " + wire::hex(mlid, 4); }

}  // namespace

class Playback::PlayedPort : public fabric::Port {
public:
    PlayedPort(Playback& playback, std::uint32_t number) : playback_(playback), number_(number) {}

    [[nodiscard]] fabric::PortFacts facts() const override {
        const auto* next = playback_.head();
        const bool is_known = facts_.has_value();
        if (next && next->kind == Kind::port && next->port == number_ && !playback_.begun_here() &&
            (!is_known || next->at <= playback_.loop_.now() + playback_.lag()))
            playback_.deliver();
        return facts_.value_or(fabric::PortFacts{});
    }
    [[nodiscard]] std::string send(wire::Octets frame) override {
        const auto* entry = playback_.expect(Kind::sent, "sends " + wire::hex_octets(frame));
        if (!entry) return {};
        playback_.compare(*entry,
                          fmt::format("port {}, ", entry->port) + wire::hex_octets(entry->octets, ~std::size_t{0}),
                          fmt::format("port {}, ", number_) + wire::hex_octets(frame, ~std::size_t{0}));
        return entry->text;
    }
    [[nodiscard]] std::string attach(const wire::Gid& mgid, std::uint16_t mlid) override {
        const auto* entry = playback_.expect(Kind::attached, "attaches to " + text(mgid));
        if (!entry) return {};
        playback_.compare(*entry, text_of(entry->exchange->mgid, entry->exchange->mlid), text_of(mgid, mlid));
        return entry->text;
    }
    void detach(const wire::Gid&, std::uint16_t) override {}
    void set_q_key(std::uint32_t) override {}
    void on_datagram(std::function<void(wire::Octets)> listener) override { took_ = std::move(listener); }
    [[nodiscard]] fabric::SaAnswer ask_sa(const fabric::SaRequest& request, fabric::Duration) override {
        const auto* entry = playback_.await(Kind::sa, "asks the subnet administrator, " + text_of(request));
        if (!entry) return {};
        playback_.demand_sight(*entry);
        if (!is_same(entry->exchange->sa_request, request) || entry->port != number_)
            playback_.compare(*entry, text_of(entry->exchange->sa_request), text_of(request) + " ");
        return entry->exchange->sa_answer;
    }
    void on_report(std::function<void(wire::View<wire::Notice>)> listener) override { reported_ = std::move(listener); }

    void found(const fabric::PortFacts& facts) { facts_ = facts; }
    void take(wire::Octets frame) const {
        const auto took = took_;  // may be replaced meanwhile
        if (took) took(frame);
    }
    void report(wire::Octets octets) const {
        const auto reported = reported_;
        if (reported) reported(wire::View<wire::Notice>::at(octets));
    }

private:
    Playback& playback_;
    std::uint32_t number_;
    std::optional<fabric::PortFacts> facts_;
    std::function<void(wire::Octets)> took_;
    std::function<void(wire::View<wire::Notice>)> reported_;
};

Playback::Playback(std::vector<Journal> journals, Surroundings surroundings) : surroundings_(std::move(surroundings)) {
    std::uint32_t ports = 1;
    for (auto& journal : journals) {
        files_.push_back(journal.path.filename().string());
        is_virtual_ = is_virtual_ && journal.head.is_virtual;
        for (auto& entry : journal.entries) {
            entry.file = static_cast<std::uint32_t>(files_.size() - 1);
            ports = std::max(ports, entry.port + 1);
            if (entry.during > entries_.size())
                throw std::invalid_argument(files_.back() + " line " + std::to_string(entry.line) +
                                            ": during is more than stands before it");
            if (entry.during > 0) waiting_[entries_.size() - entry.during].push_back(entries_.size());
            entries_.push_back(std::move(entry));
        }
    }
    if (surroundings_.abilities.has(fabric::Ability::two_ports)) ports = std::max(ports, 2u);
    for (std::uint32_t i = 0; i < ports; ++i) {
        own_.push_back(std::make_unique<PlayedPort>(*this, i));
        ports_.push_back(own_.back().get());
    }
    arm();
}

Playback::~Playback() { loop_.cancel(timer_); }

const Entry* Playback::head() {
    for (; cursor_ < entries_.size(); ++cursor_) {
        const auto& entry = entries_[cursor_];
        if (entry.kind == Kind::begins) {
            is_case_done_ = false;
        } else if (entry.kind != Kind::ends) {
            return &entry;
        } else if (!is_case_done_) {
            return nullptr;
        }
    }
    return nullptr;
}

void Playback::arm() {
    loop_.cancel(timer_);
    const auto* next = head();
    if (next && is_input(next->kind) && !begun_here() && difference_.empty())
        timer_ = loop_.at(next->at, [this] { deliver_together(); });
}

/// What comes at the same time, with nothing between that the tester did and no moment to look, came in one go: a node
/// sends two frames at once, a stream is read to its end.
void Playback::deliver_together() {
    const auto* const first = head();
    if (!first) return;
    const auto at = first->at;
    for (const auto* next = first; next && is_input(next->kind) && next->at == at && !begun_here(); next = head()) {
        if (next != first && next->is_apart) return;
        deliver();
    }
}

void Playback::deliver() {
    loop_.cancel(timer_);
    const auto* next = head();
    if (!next) return;
    ++cursor_;
    hand_over(*next);
    arm();
}

void Playback::hand_over(const Entry& entry) {
    auto& port = *own_[entry.port];
    switch (entry.kind) {
        case Kind::seen:
            if (surroundings_.abilities.has(fabric::Ability::see_all)) remember(entry);
            if (observer_)
                observer_(
                    {.time = entry.at, .octets = entry.octets, .sender = entry.sender, .is_rebuilt = entry.is_rebuilt});
            return;
        case Kind::took:
            demand_sight(entry);
            port.take(entry.octets);
            return;
        case Kind::report:
            demand_sight(entry);
            port.report(entry.octets);
            return;
        case Kind::port:
            port.found(entry.exchange->facts);
            return;
        case Kind::timer:
            fire(entry);
            return;
        default:
            return;
    }
}

fabric::TimerId Playback::after(fabric::Duration delay, std::function<void()> action) {
    timers_[++timers_set_] = {loop_.now() + delay, std::move(action)};
    return {timers_set_};
}

void Playback::cancel(fabric::TimerId& timer) noexcept { timers_.erase(std::exchange(timer, fabric::TimerId{}).value); }

void Playback::fire(const Entry& entry) {
    if (!difference_.empty()) return;
    const auto timer = timers_.extract(entry.number);
    if (timer.empty() || (is_virtual_ && timer.mapped().due != entry.at)) {
        difference_ = place(entry) + (timer.empty() ? ": the tester has set no such timer"
                                                    : ": the tester has set this timer for another time");
        return;
    }
    timer.mapped().action();
}

void Playback::remember(const Entry& sighting) {
    // Of the administrator only what came last can be the answer to a question.
    constexpr std::size_t most_kept = std::size_t{1} << 20;
    seen_.insert(std::hash<std::string_view>{}(octets_as_text(sighting.octets)));
    if (sighting.sender != fabric::Sender::sa) return;
    if (last_of_sa_.size() > most_kept) last_of_sa_.erase(0, most_kept / 2);
    last_of_sa_ += octets_as_text(sighting.octets);
}

void Playback::demand_sight(const Entry& entry) {
    if (!surroundings_.abilities.has(fabric::Ability::see_all) || !difference_.empty()) return;
    bool is_seen = true;
    if (entry.kind == Kind::took) is_seen = seen_.contains(std::hash<std::string_view>{}(octets_as_text(entry.octets)));
    if (entry.kind == Kind::report) is_seen = last_of_sa_.find(octets_as_text(entry.octets)) != std::string::npos;
    if (entry.kind == Kind::sa) {
        // The first segment of a table; the others have headers of their own.
        constexpr std::size_t of_first = 200;
        const auto data = octets_as_text(entry.exchange->sa_answer.data);
        is_seen = last_of_sa_.find(data.substr(0, of_first)) != std::string::npos;
    }
    if (!is_seen)
        difference_ = place(entry) + fmt::format(": no frame before it holds what \"{}\" tells", name(entry.kind));
}

void Playback::demand_time(const Entry& entry, fabric::Time recorded) {
    if (!is_virtual_ || recorded == loop_.now()) return;
    difference_ = place(entry) + fmt::format(": \"{}\" is recorded at {} ns, and happens at {} ns", name(entry.kind),
                                             recorded.count(), loop_.now().count());
    throw Diverged(difference_);
}

const Entry* Playback::begun_here() {
    const auto here = waiting_.find(cursor_);
    return here == waiting_.end() || here->second.empty() ? nullptr : &entries_[here->second.back()];
}

/// A clock that was real went on where ours stands still.
void Playback::pass_until(fabric::Time time) {
    const auto before = cursor_;
    if (time > loop_.now()) loop_.run_until([&] { return cursor_ != before; }, time);
}

const Entry* Playback::begin(Kind kind, const std::string& what) {
    if (!difference_.empty()) throw Diverged(difference_);
    for (;;) {
        const auto* next = head();
        if (!next && is_case_done_) return nullptr;
        const auto* asked = next ? begun_here() : nullptr;
        if (!asked && next && is_input(next->kind)) {
            deliver();
            continue;
        }
        if (!asked) asked = next;
        if (!asked || asked->kind != kind) differ(asked, what);
        const auto before = cursor_;
        // Before a case the fabric comes up, which takes virtual time as well.
        if (!is_virtual_ || is_case_done_) pass_until(asked->began);
        if (cursor_ != before) continue;
        demand_time(*asked, asked->began);
        if (begun_here() == asked) waiting_[cursor_].pop_back();
        arm();
        return asked;
    }
}

const Entry* Playback::expect(Kind kind, const std::string& what) {
    const auto* asked = begin(kind, what);
    if (!asked) return nullptr;
    for (const auto* next = head(); next != asked; next = head()) {
        if (!next || begun_here() || !is_input(next->kind)) differ(next, what);
        deliver();
    }
    ++cursor_;
    arm();
    return asked;
}

const Entry* Playback::await(Kind kind, const std::string& what) {
    const auto* asked = begin(kind, what);
    if (!asked) return nullptr;
    for (const auto* next = head(); next != asked; next = head()) {
        if (!next) differ(next, what);
        // Inputs come by their timers; what else the tester did meanwhile it does again because of these, or of its
        // own.
        const auto before = cursor_;
        const auto* inner = begun_here();
        loop_.run_until([&] { return cursor_ != before || begun_here() != inner; },
                        std::max(inner ? inner->began : next->at, loop_.now()));
        if (cursor_ != before || begun_here() != inner) continue;
        if (inner || !is_input(next->kind)) differ(next, what);
        deliver();
    }
    pass_until(asked->at);
    demand_time(*asked, asked->at);
    ++cursor_;
    arm();
    return asked;
}

void Playback::end_case() {
    if (difference_.empty() && !is_case_done_) {
        for (const auto* next = head(); next && is_input(next->kind); next = head()) deliver();
        if (const auto* next = head())
            difference_ = place(*next) + fmt::format(": the tester does nothing more, the journal goes on with \"{}\"",
                                                     name(next->kind));
    }
    is_case_done_ = true;
    arm();
}

void Playback::compare(const Entry& entry, std::string_view recorded, std::string_view now) {
    if (recorded == now) return;
    constexpr std::size_t shown = 200;
    const auto at = static_cast<std::size_t>(std::ranges::mismatch(recorded, now).in1 - recorded.begin());
    difference_ =
        place(entry) + fmt::format(
                           ": \"{}\" is not what the tester does there: from character {} on it has "
                           "\"{}\", the tester \"{}\"",
                           name(entry.kind), at, one_line(recorded.substr(at), shown), one_line(now.substr(at), shown));
    throw Diverged(difference_);
}

void Playback::differ(const Entry* entry, const std::string& how) {
    difference_ = entry
                      ? place(*entry) + fmt::format(": \"{}\" stands there, but the tester {}", name(entry->kind), how)
                      : fmt::format("the journal has ended, but the tester {}", how);
    throw Diverged(difference_);
}

std::string Playback::place(const Entry& entry) const {
    return fmt::format("{} line {}", files_[entry.file], entry.line);
}

fabric::ChangeAnswer Playback::change(const fabric::FabricChange& change, fabric::Duration) {
    const auto request = canonical(fabric::text(change));
    const auto* entry = await(Kind::fabric, "changes the fabric: " + request);
    if (!entry) return {};
    compare(*entry, entry->exchange->request, request);
    return fabric::parse_answer(entry->exchange->answer);
}

DutControlReply Playback::ask(const std::string& request, fabric::Duration) { return ask_of(0, request); }

std::string Playback::look_up(const std::string& request) {
    const auto asked = canonical(request);
    const auto* entry = expect(Kind::fabric, "looks up " + asked);
    if (!entry) return {};
    compare(*entry, entry->exchange->request, asked);
    return entry->exchange->answer;
}

DutControlReply Playback::ask_of(std::uint32_t number, const std::string& request) {
    const auto asked = canonical(request);
    const auto* entry = await(Kind::dut, "asks the DUT: " + asked);
    if (!entry) return {.line = {}, .error = "the journal has ended"};
    if (entry->port != number)
        compare(*entry, fmt::format("asked of number {}", entry->port), fmt::format("asked of number {}", number));
    compare(*entry, entry->exchange->request, asked);
    return {.line = entry->exchange->answer, .error = entry->text};
}

bool Playback::waits_for_stopped() {
    const auto* next = head();
    if (!next || next->kind != Kind::dut || !next->exchange->was_stopped) return false;
    ++cursor_;
    arm();
    return true;
}

}  // namespace ipoib::conformance::replay
