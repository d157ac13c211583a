"""Programs build as their authors build them: include folders, standards, ABI switches, make, CMake."""

import itertools
import shutil

import pytest
from install import CONTEXT_C, INCLUDES, LIB64, PREFIX, ROOT, RUNTIME, compile_c, environment, run, write

STANDARDS = [("cc", "c11"), ("c++", "c++11"), ("c++", "c++17")]
DIGITS = ROOT / "examples/digits"


def source_for(compiler, folder):
    return write(folder / ("program.c" if compiler == "cc" else "program.cpp"), CONTEXT_C)


@pytest.mark.parametrize(("compiler", "standard"), STANDARDS)
@pytest.mark.parametrize("include", INCLUDES)
def test_a_program_compiles_without_a_warning_in_each_standard(compiler, standard, include, tmp_path):
    source = source_for(compiler, tmp_path)
    link = ["-L", LIB64, "-lascendcl", "-ldl"]
    program = compile_c(source, tmp_path / "program", *link, compiler=compiler, standard=standard, include=include)
    assert run(program).stdout.strip() == str(RUNTIME)


@pytest.mark.parametrize(("compiler", "standard"), STANDARDS)
def test_acl_can_be_the_include_folder_itself(compiler, standard, tmp_path):
    source = source_for(compiler, tmp_path)
    source.write_text(CONTEXT_C.replace('"acl/acl.h"', '"acl.h"'))
    link = ["-L", LIB64, "-lascendcl", "-ldl"]
    program = compile_c(
        source, tmp_path / "program", *link, compiler=compiler, standard=standard, include="include/acl"
    )
    run(program)


CXX = r"""
#include <iostream>
#include <memory>
#include <string>
#include <vector>
#include "acl/acl.h"

// std::string and std::list are what the ABI switch changes; they pass through the program's own code only.
static std::string Describe(const std::vector<std::string> &names)
{
    std::string all;
    for (const auto &name : names) {
        all += name + ' ';
    }
    return all;
}

int main()
{
    if (aclInit(nullptr) != ACL_SUCCESS || aclrtSetDevice(0) != ACL_SUCCESS) {
        return 1;
    }
    aclrtStream stream = nullptr;
    if (aclrtCreateStream(&stream) != ACL_SUCCESS) {
        return 2;
    }
    std::unique_ptr<aclmdlDataset, aclError (*)(const aclmdlDataset *)> dataset(aclmdlCreateDataset(), aclmdlDestroyDataset);
    const char *soc = aclrtGetSocName();
    std::cout << Describe({soc == nullptr ? "unknown" : soc, dataset ? "dataset" : "nothing"}) << std::endl;
    dataset.reset();
    if (aclrtDestroyStream(stream) != ACL_SUCCESS || aclrtResetDevice(0) != ACL_SUCCESS || aclFinalize() != ACL_SUCCESS) {
        return 3;
    }
    return 0;
}
"""


@pytest.mark.parametrize(("abi", "standard"), list(itertools.product((0, 1), ("c++11", "c++17"))))
def test_both_abis_of_the_cxx_library_work(abi, standard, tmp_path):
    source = write(tmp_path / "program.cpp", CXX)
    flags = [f"-D_GLIBCXX_USE_CXX11_ABI={abi}", "-L", LIB64, "-lascendcl"]
    program = compile_c(source, tmp_path / "program", *flags, compiler="c++", standard=standard)
    assert run(program).stdout.split()[-1] == "dataset"


def test_the_variables_of_older_samples_lead_to_headers_and_library(tmp_path):
    """DDK_PATH with runtime/include, NPU_HOST_LIB as the link folder: how most samples' CMake files do it."""
    source = write(tmp_path / "program.c", CONTEXT_C)
    build = "cc -I$DDK_PATH/runtime/include -o program program.c -L$NPU_HOST_LIB -lascendcl -lacl_dvpp -ldl"
    for stub in ("runtime/lib64/stub", "acllib/lib64/stub", "devlib"):
        env = environment(DDK_PATH=PREFIX, NPU_HOST_LIB=PREFIX / stub)
        run("sh", "-c", build, env=env, cwd=source.parent)
        run(source.parent / "program")


def test_the_examples_build_with_make(tmp_path):
    shutil.copytree(DIGITS, tmp_path / "digits", ignore=shutil.ignore_patterns("sync", "streams", "build"))
    run("make", cwd=tmp_path / "digits")
    assert (tmp_path / "digits/sync").exists() and (tmp_path / "digits/streams").exists()


def test_the_examples_build_with_cmake(tmp_path):
    cmake = shutil.which("cmake")
    if cmake is None:
        pytest.skip("there is no cmake on this machine")
    run(cmake, "-S", DIGITS, "-B", tmp_path, timeout=120)
    run(cmake, "--build", tmp_path, timeout=120)
    assert (tmp_path / "sync").exists() and (tmp_path / "streams").exists()


def jpeg_size(data):
    """Width and height of a baseline JPEG image, from its frame header."""
    assert data[:2] == b"\xff\xd8" and data[-2:] == b"\xff\xd9"
    at = 2
    while data[at + 1] != 0xC0:
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    return int.from_bytes(data[at + 7 : at + 9], "big"), int.from_bytes(data[at + 5 : at + 7], "big")


def test_the_example_of_images_writes_an_image_that_it_reads_again(tmp_path):
    folder = tmp_path / "images"
    shutil.copytree(ROOT / "examples/images", folder)
    run("make", cwd=folder)
    first = run(folder / "boxes", "photo.jpg", "out.jpg", "32,20,96,80", cwd=folder).stdout
    assert first.startswith("480x320, 3 components -> 240x160, ")
    assert jpeg_size((folder / "out.jpg").read_bytes()) == (240, 160)
    again = run(folder / "boxes", "out.jpg", "again.jpg", cwd=folder).stdout
    assert again.startswith("240x160, 3 components -> 120x80, ")


def test_the_example_of_video_writes_a_clip_that_it_reads_again(tmp_path):
    folder = tmp_path / "video"
    shutil.copytree(ROOT / "examples/video", folder)
    run("make", cwd=folder)
    first = run(folder / "redraw", "clip.h264", "out.h264", "32,20,96,80", cwd=folder).stdout
    assert first.startswith("40 frames decoded, 40 encoded as 192x144 with 3 key frames, ")


@pytest.mark.parametrize("name", ["threads", "processes"])
def test_the_example_of_collectives_prints_the_mean_of_all_ranks(name, tmp_path):
    folder = tmp_path / "collectives"
    shutil.copytree(ROOT / "examples/collectives", folder)
    run("make", cwd=folder)
    lines = run(folder / name, env=environment(JUMAR_DEVICES="4")).stdout.splitlines()
    assert sorted(lines) == [f"rank {rank}: mean 2.50" for rank in range(4)]


def test_the_example_of_data_parallel_training_has_the_losses_of_one_device(tmp_path):
    folder = tmp_path / "collectives"
    shutil.copytree(ROOT / "examples/collectives", folder)
    run("make", cwd=folder)
    single, *others = (run(folder / "train", mode, env=environment(JUMAR_DEVICES="4")).stdout for mode in ("single", "threads", "processes"))
    losses = [float(line.split()[3]) for line in single.splitlines()]
    assert len(losses) == 9 and losses[-1] < losses[0] / 20
    assert others == [single, single]
