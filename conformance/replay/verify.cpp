// SPDX-License-Identifier: GPL-2.0-or-later
#include "conformance/replay/verify.hpp"

#include "base/temporary_folder.hpp"
#include "conformance/replay/digest.hpp"
#include "conformance/replay/meeting.hpp"
#include "conformance/replay/playback.hpp"
#include "conformance/replay/tapes.hpp"
#include "fabric/capture/reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

namespace ipoib::conformance::replay {
namespace {

namespace fs = std::filesystem;

/// Gives the cases what their journals hold, session by session.
class PlaybackRig : public Rig {
public:
    PlaybackRig(const fs::path& folder, const Record& record, std::vector<std::string>& wrong)
        : record_(record), wrong_(wrong), tapes_(folder, record, wrong) {}
    ~PlaybackRig() override { drop(); }

    Session& prepare(std::uint64_t seed) override {
        if (session_) return *session_;
        playback_ = std::make_unique<Playback>(tapes_.next(), Surroundings{record_.abilities, record_.fabric});
        auto options = record_.session;
        if (record_.is_virtual) options.seed = seed;
        session_ = std::make_unique<Session>(*playback_, *playback_, options);
        try {
            session_->begin();
        } catch (...) {
            drop();
            throw;
        }
        return *session_;
    }
    [[nodiscard]] std::string clean_up(CaseEnd end) override {
        if (!playback_) return {};
        const bool did_fit = fits();
        playback_->end_case();
        if (did_fit && !fits() && on_another_end) on_another_end();
        if (session_ && !record_.is_virtual && !end.is_broken) {
            try {
                session_->undo();
            } catch (const std::exception&) {
                end.is_broken = true;
            }
        }
        if (record_.is_virtual || end.is_broken || !playback_->difference().empty()) drop();
        return {};
    }
    [[nodiscard]] fabric::Abilities abilities() const override { return record_.abilities; }
    [[nodiscard]] std::vector<std::pair<std::string, std::string>> fabric_facts() const override {
        return record_.fabric;
    }
    [[nodiscard]] bool is_virtual() const override { return record_.is_virtual; }

    [[nodiscard]] const Tapes& tapes() const noexcept { return tapes_; }
    /// Whether the tester has done in this session what it did.
    [[nodiscard]] bool fits() const { return playback_ && playback_->difference().empty(); }
    /// Told where a case has ended, and the journal goes on.
    std::function<void()> on_another_end{};

private:
    void drop() noexcept {
        if (playback_) {
            playback_->end_case();
            if (session_ && !record_.is_virtual) session_->end();
            if (!playback_->difference().empty())
                wrong_.push_back(playback_->difference());
            else if (!playback_->is_over())
                wrong_.emplace_back("a journal goes on behind what the tester does");
        }
        session_.reset();
        playback_.reset();
    }

