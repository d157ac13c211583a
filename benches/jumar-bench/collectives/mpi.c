/* Times MPI's collectives as jumar.c times Jumar's: mpirun -np 4 mpi <rounds>. */
#include <mpi.h>

#include "measure.h"

int main(int count, char **words)
{
    int rounds, rank;
    float *from = calloc(1, MOST_BYTES), *to = calloc(1, MOST_BYTES);

    MPI_Init(&count, &words);
    rounds = count > 1 ? atoi(words[1]) : 1;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int at = 0; at < LOAD_COUNT; at++) {
        const struct load *load = &LOADS[at];
        int elements = (int)(load->bytes / sizeof(float)), part = elements / RANKS;
        double least = 1e30;
        for (int round = 0; round <= rounds; round++) {
            double begin, each;
            MPI_Barrier(MPI_COMM_WORLD);
            begin = now_us();
            for (int i = 0; i < load->times; i++) {
                switch (load->kind) {
                case ALL_REDUCE:
                    MPI_Allreduce(from, to, elements, MPI_FLOAT, MPI_SUM, MPI_COMM_WORLD);
                    break;
                case ALL_GATHER:
                    MPI_Allgather(from, part, MPI_FLOAT, to, part, MPI_FLOAT, MPI_COMM_WORLD);
                    break;
                case BROADCAST:
                    MPI_Bcast(to, elements, MPI_FLOAT, 0, MPI_COMM_WORLD);
                    break;
                default:
                    MPI_Alltoall(from, part, MPI_FLOAT, to, part, MPI_FLOAT, MPI_COMM_WORLD);
                    break;
                }
            }
            each = (now_us() - begin) / load->times;
            if (round > 0 && each < least) {
                least = each;
            }
        }
        if (rank == 0) {
            print_least(load, least);
        }
    }
    MPI_Finalize();
    free(from);
    free(to);
    return 0;
}
