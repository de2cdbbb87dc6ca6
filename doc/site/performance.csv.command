$ skein bench --collective barrier,bcast,reduce,allreduce,allgather,alltoall --bytes 8,512,8K,128K,1M --ranks 2,4,8 --seconds 130 --csv=performance.csv