    const Record& record_;
    std::vector<std::string>& wrong_;
    Tapes tapes_;
    std::unique_ptr<Playback> playback_;
    std::unique_ptr<Session> session_;
};

/// Where two captures differ: the first frame that is not the same.
std::string difference(const fs::path& recorded, const fs::path& again) {
    auto left = capture::Reader::open(recorded.string()), right = capture::Reader::open(again.string());
    capture::Frame a, b;
    for (std::size_t number = 1;; ++number) {
        const bool has_a = left.next(a) == capture::Status::frame, has_b = right.next(b) == capture::Status::frame;
        const auto file = recorded.filename().string();
        if (!has_a && !has_b) return file + " is not what was written of these frames";
        if (has_a != has_b)
            return fmt::format("{}: frame {} {}", file, number,
                               has_a ? "is in no journal" : "of the journal is missing");
        const bool is_same = std::ranges::equal(a.octets, b.octets) && a.time_ns == b.time_ns &&
                             left.interface_name(a.interface) == right.interface_name(b.interface) &&
                             a.comment == b.comment;
        if (!is_same) return fmt::format("{}: frame {} is not what the journal has", file, number);
    }
}

/// Of every file, and of no other.
void compare_hashes(const fs::path& folder, Verified& verified) {
    std::map<std::string, std::string> hashes(verified.record.hashes.begin(), verified.record.hashes.end());
    for (const auto& scene : verified.record.scenes)
        for (const auto& name : files_of(scene)) {
            const auto recorded = hashes.extract(name);
            if (!fs::exists(folder / name))
                verified.wrong.push_back(name + " is missing");
            else if (!recorded)
                verified.wrong.push_back(name + " has no hash in the record");
            else if (sha256(content_of(folder / name, most_of_file)) != recorded.mapped())
                verified.wrong.push_back(name + " is not as it was written: its SHA-256 is another");
        }
    for (const auto& [name, hash] : hashes) verified.wrong.push_back(name + " has a hash, and is of no case");
}

void compare_captures(const fs::path& folder, const fs::path& again, Verified& verified) {
    for (const auto& scene : verified.record.scenes) {
        const auto name = files_of(scene)[0];
        if (!fs::exists(folder / name)) continue;
        if (!fs::exists(again / name)) {
            verified.wrong.push_back(name + " is not of a case that comes out now");
        } else if (content_of(folder / name, most_of_file) != content_of(again / name, most_of_file)) {
            verified.wrong.push_back(difference(folder / name, again / name));
        }
    }
    for (const auto& entry : fs::directory_iterator(again)) {
        const auto scene = entry.path().stem().string();
        if (std::ranges::find(verified.record.scenes, scene) == verified.record.scenes.end())
            verified.wrong.push_back(scene + " comes out now, and is not in the evidence");
    }
}

void compare_verdicts(Verified& verified) {
    const auto now = verdicts_of(verified.results);
    const auto words = [](const Record::Verdict& one) {
        return fmt::format("{}{}{} ({} observed, {} violations)", one.verdict, one.type.empty() ? "" : " ", one.type,
                           one.observed, one.violations);
    };
    std::set<std::string> seen;
    for (const auto& one : verified.record.verdicts) {
        if (!seen.insert(one.id).second) verified.wrong.push_back(one.id + " is recorded twice");
        const auto found = std::ranges::find(now, one.id, &Record::Verdict::id);
        if (found == now.end())
            verified.wrong.push_back(fmt::format("{} is recorded as {}, and is not judged now", one.id, words(one)));
        else if (!(*found == one))
            verified.wrong.push_back(
                fmt::format("{} is recorded as {}, and comes out as {}", one.id, words(one), words(*found)));
    }
    for (const auto& one : now)
        if (std::ranges::find(verified.record.verdicts, one.id, &Record::Verdict::id) == verified.record.verdicts.end())
            verified.wrong.push_back(fmt::format("{} comes out as {}, and is not recorded", one.id, words(one)));
}

void play_cases(const fs::path& folder, const fs::path& again, Verified& verified,
                const std::function<void(std::size_t, std::size_t)>& progress) {
    const auto& record = verified.record;
    std::map<std::string, std::vector<std::string>> verdicts;
    PlaybackRig rig{folder, record, verified.wrong};
    auto run = record.run;
    run.evidence = again.string();
    std::string last;
    rig.on_another_end = [&] {
        if (last.empty()) return;
        verified.left_out.push_back(std::exchange(last, {}));
        --verified.scenes;
    };
    run.witness = [&](const Case& one, const Recorder& recorder, const reports::Result& result) {
        if (!rig.fits()) return;
        auto& now = verdicts[std::string(one.id)];
        now.emplace_back(reports::name(result.verdict));
        last = std::string(one.id) + (now.size() == 1 ? std::string{} : '-' + std::to_string(now.size()));
        std::erase(verified.left_out, last);
        verified.frames += recorder.size();
        ++verified.scenes;
        if (progress) progress(verified.scenes, record.scenes.size());
    };
    verified.results = conformance::run(run, rig);
    for (const auto& [scene, case_id, verdict] : rig.tapes().ended()) {
        auto& now = verdicts[case_id];
        if (std::ranges::find(verified.left_out, scene) != verified.left_out.end()) continue;
        if (now.empty() || now.front() != verdict)
            verified.wrong.push_back(
                fmt::format("the journal of {} ends with {}, the case {}", scene, verdict,
                            now.empty() ? "does not come to its end" : "comes out as " + now.front()));
        if (!now.empty()) now.erase(now.begin());
    }
}

}  // namespace

Verified verify(const fs::path& folder, const std::string& called,
                const std::function<void(std::size_t, std::size_t)>& progress) {
    constexpr std::uintmax_t most = std::uintmax_t{16} << 20;
    const auto path = folder / Record::file;
    if (!fs::is_regular_file(path))
        throw std::invalid_argument(called + " is no evidence of a run: it has no " + std::string(Record::file));
    Verified verified{.record = parse_record(content_of(path, most), called + ": " + std::string(Record::file))};
    const auto& record = verified.record;
    if (!record.why_not.empty()) throw std::invalid_argument(called + " cannot be played again: " + record.why_not);
    compare_hashes(folder, verified);
    const TemporaryFolder again;
    verified.left_out = record.scenes;
    if (record.is_meeting())
        play_meeting(folder, again.path(), verified, progress);
    else
        play_cases(folder, again.path(), verified, progress);
    // What was not judged again has no verdict that could fit, and what the rules say is of all of it.
    if (!verified.left_out.empty()) {
        verified.wrong.push_back(fmt::format("not judged again: {}", fmt::join(verified.left_out, ", ")));
        return verified;
    }
    if (verified.results.dut != record.dut)
        verified.wrong.emplace_back("the DUT tells other facts of itself in the journals than are recorded");
    compare_captures(folder, again.path(), verified);
    compare_verdicts(verified);
    return verified;
}

}  // namespace ipoib::conformance::replay
