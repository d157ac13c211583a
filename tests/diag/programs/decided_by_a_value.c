/* Two streams write different values into one word that streams may wait for, in no order: no rule reports such writes. */
#include "../corpus/corpus.h"

#define STREAMS 3
#define TASKS 6

int main(void)
{
    aclrtStream streams[STREAMS];
    void *own[STREAMS], *word;
    uint64_t seen;

    set_up();
    MUST(aclrtMalloc(&word, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    MUST(aclrtMemset(word, 64, 0, 64));
    for (int i = 0; i < STREAMS; i++) {
        MUST(aclrtCreateStream(&streams[i]));
        MUST(aclrtMalloc(&own[i], 64, ACL_MEM_MALLOC_HUGE_FIRST));
    }
    for (int task = 0; task < TASKS; task++) {
        for (int i = 0; i < STREAMS; i++) {
            MUST(aclrtMemsetAsync(own[i], 64, task, 64, streams[i]));
        }
        if (task == 2) {
            MUST(aclrtValueWrite(word, 5, 0, streams[0]));
        }
        if (task == 4) {
            MUST(aclrtValueWrite(word, 7, 0, streams[2]));
        }
    }
    MUST(aclrtSynchronizeDevice());
    MUST(aclrtMemcpy(&seen, sizeof seen, word, sizeof seen, ACL_MEMCPY_DEVICE_TO_HOST));
    for (int i = 0; i < STREAMS; i++) {
        MUST(aclrtFree(own[i]));
        MUST(aclrtDestroyStream(streams[i]));
    }
    MUST(aclrtFree(word));
    tear_down();
    printf("%d\n", (int)seen);
    return 0;
}
