// SPDX-License-Identifier: GPL-2.0-or-later
// Transactions with the SA: repeated until answered, matched by the low half of the TransactionID. IBTA Vol 1, 13.4.6.
#include "fabric/node/sa_client.hpp"

#include "fabric/node/sa_table.hpp"

#include <algorithm>
#include <deque>

namespace ipoib::fabric {
using namespace wire;

namespace {

/// The P_Key that the SA is reached with: the default partition's, where the port is in it.
std::uint16_t management_p_key(const PortFacts& facts) noexcept {
    constexpr std::uint16_t default_partition = 0x7fff;
    for (const auto p_key : facts.p_keys)
        if (is_same_partition(p_key, default_partition)) return p_key;
    for (const auto p_key : facts.p_keys)
        if ((p_key & default_partition) != 0) return p_key;
    return default_partition | full_membership;
}

MadOctets compose(const SaRequest& request, std::uint64_t transaction, std::uint64_t sm_key) {
    MadOctets mad{};
    const MutableOctets all{mad};
    constexpr std::uint8_t sa_class_version = 2;
    set_field(all, Mad::base_version, 1);
    set_field(all, Mad::mgmt_class, MgmtClass::subn_adm);
    set_field(all, Mad::class_version, sa_class_version);
    set_field(all, Mad::method, request.method);
    set_field(all, Mad::transaction_id, transaction);
    set_field(all, Mad::attribute_id, request.attribute);
    set_field(all, Mad::attribute_modifier, request.modifier);
    set_field(all.subspan(Mad::size), Rmpp::version, 1);
    const auto sa = all.subspan(Mad::size + Rmpp::size);
    set_field(sa, SaHeader::component_mask, request.component_mask);
    if (request.is_trusted) set_field(sa, SaHeader::sm_key, sm_key);
    std::copy_n(request.record.begin(), std::min(request.record.size(), SaHeader::data_size),
                mad.begin() + SaHeader::data_offset);
    return mad;
}

}  // namespace

struct SaClient::State {
    State(Gsi& g, const SaClient& c) : gsi(g), client(c) {}
    ~State() { forget_all(); }

    struct Transaction {
        MadOctets mad{};
        std::uint16_t attribute = 0;
        Answered answered;
        std::uint16_t asked_lid = 0;  ///< where the request went last
        Duration timeout{};
        unsigned retries = 0, repeats = 0;
        TimerId timer{};
        SaTable table{};
        bool is_cut = false;
    };
    /// A table that is whole, whose last segment may come again: its acknowledgement was lost.
    struct Finished {
        std::uint32_t transaction;
        std::uint32_t last_segment;
    };
    using Open = std::map<std::uint32_t, Transaction>;

    /// Where the SA is.
    [[nodiscard]] std::uint16_t manager_lid() const {
        return client.manager_lid != 0 ? client.manager_lid : gsi.facts().sm_lid;
    }
    void send(Transaction& transaction);
    void wait(Open::iterator at);
    void expire(std::uint32_t number);
    void receive(const Datagram& datagram);
    void receive_segment(const Packet& packet, Open::iterator at);
    void receive_report(const Packet& packet);
    void finish(Open::iterator at, SaAnswer answer);
    void forget_all();

    /// Whether the same came before, but for so many others since.
    [[nodiscard]] bool is_repeated(const Packet& report);

