/* A producer thread sends batches through a tensor channel, a consumer receives them in order until the sequence ends. */
#include "program.h"

#include <pthread.h>

#include "acl/acl_tdt.h"

#define BATCHES 200

static acltdtChannelHandle *channel;

static void *produce(void *argument)
{
    int64_t dims[2] = {4, 8};
    int32_t data[32];

    for (int batch = 0; batch <= BATCHES; batch++) {
        int last = batch == BATCHES;
        acltdtDataset *dataset = acltdtCreateDataset();
        acltdtDataItem *item;
        for (int i = 0; i < 32; i++) {
            data[i] = batch * 100 + i;
        }
        item = last ? acltdtCreateDataItem(ACL_TENSOR_DATA_END_OF_SEQUENCE, NULL, 0, ACL_DT_UNDEFINED, NULL, 0)
                    : acltdtCreateDataItem(ACL_TENSOR_DATA_TENSOR, dims, 2, ACL_INT32, data, sizeof(data));
        REQUIRE(dataset != NULL && item != NULL);
        CHECK(acltdtAddDataItem(dataset, item));
        CHECK(acltdtSendTensor(channel, dataset, -1));
        CHECK(acltdtDestroyDataItem(item));
        CHECK(acltdtDestroyDataset(dataset));
    }
    return argument;
}

int main(void)
{
    pthread_t producer;
    acltdtDataset *dataset;
    size_t left = 1;
    int batch = 0;

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(0));
    channel = acltdtCreateChannelWithCapacity(0, "batches", 3);
    REQUIRE(channel != NULL);
    dataset = acltdtCreateDataset();
    REQUIRE(pthread_create(&producer, NULL, produce, NULL) == 0);
    for (;;) {
        acltdtDataItem *item;
        const int32_t *data;
        CHECK(acltdtReceiveTensor(channel, dataset, -1));
        REQUIRE(acltdtGetDatasetSize(dataset) == 1);
        item = acltdtGetDataItem(dataset, 0);
        if (acltdtGetTensorTypeFromItem(item) == ACL_TENSOR_DATA_END_OF_SEQUENCE) {
            break;
        }
        REQUIRE(acltdtGetDataSizeFromItem(item) == 32 * sizeof(int32_t));
        data = acltdtGetDataAddrFromItem(item);
        REQUIRE(data[0] == batch * 100 && data[31] == batch * 100 + 31);
        batch++;
    }
    REQUIRE(batch == BATCHES);
    REQUIRE(pthread_join(producer, NULL) == 0);
    CHECK(acltdtQueryChannelSize(channel, &left));
    REQUIRE(left == 0);
    CHECK(acltdtDestroyDataset(dataset));
    CHECK(acltdtDestroyChannel(channel));
    CHECK(aclrtResetDevice(0));
    CHECK(aclFinalize());
    return 0;
}
