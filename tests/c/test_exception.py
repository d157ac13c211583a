"""The callback for failed tasks, through C: the table of rules has no words for one."""

import os
import pathlib
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
PREFIX = pathlib.Path(os.environ.get("JUMAR_PREFIX") or os.environ.get("ASCEND_HOME_PATH") or ROOT / "target/jumar")

# A wait for a value that is never written fails after the shortest limit there is, a second.
SOURCE = r"""
#include <stdio.h>
#include "acl/acl.h"

static void failed(aclrtExceptionInfo *info)
{
    printf("task %d, stream %u, thread %d, device %u, code %u\n", aclrtGetTaskIdFromExceptionInfo(info) != 0xffffffffU,
           aclrtGetStreamIdFromExceptionInfo(info), aclrtGetThreadIdFromExceptionInfo(info) != 0xffffffffU,
           aclrtGetDeviceIdFromExceptionInfo(info), aclrtGetErrorCodeFromExceptionInfo(info));
}

int main(void)
{
    aclrtStream stream;
    aclrtEvent event;
    int32_t id = -1;

    if (aclInit(NULL) != 0 || aclrtSetDevice(0) != 0 || aclrtSetExceptionInfoCallback(failed) != 0 ||
        aclrtSetOpWaitTimeout(1) != 0 || aclrtCreateStream(&stream) != 0 ||
        aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC) != 0 || aclrtStreamGetId(stream, &id) != 0 ||
        aclrtStreamWaitEvent(stream, event) != 0) {
        return 1;
    }
    printf("stream %d\n", id);
    printf("answer %d\n", aclrtSynchronizeStream(stream));
    return aclrtSetExceptionInfoCallback(NULL);
}
"""


def test_the_callback_receives_stream_device_and_code_of_a_failed_task(tmp_path):
    source, program = tmp_path / "exception.c", tmp_path / "exception"
    source.write_text(SOURCE)
    compile_line = ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-I", PREFIX / "include", source, "-o", program]
    subprocess.run([*compile_line, "-L", PREFIX / "lib64", "-lascendcl"], check=True)
    environment = {**os.environ, "LD_LIBRARY_PATH": str(PREFIX / "lib64")}
    done = subprocess.run([program], capture_output=True, text=True, timeout=60, env=environment)
    assert done.returncode == 0, done.stderr
    stream, received, answer = done.stdout.splitlines()
    number, code = stream.removeprefix("stream "), answer.removeprefix("answer ")
    assert int(code) != 0
    assert received == f"task 1, stream {number}, thread 1, device 0, code {code}"
