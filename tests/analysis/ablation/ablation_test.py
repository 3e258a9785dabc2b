import subprocess
from pathlib import Path

from elmo_tasks.analysis.ablation.ablation import train_all, why_failed
from elmo_tasks.analysis.ablation.run import Run


def runs(folder: Path, number: int) -> list[Run]:
    return [Run(folder, "both", seed) for seed in range(number)]


def test_no_more_than_so_many_are_trained_at_a_time(tmp_path: Path) -> None:
    processes: list[subprocess.Popen] = []

    def begin(run: Run) -> subprocess.Popen:
        assert sum(process.poll() is None for process in processes) < 2
        processes.append(subprocess.Popen(["sleep", "0.3"]))
        return processes[-1]

    ended = dict(train_all(runs(tmp_path, 5), begin, jobs=2))

    assert sorted(ended) == runs(tmp_path, 5) and list(ended.values()) == processes


def test_what_runs_ends_with_the_ablation(tmp_path: Path) -> None:
    sleeping = subprocess.Popen(["sleep", "100"])
    trainings = train_all(runs(tmp_path, 3), lambda run: None if run.seed else sleeping, jobs=2)
    run, process = next(trainings)
    assert (run.seed, process) == (1, None)

    trainings.close()

    assert sleeping.poll() is not None


def test_a_run_that_failed_says_how_and_with_what_last_word(tmp_path: Path) -> None:
    (run,) = runs(tmp_path, 1)
    run.log.parent.mkdir(parents=True)
    run.log.write_text("Traceback\nValueError: no such file\n\n")
    failed, killed = subprocess.Popen(["false"]), subprocess.Popen(["sleep", "9"])
    killed.kill()

    for process, cause in ((failed, "exit 1"), (killed, "signal 9")):
        process.wait()
        assert why_failed(run, process) == f"{cause}: ValueError: no such file"
