"""Drives the behaviour table through the `acl` module.

usage: runner.py PLAN [--all] [--kind works|refused] [PART-OF-AN-ID ...]

Each case runs in a child that has not imported `acl`. JUMAR_TEST_MODELS names the folder of the models,
JUMAR_TEST_FOLDER one for the cases' files. Nothing outside the standard library is needed.
"""

import ctypes
import json
import mmap
import os
import queue
import signal
import struct
import sys
import threading
import time

LIMIT_S = 10
PATIENCE_S = 5
MASK = (1 << 64) - 1


class Failed(Exception):
    """A step that was not answered as the table says."""


def show(value):
    if isinstance(value, int) and not isinstance(value, bool) and (value < 0 or value > 0xFFFFFFFF):
        return f"{value} ({value & MASK:#x})"
    return repr(value)


def equal(left, right):
    """C's equality: null is 0 and None, integers are 64 bits wide."""
    if left is None or right is None:
        return left in (None, 0) and right in (None, 0)
    if isinstance(left, int) and isinstance(right, int):
        return (left - right) & MASK == 0
    return left == right


def compare(left, sign, right):
    if sign == "==":
        return equal(left, right)
    if sign == "!=":
        return not equal(left, right)
    return {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[sign]


class Callbacks:
    """Functions that a case hands to the library, and what they leave behind."""

    def __init__(self):
        self.changed = threading.Condition()
        self.notes = []
        self.thread = 0
        self.held = False
        self.go = False

    def note(self, value):
        self.notes.append(value)
        self.thread = threading.get_ident()
        self.changed.notify_all()

    def cb_count(self, _data):
        with self.changed:
            self.note(0)

    def cb_note(self, data):
        with self.changed:
            self.note(data)

    def cb_frame(self, _input, _output, data):
        self.cb_note(data)

    def cb_hold(self, _data):
        with self.changed:
            self.held = True
            self.changed.notify_all()
            self.changed.wait_for(lambda: self.go, PATIENCE_S)
            self.note(0)

    def await_(self, reached, what):
        with self.changed:
            if not self.changed.wait_for(reached, PATIENCE_S):
                raise Failed(f"expected {what}, got nothing in five seconds")


class Worker:
    """A second native thread that does steps one at a time."""

    def __init__(self, case):
        self.work = queue.Queue()
        self.done = queue.Queue()
        self.pending = 0
        self.thread = threading.Thread(target=self.loop, args=(case,), daemon=True)
        self.thread.start()

    def loop(self, case):
        while True:
            step = self.work.get()
            if step is None:
                return
            try:
                case.run_step(step)
                self.done.put(None)
            except BaseException as error:  # handed to the thread that waits
                self.done.put((step, error))

    def start(self, step):
        self.join()
        self.pending += 1
        self.work.put(step)

    def join(self):
        while self.pending:
            self.pending -= 1
            ended = self.done.get()
            if ended is not None:
                raise Located(*ended)


class Located(Exception):
    """An error with the step that it happened in."""

    def __init__(self, step, error):
        super().__init__(str(error))
        self.step = step
        self.error = error


class Case:
    def __init__(self, plan, folder, models):
        self.plan = plan
        self.folder = folder
        self.models = models
        self.variables = {}
        self.memory = {}
        self.callbacks = Callbacks()
        self.workers = {}
        self.make_files()

    # files

    def make_files(self):
        os.makedirs(self.folder, exist_ok=True)
        for name, spec in self.plan["files"].items():
            path = self.file(name)
            if spec.get("dir"):
                os.makedirs(path)
                continue
            if "text" in spec:
                content = spec["text"].encode()
            elif "repeat" in spec:
                pattern = spec["repeat"].encode()
                content = (pattern * (spec["count"] // len(pattern) + 1))[: spec["count"]]
            else:
                with open(self.model(spec["model"]), "rb") as file:
                    content = bytearray(file.read())
                if spec["flip"] is not None:
                    content[spec["flip"]] ^= 0xFF
                content = content[: len(content) - spec["cut"]]
            with open(path, "wb") as file:
                file.write(content)

    def file(self, name):
        return os.path.join(self.folder, name)

    def model(self, name):
        return os.path.join(self.models, file_of(name))

    # host memory

    def keep(self, buffer, size):
        address = ctypes.addressof(buffer)
        self.memory[address] = (buffer, size)
        return address

    def host(self, size):
        return self.keep((ctypes.c_char * size)(), size)

    def pages(self, size):
        mapped = mmap.mmap(-1, size)
        return self.keep((ctypes.c_char * size).from_buffer(mapped), size)

    def cstring(self, text):
        content = text.encode() + b"\0"
        return self.keep(ctypes.create_string_buffer(content, len(content)), len(content))

    def read(self, path):
        with open(path, "rb") as file:
            content = file.read()
        address = self.host(len(content))
        ctypes.memmove(address, content, len(content))
        return address

    def length(self, address):
        return self.memory[address][1]

    @staticmethod
    def fill(address, value, size):
        ctypes.memset(address, value & 0xFF, size)

    @staticmethod
    def put_f32(address, values):
        content = struct.pack(f"{len(values)}f", *values)
        ctypes.memmove(address, content, len(content))

    @staticmethod
    def put_i64(address, values):
        content = struct.pack(f"{len(values)}q", *values)
        ctypes.memmove(address, content, len(content))

    @staticmethod
    def f32(address, index):
        return struct.unpack("f", ctypes.string_at(address + 4 * index, 4))[0]

    @staticmethod
    def i64(address, index):
        return struct.unpack("q", ctypes.string_at(address + 8 * index, 8))[0]

    @staticmethod
    def same(address, value, size):
        found = ctypes.string_at(address, size)
        value &= 0xFF
        if found != bytes([value]) * size:
            at = next(i for i, byte in enumerate(found) if byte != value)
            raise Failed(f"expected {value:#04x} at byte {at}, got {found[at]:#04x}")
        return True

    @staticmethod
    def contains(text, part):
        if text is None or part not in text:
            raise Failed(f"expected a text with {part!r}, got {text!r}")
        return True

    @staticmethod
    def text(value):
        return value

    # callbacks and threads

    def counter(self):
        with self.callbacks.changed:
            return len(self.callbacks.notes)

    def recorded(self, index):
        with self.callbacks.changed:
            return self.callbacks.notes[index] if index < len(self.callbacks.notes) else None

    def callback_thread(self):
        with self.callbacks.changed:
            return self.callbacks.thread

    def release_held(self):
        with self.callbacks.changed:
            self.callbacks.go = True
            self.callbacks.changed.notify_all()

    def await_held(self):
        self.callbacks.await_(lambda: self.callbacks.held, "the callback to have begun")

    def await_count(self, count):
        self.callbacks.await_(lambda: len(self.callbacks.notes) >= count, "callbacks to have run")

    @staticmethod
    def process_id():
        return os.getpid()

    def worker(self, thread):
        if thread not in self.workers:
            self.workers[thread] = Worker(self)
        return self.workers[thread]

    def tid(self, thread):
        return self.worker(thread).thread.ident

    # values

    def value(self, expr):
        if "number" in expr:
            return expr["number"]
        if "real" in expr:
            return float(expr["real"])
        if "text" in expr:
            return expr["text"]
        if "null" in expr:
            return 0
        if "name" in expr:
            return self.variables[expr["name"]]
        if "callback" in expr:
            return getattr(self.callbacks, expr["callback"])
        if "field" in expr:
            return self.value(expr["of"])[expr["field"]]
        if "index" in expr:
            return self.value(expr["of"])[self.value(expr["index"])]
        if "negative" in expr:
            return -self.value(expr["negative"])
        if "list" in expr:
            return [self.value(item) for item in expr["list"]]
        if "helper" in expr:
            if expr["helper"] == "tid":
                return self.tid(int(expr["args"][0]["name"][1:]))
            return getattr(self, expr["helper"])(*[self.value(arg) for arg in expr["args"]])
        left, right = self.value(expr["left"]), self.value(expr["right"])
        if expr["sign"] == "/":
            return left // right
        return {"+": left + right, "-": left - right, "*": left * right, "|": left | right, "%": left % max(right, 1)}[
            expr["sign"]
        ]

    def holds(self, condition):
        if "holds" in condition:
            return self.value(condition["holds"])
        return compare(self.value(condition["left"]), condition["sign"], self.value(condition["right"]))

    # steps

    def run_step(self, step):
        action = step["do"]
        if action == "call":
            self.call(step)
        elif action == "check":
            condition = step["condition"]
            if not self.holds(condition):
                left = self.value(condition["left"])
                right = self.value(condition["right"])
                raise Failed(f"expected {condition['sign']} {show(right)}, got {show(left)}")
        elif action == "let":
            self.variables[step["name"]] = self.value(step["value"])
        elif action == "helper":
            getattr(self, step["name"])(*[self.value(arg) for arg in step["args"]])
        elif action == "join":
            self.worker(step["other"]).join()

    def call(self, step):
        import acl

        function = acl
        for part in step["function"].split(".")[1:]:
            function = getattr(function, part)
        until = time.monotonic() + PATIENCE_S
        while True:
            args = [self.value(arg) for arg in step["args"]]
            answer = self.results(step, function(*args))
            if step["assign"]:
                self.variables[step["assign"]] = answer
            if step["answer"] is not None:
                expected = self.value(step["answer"])
                # Python gets the codes of this interface without a sign, as its documentation lists them.
                if step["function"].startswith("acl.himpi.") and step["result"] == "code":
                    expected %= 2**32
                if not equal(answer, expected):
                    raise Failed(f"expected {show(expected)}, got {show(answer)}")
            if step["until"] is None or self.holds(step["until"]):
                return
            if time.monotonic() > until:
                raise Failed("expected it to hold at last, got it not in five seconds")
            time.sleep(0)

    def results(self, step, result):
        """Puts results into their variables and returns the code or the value."""
        echo = step["echo"]
        values = len(step["outs"]) + (0 if echo is None else 1)
        if step["result"] == "nothing":
            if result is not None:
                raise Failed(f"expected None, got {show(result)}")
            return None
        if values == 0:
            return result
        if not isinstance(result, tuple) or len(result) != values + (1 if step["result"] == "code" else 0):
            raise Failed(f"expected {values} values and a code, got {result!r}")
        values = result if echo is None else result[1:]
        if echo is not None and not equal(result[0], self.value(step["args"][echo])):
            raise Failed(f"expected argument {echo} back, got {show(result[0])}")
        for name, value in zip(step["outs"], values):
            self.variables[name] = value
        return result[-1]

    def run(self, progress):
        for number, step in enumerate(self.plan["steps"]):
            progress(number)
            if step["thread"] == 1:
                try:
                    self.run_step(step)
                except Located:
                    raise
                except BaseException as error:
                    raise Located(step, error) from error
            else:
                worker = self.worker(step["thread"])
                worker.start(step)
                if not step["background"]:
                    worker.join()
        for worker in self.workers.values():
            worker.join()


def library_says():
    import acl

    text = acl.get_recent_err_msg()
    return "" if not text else "\n      the library says: " + text.replace("\n", "\n        ")


def file_of(name):
    """The file of a model or a kernel binary: a name without an ending is a model's."""
    return name if "." in name else name + ".om"


def child(plan, folder, models, progress, message):
    signal.alarm(LIMIT_S)
    for name in ("ASCEND_RT_VISIBLE_DEVICES", "JUMAR_DEVICES"):
        os.environ.pop(name, None)
    os.environ.update({name: value.replace("{folder}", str(folder)) for name, value in plan["env"].items()})
    case = Case(plan, folder, models)
    os.chdir(folder)
    try:
        case.run(progress)
    except Located as located:
        number = plan["steps"].index(located.step)
        text = located.error if isinstance(located.error, Failed) else f"raised {located.error!r}"
        message(f"step {number + 1} `{located.step['text']}`: {text}{library_says()}")
        os._exit(77)
    progress(-1)


def run_case(plan, folder, models):
    """Returns None, or the failure."""
    shared = mmap.mmap(-1, 16384)

    def progress(number):
        shared[:4] = struct.pack("i", number)

    def message(text):
        content = text.encode()[:16000]
        shared[4 : 4 + len(content)] = content

    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        child(plan, folder, models, progress, message)
        # The ordinary end, so that what happens when the interpreter goes is part of every case.
        sys.exit(0)
    _, status = os.waitpid(pid, 0)
    at = struct.unpack("i", shared[:4])[0]
    text = shared[4:].rstrip(b"\0").decode(errors="replace")
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0 and at == -1:
        return None
    if text:
        return text
    where = "the end of the process" if at == -1 else f"step {at + 1} `{plan['steps'][at]['text']}`"
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGALRM:
        return f"{where}: expected an end within {LIMIT_S} s, got none"
    if os.WIFSIGNALED(status):
        return f"{where}: expected an answer, got signal {os.WTERMSIG(status)}"
    return f"{where}: expected an answer, got the end of the process with status {os.WEXITSTATUS(status)}"


def main():
    args = sys.argv[1:]
    if not args:
        sys.exit(__doc__)
    with open(args.pop(0), encoding="utf-8") as file:
        plans = json.load(file)
    run_all = "--all" in args
    kind = args[args.index("--kind") + 1] if "--kind" in args else None
    filters = [arg for arg in args if not arg.startswith("--") and arg != kind]
    models = os.environ.get("JUMAR_TEST_MODELS", ".")
    base = os.environ["JUMAR_TEST_FOLDER"]
    counts = {"passed": 0, "failed": 0, "waits": 0, "no model": 0, "n/a": 0}
    for number, plan in enumerate(plans):
        if (kind and plan["kind"] != kind) or (filters and not any(part in plan["id"] for part in filters)):
            continue
        missing = [model for model in plan["models"] if not os.path.exists(os.path.join(models, file_of(model)))]
        if "not_for_python" in plan:
            counts["n/a"] += 1
            print(f"n/a {plan['id']}: {plan['not_for_python']}")
        elif plan["waits_for"] and not run_all:
            counts["waits"] += 1
            print(f"waits {plan['id']}: for {plan['waits_for']}")
        elif missing:
            counts["no model"] += 1
            print(f"no model {plan['id']}: {file_of(missing[0])}")
        else:
            wrong = run_case(plan, os.path.join(base, f"py{number}"), models)
            counts["failed" if wrong else "passed"] += 1
            print(f"FAIL {plan['id']}: {wrong}" if wrong else f"ok {plan['id']}")
    print(
        "{passed} passed, {failed} failed, {waits} wait for functions, {no model} lack a model, "
        "{n/a} not applicable to Python".format(**counts)
    )
    sys.exit(1 if counts["failed"] else 0)


if __name__ == "__main__":
    main()
