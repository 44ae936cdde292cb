/* A libnvidia-ml.so.1 that lacks nearly everything. */
int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
const char *nvmlErrorString(int r) { return r ? "Error" : "Success"; }
