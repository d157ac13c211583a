"""The end of the interpreter: calls keep working, and late callbacks are dropped."""

import os
import subprocess
import sys

import pytest


def run(code, **environment):
    result = subprocess.run(
        [sys.executable, "-X", "faulthandler", "-c", code], capture_output=True, text=True, timeout=120,
        env=dict(os.environ, **environment))
    assert result.returncode == 0, (result.returncode, result.stdout, result.stderr)
    return result


def test_calls_in_finalizers_answer():
    result = run("""
import acl, os
class Holder:
    def __init__(self):
        self.free, self.sync, self.destroy, self.finalize = acl.rt.free, acl.rt.synchronize_stream, acl.rt.destroy_stream, acl.finalize
        self.thread, self.log = acl.util.start_thread, acl.app_log
    def __del__(self):
        codes = [self.free(0), self.sync(1), self.destroy(1), self.finalize()]
        self.log(1, 'late')
        os.write(1, repr(codes).encode())
keep = Holder()
import builtins
builtins.keep = keep   # goes away last
""")
    assert result.stdout == "[0, 0, 0, 0]"
    assert result.stderr == ""


def test_a_callback_after_the_end_is_dropped():
    result = run("""
import acl
acl.rt.set_exception_info_callback(print)
""", FAKE_LATE="1")
    assert result.stdout == "the late callback returned\n"


def test_a_callback_during_the_end_is_dropped():
    # Queued callbacks are served by a thread that is attached for its whole life; the interpreter ends meanwhile.
    result = run("""
import acl, threading
ready = threading.Event()
def loop(arguments):
    ready.set()
    while True:
        acl.rt.process_report(1)
acl.util.start_thread(loop, [])
ready.wait()
for _ in range(200):
    acl.rt.launch_callback(lambda given: None, None, 0, 1)
""")
    assert result.stderr == ""


def test_a_thread_that_waits_for_ever_does_not_keep_the_process():
    run("""
import acl, threading
ready = threading.Event()
def loop(arguments):
    ready.set()
    acl.rt.process_report(-1)
acl.util.start_thread(loop, [])
ready.wait()
""")


def test_threads_that_run_on_do_not_disturb_the_end():
    # Before 3.14 the interpreter ends such threads by unwinding their stacks, from wherever they wait for it.
    for _ in range(3):
        result = run("""
import acl, threading, time
ready = threading.Barrier(6)
def computes():
    ready.wait()
    while True: pass
def sleeps():
    ready.wait()
    while True: time.sleep(0.0001)
def reports():
    ready.wait()
    while True: acl.rt.process_report(1)
def launches(given):
    ready.wait()
    while True: acl.rt.launch_callback(given.append, 1, 0, 1)
def raises():
    ready.wait()
    while True:
        try: acl.rt.memcpy(1.5, 2)
        except TypeError: pass
for body in (computes, sleeps, reports, raises):
    acl.util.start_thread(body, None)
acl.util.start_thread(launches, [])
ready.wait()
""")
        assert result.stderr == ""


def test_the_exit_waits_for_a_callback_under_way():
    result = run("""
import acl, ctypes, sys, threading, time
library = ctypes.CDLL("libascendcl.so", mode=4)
library.fake_exception.argtypes = [ctypes.c_size_t]
inside, leave = threading.Event(), threading.Event()
def callback(info):
    inside.set()
    leave.wait()
    print("finished", flush=True)
acl.rt.set_exception_info_callback(callback)
import _thread
_thread.start_new_thread(library.fake_exception, (1,))
inside.wait()
# The exit handler of the module was registered earlier, so it runs after this one.
import atexit
atexit.register(leave.set)
""")
    assert result.stdout == "finished\n"


def test_an_exception_that_ends_the_program_ends_it():
    result = subprocess.run(
        [sys.executable, "-c", "import acl\nacl.rt.set_device(0)\nraise SystemExit(7)"], capture_output=True, text=True)
    assert result.returncode == 7
