// SPDX-License-Identifier: GPL-2.0-or-later
// A subnet administrator that is right, and free: written from IBA and not from the model, it takes at each turn one of
// the choices that the text leaves, by chance. Histories must never find fault with it.
#pragma once

#include "conformance/siege/subject.hpp"

#include <optional>
#include <random>
#include <set>
#include <utility>

namespace ipoib::conformance::siege {

class FreeAdministrator : public Subject {
public:
    /// Which MLID a new group gets.
    enum class Mlids : std::uint8_t { lowest, highest, in_turn, any, last_freed, first_freed, leased, shared };
    static constexpr unsigned mlid_ways = 8;

    /// The seed chooses what it does always, and each time.
    explicit FreeAdministrator(std::uint64_t seed);

    [[nodiscard]] Abilities abilities() const override;
    [[nodiscard]] Ground begin(bool is_anew) override;
    [[nodiscard]] sa_model::Answer ask(const sa_model::Request& request) override;
    [[nodiscard]] sa_model::Answer subscribe(unsigned port, std::uint16_t trap, bool begins) override;
    void repeat() override { is_repeated_ = true; }
    [[nodiscard]] std::vector<sa_model::Seen> look(const wire::Gid& mgid) override;
    [[nodiscard]] std::string set_port(unsigned port, bool is_there) override;
    [[nodiscard]] std::string move_port(unsigned port) override;
    [[nodiscard]] std::string restart() override;
    [[nodiscard]] std::vector<Heard> heard(std::size_t) override { return std::exchange(heard_, {}); }

private:
    using Record = sa_model::Record;
    using Request = sa_model::Request;
    using Answer = sa_model::Answer;
    struct Member {
        unsigned states = 0;
        bool is_proxy = false;
    };
    struct Group {
        Record record;
        bool is_configured = false;
        std::map<unsigned, Member> members{};
    };
    struct Port {
        wire::Gid gid;
        std::vector<std::uint16_t> p_keys;
        std::uint8_t mtu = 4;
        bool is_there = true;
    };
    struct Subscriber {
        unsigned port = 0;
        std::uint16_t trap = 0;
        bool is_reached = true;  ///< its LID is that of its port still
    };

    [[nodiscard]] unsigned below(unsigned count) { return static_cast<unsigned>(random_() % count); }
    [[nodiscard]] bool coin() { return below(2) == 0; }
    void configure();
    [[nodiscard]] Answer refused(std::uint16_t status = 0);
    [[nodiscard]] Answer answer(const Request& request);
    /// A group's record as it is told: the membership bit of its P_Key is nobody's in particular.
    [[nodiscard]] Record told(Record record);
    [[nodiscard]] Answer join(const Request& request, unsigned of, unsigned states);
    [[nodiscard]] Answer leave(const Request& request, unsigned of, unsigned states);
    [[nodiscard]] std::optional<Group> created(const Request& request, unsigned of, unsigned states);
    [[nodiscard]] bool suits(const Request& request, const Group& group, unsigned of);
    [[nodiscard]] bool may_speak_for(const Request& request, unsigned of, const Group* group);
    [[nodiscard]] bool is_in(unsigned port, std::uint16_t p_key, bool in_full) const;
    [[nodiscard]] bool meet(unsigned one, unsigned other) const;
    [[nodiscard]] bool is_held(const Group& group) const;
    [[nodiscard]] std::uint16_t new_mlid(const wire::Gid& mgid);
    [[nodiscard]] bool is_used(std::uint16_t mlid) const;
    void end(const wire::Gid& mgid);
    /// A member may have gone.
    void settle(const wire::Gid& mgid, bool was_held);
    void report(std::uint16_t trap, const Group& group);

    std::mt19937_64 random_;
    Mlids mlids_;
    bool lets_limited_join_, takes_proxies_, tells_limited_, tells_each_subscription_, reports_configured_,
        drops_others_of_configured_, remembers_answers_, follows_lids_, minds_components_, knows_fourth_state_,
        minds_halves_, tells_other_bit_;
    std::vector<Port> ports_;
    std::vector<Record> configured_;
    std::map<wire::Gid, Group> groups_;
    std::vector<Subscriber> subscribers_;
    std::vector<Heard> heard_;
    std::vector<std::uint16_t> freed_;
    std::map<wire::Gid, std::uint16_t> leases_;
    std::uint16_t last_mlid_ = 0;
    std::uint64_t last_own_ = 0;
    std::uint32_t group_number_ = 0;
    bool is_repeated_ = false;
    Answer last_answer_;
};

}  // namespace ipoib::conformance::siege
