#include "corpus.h"

#include "acl/acl_op_compiler.h"

/* The operator on the second stream reads what the first stream writes. */
int main(void)
{
    const int64_t dims[] = {1024};
    const size_t bytes = 1024 * sizeof(float);
    aclrtStream writer, reader;
    aclrtEvent written;
    aclTensorDesc *desc;
    const aclTensorDesc *descs[1];
    aclDataBuffer *in, *out;
    const aclDataBuffer *ins[1];
    void *from, *to;

    set_up();
    MUST(aclrtCreateStream(&writer));
    MUST(aclrtCreateStream(&reader));
    MUST(aclrtCreateEvent(&written));
    MUST(aclrtMalloc(&from, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMalloc(&to, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    desc = aclCreateTensorDesc(ACL_FLOAT, 1, dims, ACL_FORMAT_ND);
    in = aclCreateDataBuffer(from, bytes);
    out = aclCreateDataBuffer(to, bytes);
    descs[0] = desc;
    ins[0] = in;
    MUST(aclrtMemsetAsync(from, bytes, 0, bytes, writer));
#ifdef CLEAN
    MUST(aclrtRecordEvent(written, writer));
    MUST(aclrtStreamWaitEvent(reader, written));
#endif
    MUST(aclopCompileAndExecute("Relu", 1, descs, ins, 1, descs, &out, NULL, ACL_ENGINE_SYS, ACL_COMPILE_SYS, NULL, reader)); /* FINDS JMR-SYNC-002 */
    MUST(aclrtSynchronizeStream(writer));
    MUST(aclrtSynchronizeStream(reader));
    MUST(aclDestroyDataBuffer(in));
    MUST(aclDestroyDataBuffer(out));
    aclDestroyTensorDesc(desc);
    MUST(aclrtFree(from));
    MUST(aclrtFree(to));
    MUST(aclrtDestroyEvent(written));
    MUST(aclrtDestroyStream(writer));
    MUST(aclrtDestroyStream(reader));
    tear_down();
    return 0;
}