    static constexpr std::size_t most_finished = 16, most_heard = 64;
    Gsi& gsi;
    const SaClient& client;
    Open open;  ///< by the low half of the TransactionID
    std::uint32_t last = 0;
    std::deque<Finished> finished;
    std::deque<std::pair<std::uint16_t, MadOctets>> heard;  ///< reports, by the LID that they came from
    std::function<void(View<Notice>)> listener;
};

SaClient::SaClient(Gsi& gsi) : state_(std::make_unique<State>(gsi, *this)) {
    gsi.on_mad(MgmtClass::subn_adm, [state = state_.get()](const Datagram& d) { state->receive(d); });
}
SaClient::~SaClient() { state_->gsi.on_mad(MgmtClass::subn_adm, nullptr); }

std::uint32_t SaClient::ask(const SaRequest& request, Answered answered, Patience patience) {
    auto& s = *state_;
    if (!request.is_again || s.last == 0) s.last = s.gsi.new_transaction();
    const auto number = s.last;
    forget(number);
    const auto upper = static_cast<std::uint32_t>(s.gsi.facts().gid.interface_id());
    State::Transaction transaction;
    transaction.mad = compose(request, std::uint64_t{upper} << 32 | number, sm_key);
    transaction.attribute = request.attribute;
    transaction.answered = std::move(answered);
    transaction.timeout = patience.timeout;
    transaction.retries = patience.retries;
    const auto at = s.open.insert_or_assign(number, std::move(transaction)).first;
    s.wait(at);
    s.send(at->second);
    return number;
}

void SaClient::forget(std::uint32_t transaction) {
    auto& s = *state_;
    const auto at = s.open.find(transaction);
    if (at == s.open.end()) return;
    s.gsi.loop().cancel(at->second.timer);
    s.open.erase(at);
}

SaAnswer SaClient::answer_to(const SaRequest& request, Duration patience) {
    // The answer may come after this call gave up, when the loop was stopped.
    struct Pending {
        SaAnswer answer;
        bool is_over = false;
    };
    const auto pending = std::make_shared<Pending>();
    ask(request, [pending](const SaAnswer& answer) { *pending = {answer, true}; }, {.timeout = patience});
    constexpr int longest = 100;
    auto& loop = state_->gsi.loop();
    loop.run_until([&] { return pending->is_over; }, loop.now() + longest * patience);
    return pending->answer;
}
void SaClient::forget_all() { state_->forget_all(); }
void SaClient::on_report(std::function<void(View<Notice>)> listener) { state_->listener = std::move(listener); }

void SaClient::State::send(Transaction& transaction) {
    const auto facts = gsi.facts();
    const auto lid = transaction.asked_lid = manager_lid();
    gsi.send_mad({.slid = facts.lid, .dlid = lid, .sl = facts.sm_sl, .p_key = management_p_key(facts)}, transaction.mad,
                 transaction.timeout);
}

void SaClient::State::wait(Open::iterator at) {
    gsi.loop().cancel(at->second.timer);
    at->second.timer = gsi.loop().after(at->second.timeout, [this, number = at->first] { expire(number); });
}

void SaClient::State::expire(std::uint32_t number) {
    const auto at = open.find(number);
    if (at == open.end()) return;
    if (at->second.retries == 0) return finish(at, SaAnswer{});
    --at->second.retries;
    ++at->second.repeats;
    wait(at);
    send(at->second);
}

void SaClient::State::receive(const Datagram& datagram) {
    const auto& packet = *datagram.packet;
    if (!packet.sa) return;
    const auto method = packet.mad[Mad::method];
    const auto from = packet.lrh[Lrh::slid];
    if (method == Method::report) {
        if (client.believes_anyone || from == manager_lid()) receive_report(packet);
        return;
    }
    const auto number = static_cast<std::uint32_t>(packet.mad[Mad::transaction_id]);
    const auto at = open.find(number);
    const bool is_segment = packet.rmpp[Rmpp::active] && packet.rmpp[Rmpp::type] != RmppType::none;
    if (!is_response(method)) return;
    // Any port can send what looks like an answer: of the address that was not asked it is none.
    if (at != open.end() && !client.believes_anyone && from != at->second.asked_lid) return;
    if (at != open.end()) at->second.is_cut |= datagram.is_cut;
    if (is_segment) return receive_segment(packet, at);
    if (at == open.end() || packet.mad[Mad::attribute_id] != at->second.attribute) return;
    const auto status = packet.mad[Mad::status];
    if (status & mad_status::busy) return;

    SaAnswer answer{.is_answered = true, .method = method, .status = status};
    const auto data = packet.payload.subspan(SaHeader::data_offset);
    answer.data.assign(data.begin(), data.end());
    answer.record_size = packet.sa[SaHeader::attribute_offset] * SaHeader::offset_unit;
    finish(at, std::move(answer));
}

void SaClient::State::receive_segment(const Packet& packet, Open::iterator at) {
    const auto reply = [&](const MadOctets& mad) { gsi.send_mad(MadPath::back(packet, gsi.facts().lid), mad, {}); };
    if (at == open.end()) {
        const auto number = static_cast<std::uint32_t>(packet.mad[Mad::transaction_id]);
        const auto known = std::find_if(finished.begin(), finished.end(),
                                        [number](const Finished& f) { return f.transaction == number; });
        if (known != finished.end() && packet.rmpp[Rmpp::type] == RmppType::data)
            reply(rmpp_ack(packet.payload, known->last_segment, known->last_segment));
        return;
    }
    if (packet.mad[Mad::attribute_id] != at->second.attribute) return;
    auto step = at->second.table.take(packet.lrh[Lrh::slid], packet.lrh[Lrh::dlid], packet.payload);
    if (step.reply) reply(*step.reply);
    if (step.is_progress) wait(at);
    if (!step.table) return;

    const auto head = step.table->mad();
    const auto status = head[Mad::status];
    if (finished.size() == most_finished) finished.pop_front();
    finished.push_back({at->first, at->second.table.in_order()});
    SaAnswer answer{.is_answered = true, .method = head[Mad::method], .status = status};
    answer.record_size = step.table->record_size;
    answer.data = std::move(step.table->data);
    finish(at, std::move(answer));
}

bool SaClient::State::is_repeated(const Packet& report) {
    std::pair<std::uint16_t, MadOctets> one{report.lrh[Lrh::slid], {}};
    std::copy_n(report.payload.begin(), one.second.size(), one.second.begin());
    if (std::ranges::find(heard, one) != heard.end()) return true;
    if (heard.size() == most_heard) heard.pop_front();
    heard.push_back(one);
    return false;
}

void SaClient::State::receive_report(const Packet& packet) {
    if (packet.mad[Mad::attribute_id] != attribute::notice) return;
    if (client.answers_reports) {
        MadOctets response{};
        std::copy(packet.payload.begin(), packet.payload.end(), response.begin());
        set_field(MutableOctets{response}, Mad::method, Method::report_resp);
        gsi.send_mad(MadPath::back(packet, gsi.facts().lid), response, {});
    }
    if (!client.tells_repeated_reports && is_repeated(packet)) return;
    const auto told = listener;  // may be replaced while it runs
    if (told) told(View<Notice>::at(packet.payload.subspan(SaHeader::data_offset)));
}

/// Nothing of this object is touched after the call: it may end the client.
void SaClient::State::finish(Open::iterator at, SaAnswer answer) {
    answer.is_cut = at->second.is_cut;
    answer.repeats = at->second.repeats;
    gsi.loop().cancel(at->second.timer);
    const auto answered = std::move(at->second.answered);
    open.erase(at);
    if (answered) answered(answer);
}

void SaClient::State::forget_all() {
    for (auto& [number, transaction] : open) gsi.loop().cancel(transaction.timer);
    open.clear();
}

}  // namespace ipoib::fabric
