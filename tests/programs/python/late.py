"""Objects released by the interpreter on its way out, after finalize, in any order: nothing crashes."""

import acl
from check import ACL_MEM_MALLOC_HUGE_FIRST, ok


class Resource:
    def __init__(self, handle, release):
        self.handle, self.release = handle, release

    def __del__(self):
        self.release(self.handle)


assert acl.rt.get_device()[1] != 0
ok(acl.init())
assert acl.init() == 100002
ok(acl.rt.set_device(0))
kept = [
    Resource(ok(acl.rt.create_stream()), acl.rt.destroy_stream),
    Resource(ok(acl.rt.create_event()), acl.rt.destroy_event),
    Resource(ok(acl.rt.malloc(100, ACL_MEM_MALLOC_HUGE_FIRST)), acl.rt.free),
    Resource(ok(acl.rt.malloc_host(100)), acl.rt.free_host),
    Resource(acl.mdl.create_desc(), acl.mdl.destroy_desc),
    Resource(acl.mdl.create_dataset(), acl.mdl.destroy_dataset),
    Resource(0, acl.rt.reset_device),
]
kept.append(kept)
ok(acl.rt.reset_device(0))
ok(acl.finalize())
assert acl.finalize() == 100037
print("ok")
