"""Decoding with FFmpeg's libavcodec instead of the built-in decoders (JUMAR_FFMPEG)."""

import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "conventions"))

from install import LIBAVCODEC, PREFIX  # noqa: E402


def needs_library(test):
    without = pytest.mark.skipif(LIBAVCODEC is None, reason="there is no libavcodec 58 to 61: apt-get install libavcodec59")
    return pytest.mark.long(without(test))


# Decodes the first packets of a clip. Prints the answer of the creation, the result codes, and the libavcodec that the process has loaded.
DECODE = """
import pathlib, re, sys
sys.path.insert(0, sys.argv[1])
import acl
from test_video import H264_MAIN, SUCCESS, Channel, Output, Packet, clip
assert acl.init() == SUCCESS and acl.rt.set_device(0) == SUCCESS
_, packets = clip("h264 baseline")
channel = Channel(H264_MAIN)
print(f"created {channel.created}")
if channel.created != SUCCESS:
    print(acl.get_recent_err_msg())
else:
    kept = [(Packet(packet), Output(32768)) for packet in packets[:3]]
    for number, (packet, output) in enumerate(kept):
        channel.send(packet, output, number)
channel.close()
print(f"codes {[code for _, code in channel.codes]}")
print("loaded", re.findall(r"libavcodec[^ ]*", pathlib.Path("/proc/self/maps").read_text())[:1])
acl.rt.reset_device(0)
acl.finalize()
"""


def decode(value):
    env = os.environ | {"JUMAR_FFMPEG": value, "ASCEND_SLOG_PRINT_TO_STDOUT": "1"}
    done = subprocess.run([sys.executable, "-c", DECODE, str(HERE)], env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout


@needs_library
@pytest.mark.parametrize("name", ["test_video.py", "test_second_decoder.py"])
def test_the_tests_of_both_interfaces_pass_with_the_library(name):
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(HERE / name)]
    done = subprocess.run(command, env=os.environ | {"JUMAR_FFMPEG": "1"}, capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stdout[-4000:]
    assert " passed" in done.stdout and "skipped" not in done.stdout


@needs_library
def test_the_library_decodes_where_it_is_chosen():
    text = decode("1")
    assert "codes [0, 0, 0]" in text and f"loaded ['{LIBAVCODEC}" in text


@pytest.mark.parametrize("value", ["0", ""])
def test_the_library_is_not_loaded_where_it_is_not_chosen(value):
    text = decode(value)
    assert "created 0" in text and "codes [0, 0, 0]" in text and "loaded []" in text


def test_a_library_that_is_missing_is_named_and_the_built_in_decoder_decodes():
    text = decode("/nowhere/libavcodec.so.61")
    assert "/nowhere/libavcodec.so.61" in text and "built-in decoder" in text
    assert "codes [0, 0, 0]" in text


def jumar(*arguments, **variables):
    command = [PREFIX / "bin/jumar", *arguments]
    return subprocess.run(command, env=os.environ | variables, capture_output=True, text=True, timeout=120)


@needs_library
def test_jumar_run_chooses_the_library_and_doctor_reports_its_version():
    program = "import os; print(os.environ['JUMAR_FFMPEG'])"
    done = jumar("run", "--ffmpeg", "--", sys.executable, "-c", program)
    assert (done.stdout, done.stderr) == ("1\n", "")
    version = LIBAVCODEC.removeprefix("libavcodec.so.")
    for value, text in (("0", "would decode video"), ("1", "decodes video (")):
        report = jumar("doctor", JUMAR_FFMPEG=value).stdout
        assert f"libavcodec {version}." in report and text in report


def test_jumar_run_and_doctor_name_a_library_that_is_missing():
    path = "/nowhere/libavcodec.so.61"
    sentence = f"the built-in decoders decode video: there is no {path}"
    done = jumar("run", f"--ffmpeg={path}", "--", "true")
    assert (done.returncode, done.stderr) == (0, f"jumar: {sentence}\n")
    report = jumar("doctor", JUMAR_FFMPEG=path).stdout
    assert any(line.startswith("PROBLEM  FFmpeg") and sentence in line for line in report.splitlines())


def test_a_library_that_is_no_libavcodec_is_not_used():
    libc = next(line.split()[-1] for line in pathlib.Path("/proc/self/maps").read_text().splitlines() if "libc.so" in line)
    text = decode(libc)
    assert f"{libc} cannot be used" in text and "built-in decoder" in text
    assert "codes [0, 0, 0]" in text


def test_another_version_is_not_used(tmp_path):
    source, library = tmp_path / "fake.c", tmp_path / "libavcodec.so.62"
    source.write_text("unsigned avcodec_version(void) { return 62u << 16 | 11 << 8 | 100; }\nunsigned avutil_version(void) { return 60u << 16; }\n")
    subprocess.run(["cc", "-shared", "-fPIC", "-o", library, source], check=True)
    text = decode(str(library))
    assert "it is libavcodec 62.11.100 with libavutil 60; libavcodec 58 to 61 are supported" in text
    assert "codes [0, 0, 0]" in text


def test_a_value_that_is_no_choice_is_refused():
    text = decode("yes")
    assert "created 100000" in text and 'JUMAR_FFMPEG is "yes"; it must be 0, 1, or the path of a libavcodec' in text
