// Two parts of a program both think that they own the runtime.
#include "corpus.h"

struct Decoder {
    Decoder() { TRY(aclInit(nullptr)); }
    ~Decoder() { TRY(aclFinalize()); } // FINDS JMR-INIT-010
};

struct Classifier {
#ifndef CLEAN
    Classifier() { TRY(aclInit(nullptr)); } // FINDS JMR-INIT-001
    ~Classifier() { TRY(aclFinalize()); }
#endif
    void run()
    {
        MUST(aclrtSetDevice(0));
        MUST(aclrtResetDevice(0));
    }
};

int main()
{
    Decoder decoder;
    {
        Classifier classifier;
        classifier.run();
    }
    return 0;
}
