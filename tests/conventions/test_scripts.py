"""The scripts and commands that people source and call, and the files that scripts read."""

import shutil

import pytest
from install import CONTEXT_C, LIB64, LOADED, PREFIX, compile_c, run, write

SCRIPTS = ["set_env.sh", "bin/setenv.bash"]
HOME_VARIABLES = ["ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_INSTALL_PATH"]
LISTS = {"LD_LIBRARY_PATH": "cann/lib64", "PYTHONPATH": "python/site-packages", "PATH": "bin"}


def bare(**more):
    """An environment as after logging in."""
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/", **more}


def variables(shell, script, env):
    """The environment after `script`, run in a shell that stops at every unset variable and every failure."""
    done = run(*shell, f"set -eu\n{script}\nenv -0", env=env)
    return dict(entry.split("=", 1) for entry in done.stdout.split("\0") if "=" in entry)


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_sourced_script_sets_the_documented_variables(script):
    after = variables(["bash", "-c"], f"source '{PREFIX}/{script}'", bare())
    for name in HOME_VARIABLES:
        assert after[name] == str(PREFIX), name
    assert after["ASCEND_OPP_PATH"] == str(PREFIX / "opp")
    assert after["LD_LIBRARY_PATH"] == str(LOADED)
    assert after["PYTHONPATH"] == str(PREFIX / "python/site-packages")
    assert after["PATH"] == f"{PREFIX}/bin:{bare()['PATH']}"


@pytest.mark.parametrize("script", SCRIPTS)
def test_lists_keep_what_they_held_and_do_not_grow_when_sourced_twice(script):
    held = bare(LD_LIBRARY_PATH="/a:/b", PYTHONPATH="/c")
    after = variables(["bash", "-c"], f"source '{PREFIX}/{script}'; source '{PREFIX}/{script}'", held)
    assert after["LD_LIBRARY_PATH"] == f"{LOADED}:/a:/b"
    assert after["PYTHONPATH"] == f"{PREFIX}/python/site-packages:/c"
    assert after["PATH"] == f"{PREFIX}/bin:{held['PATH']}"


def test_scripts_work_from_inside_the_tree_and_leave_the_current_folder():
    for folder, script in ((PREFIX, "set_env.sh"), (PREFIX / "bin", "setenv.bash"), (PREFIX / "bin", "../set_env.sh")):
        done = run("bash", "-c", f"set -eu; source {script}; echo $ASCEND_HOME_PATH; pwd", env=bare(), cwd=folder)
        assert done.stdout.splitlines() == [str(PREFIX), str(folder)]


def test_a_moved_tree_works(tmp_path):
    moved = tmp_path / "moved tree"
    shutil.copytree(PREFIX, moved, symlinks=True)
    source = write(tmp_path / "program.c", CONTEXT_C)
    after = variables(["bash", "-c"], f"source '{moved}/set_env.sh'", bare())
    assert after["ASCEND_HOME_PATH"] == str(moved)
    run(
        "cc", "-I", moved / "include", "-o", tmp_path / "program", source, "-L", moved / "devlib", "-lge_runner", "-ldl"
    )
    assert run(tmp_path / "program", env=after).stdout.strip() == str(moved / "cann/lib64/libascendcl.so")
    assert run(moved / "bin/jumar", "run", "--", tmp_path / "program", env=bare()).returncode == 0


def test_jumar_env_says_the_same_as_the_scripts():
    by_script = variables(["bash", "-c"], f"source '{PREFIX}/set_env.sh'", bare())
    by_command = variables(["sh", "-c"], f'eval "$("{PREFIX}/bin/jumar" env)"', bare())
    names = [*HOME_VARIABLES, "ASCEND_OPP_PATH", *LISTS]
    assert {n: by_command.get(n) for n in names} == {n: by_script.get(n) for n in names}


def test_a_shell_that_does_not_know_the_path_of_the_script_prints_an_alternative():
    if shutil.which("dash") is None:
        pytest.skip("there is no dash on this machine")
    done = run("dash", "-c", f". '{PREFIX}/set_env.sh'", env=bare())
    assert "jumar env" in done.stderr


def test_jumar_run_sets_up_one_program_and_returns_its_status(tmp_path):
    program = compile_c(
        write(tmp_path / "program.c", CONTEXT_C), tmp_path / "program", "-L", LIB64, "-lascendcl", "-ldl"
    )
    jumar = PREFIX / "bin/jumar"
    # Programs, MindSpore among them, stop unless the path of the loaded runtime contains `cann` or `latest`.
    assert run(jumar, "run", "--", program, env=bare()).stdout.strip() == str(LOADED / "libascendcl.so")
    assert run(jumar, "run", "--", "sh", "-c", "exit 7", env=bare(), check=False).returncode == 7
    assert run(jumar, "run", "--", "/no/such/program", env=bare(), check=False).returncode == 127


def test_the_tools_answer(tmp_path):
    assert "jumar" in run(PREFIX / "bin/jumar", "--version").stdout
    assert "--framework" in run(PREFIX / "bin/atc", "--help").stdout
    arguments = ["--framework=5", f"--model={tmp_path}/no.onnx", f"--output={tmp_path}/no", "--soc_version=Ascend910B1"]
    missing = run(PREFIX / "bin/atc", *arguments, check=False)
    assert missing.returncode != 0 and "no.onnx" in missing.stderr + missing.stdout
    assert not (tmp_path / "no.om").exists()


def test_version_files_name_the_version_and_who_answers():
    info = dict(line.split("=", 1) for line in (PREFIX / "version.info").read_text().splitlines())
    assert info["Version"][0].isdigit()
    assert "Jumar" in info["Implementation"]
    assert info["Version"] in (PREFIX / "version.cfg").read_text()


def test_the_folders_that_build_files_name_exist():
    for folder in (
        "include/acl",
        "runtime/include/acl",
        "acllib/include/acl",
        "compiler/include",
        "opp",
        "devlib",
        "bin",
    ):
        assert (PREFIX / folder).is_dir(), folder
    assert list(PREFIX.rglob("ascendc.cmake"))


def test_the_package_of_collectives_reports_the_version_of_the_tree():
    info = dict(line.split("=", 1) for line in (PREFIX / "version.info").read_text().splitlines())
    script = "from hccl import sys_version; print(sys_version.__sys_version__)"
    done = run(PREFIX / "bin/jumar", "run", "--", "python3", "-c", script, env=bare())
    assert done.stdout.strip() == info["Version"]
