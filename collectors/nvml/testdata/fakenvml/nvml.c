/* A libnvidia-ml.so.1 for tests: the ABI of NVML, against the headers that go-nvml was built
 * against, and no hardware. What it answers stands in the file SEXTANT_FAKE_NVML, read
 * again for every call:
 *
 *   gpus N
 *   FUNCTION GPU VALUE...     what a function answers for a device
 *   fail FUNCTION CODE        or fail FUNCTION CODE GPU
 */
#define NVML_NO_UNVERSIONED_FUNC_DEFS
#include "nvml.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int initialised;

/* Finds the values of "key gpu" into v and returns how many, -1 when there is no line. */
static int find(const char *key, int gpu, unsigned long long v[], char *text)
{
    char line[512], k[128];
    const char *path = getenv("SEXTANT_FAKE_NVML");
    FILE *f          = path ? fopen(path, "r") : NULL;
    int found        = -1;
    while (f && found < 0 && fgets(line, sizeof line, f)) {
        int g, at;
        if (sscanf(line, "%127s %d %n", k, &g, &at) < 2 || strcmp(k, key) != 0 || g != gpu)
            continue;
        line[strcspn(line, "\n")] = 0;
        if (text)
            strcpy(text, line + at);
        found = v ? sscanf(line + at, "%llu %llu %llu %llu", &v[0], &v[1], &v[2], &v[3]) : 0;
    }
    if (f)
        fclose(f);
    return found;
}

static nvmlReturn_t failing(const char *function, int gpu)
{
    char line[512], k[128];
    const char *path = getenv("SEXTANT_FAKE_NVML");
    FILE *f          = path ? fopen(path, "r") : NULL;
    nvmlReturn_t r   = NVML_SUCCESS;
    while (f && fgets(line, sizeof line, f)) {
        int code, g = -1;
        if (sscanf(line, "fail %127s %d %d", k, &code, &g) >= 2 && strcmp(k, function) == 0 && (g < 0 || g == gpu))
            r = (nvmlReturn_t)code;
    }
    if (f)
        fclose(f);
    return r;
}

/* go-nvml's header makes the handle a struct of the pointer, which is passed alike. */
#define GPU(d) ((int)(intptr_t)(d).handle - 1)
#define ANSWER(function, d, n)                                   \
    unsigned long long v[4] = { 0 };                             \
    if (!initialised)                                            \
        return NVML_ERROR_UNINITIALIZED;                         \
    if (failing(function, GPU(d)) != NVML_SUCCESS)               \
        return failing(function, GPU(d));                        \
    if (find(function, GPU(d), v, NULL) < (n))                   \
        return NVML_ERROR_NOT_SUPPORTED;

nvmlReturn_t nvmlInit_v2(void)
{
    if (failing("nvmlInit_v2", -1))
        return failing("nvmlInit_v2", -1);
    initialised++;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlShutdown(void)
{
    return initialised-- > 0 ? NVML_SUCCESS : NVML_ERROR_UNINITIALIZED;
}

const char *nvmlErrorString(nvmlReturn_t r)
{
    return r == NVML_ERROR_DRIVER_NOT_LOADED ? "Driver Not Loaded" : r == NVML_ERROR_UNKNOWN ? "Unknown Error" : "Error";
}

static nvmlReturn_t text(const char *function, int gpu, char *out, unsigned int n)
{
    char t[512];
    if (find(function, gpu, NULL, t) < 0)
        return NVML_ERROR_NOT_SUPPORTED;
    snprintf(out, n, "%s", t);
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlSystemGetDriverVersion(char *out, unsigned int n)
{
    return text("nvmlSystemGetDriverVersion", 0, out, n);
}

nvmlReturn_t nvmlDeviceGetCount_v2(unsigned int *n)
{
    unsigned long long v[4] = { 0 };
    if (failing("nvmlDeviceGetCount_v2", -1))
        return failing("nvmlDeviceGetCount_v2", -1);
    find("gpus", 0, v, NULL);
    *n = (unsigned)v[0];
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetHandleByIndex_v2(unsigned int i, nvmlDevice_t *d)
{
    d->handle = (void *)(intptr_t)(i + 1);
    return failing("nvmlDeviceGetHandleByIndex_v2", (int)i);
}

nvmlReturn_t nvmlDeviceGetUUID(nvmlDevice_t d, char *out, unsigned int n) { return text("nvmlDeviceGetUUID", GPU(d), out, n); }
nvmlReturn_t nvmlDeviceGetName(nvmlDevice_t d, char *out, unsigned int n) { return text("nvmlDeviceGetName", GPU(d), out, n); }
nvmlReturn_t nvmlDeviceGetPciInfo_v3(nvmlDevice_t d, nvmlPciInfo_t *p) { return text("nvmlDeviceGetPciInfo_v3", GPU(d), p->busId, sizeof p->busId); }

#define NUMBER(function, type)                           \
    nvmlReturn_t function(nvmlDevice_t d, type *out)     \
    {                                                    \
        ANSWER(#function, d, 1)                          \
        *out = (type)v[0];                               \
        return NVML_SUCCESS;                             \
    }

NUMBER(nvmlDeviceGetPowerUsage, unsigned int)
NUMBER(nvmlDeviceGetEnforcedPowerLimit, unsigned int)
NUMBER(nvmlDeviceGetTotalEnergyConsumption, unsigned long long)
NUMBER(nvmlDeviceGetPerformanceState, nvmlPstates_t)
NUMBER(nvmlDeviceGetFanSpeed, unsigned int)
NUMBER(nvmlDeviceGetCurrentClocksThrottleReasons, unsigned long long)
NUMBER(nvmlDeviceGetPcieReplayCounter, unsigned int)
NUMBER(nvmlDeviceGetCurrPcieLinkGeneration, unsigned int)
/* nvmlDeviceGetCurrPcieLinkWidth is not there, as in an old driver. */

nvmlReturn_t nvmlDeviceGetUtilizationRates(nvmlDevice_t d, nvmlUtilization_t *u)
{
    ANSWER("nvmlDeviceGetUtilizationRates", d, 2)
    u->gpu    = (unsigned)v[0];
    u->memory = (unsigned)v[1];
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetEncoderUtilization(nvmlDevice_t d, unsigned int *out, unsigned int *period)
{
    ANSWER("nvmlDeviceGetEncoderUtilization", d, 1)
    *out    = (unsigned)v[0];
    *period = 1000;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetDecoderUtilization(nvmlDevice_t d, unsigned int *out, unsigned int *period)
{
    ANSWER("nvmlDeviceGetDecoderUtilization", d, 1)
    *out    = (unsigned)v[0];
    *period = 1000;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMemoryInfo_v2(nvmlDevice_t d, nvmlMemory_v2_t *m)
{
    ANSWER("nvmlDeviceGetMemoryInfo_v2", d, 4)
    if (m->version != nvmlMemory_v2)
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    m->total    = v[0];
    m->free     = v[1];
    m->used     = v[2];
    m->reserved = v[3];
    return NVML_SUCCESS;
}

/* nvmlDeviceGetClockInfo GPU GRAPHICS SM MEM VIDEO */
nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t d, nvmlClockType_t which, unsigned int *out)
{
    ANSWER("nvmlDeviceGetClockInfo", d, 4)
    *out = (unsigned)v[which];
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetTemperature(nvmlDevice_t d, nvmlTemperatureSensors_t which, unsigned int *out)
{
    ANSWER("nvmlDeviceGetTemperature", d, 1)
    *out = (unsigned)v[0];
    return which == NVML_TEMPERATURE_GPU ? NVML_SUCCESS : NVML_ERROR_INVALID_ARGUMENT;
}

/* nvmlDeviceGetTotalEccErrors GPU SBE_VOL SBE_AGG DBE_VOL DBE_AGG */
nvmlReturn_t nvmlDeviceGetTotalEccErrors(nvmlDevice_t d, nvmlMemoryErrorType_t kind, nvmlEccCounterType_t since, unsigned long long *out)
{
    ANSWER("nvmlDeviceGetTotalEccErrors", d, 4)
    *out = v[2 * (kind == NVML_MEMORY_ERROR_TYPE_UNCORRECTED) + (since == NVML_AGGREGATE_ECC)];
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetRemappedRows(nvmlDevice_t d, unsigned int *corrected, unsigned int *uncorrected, unsigned int *pending, unsigned int *failed)
{
    ANSWER("nvmlDeviceGetRemappedRows", d, 4)
    *corrected   = (unsigned)v[0];
    *uncorrected = (unsigned)v[1];
    *pending     = (unsigned)v[2];
    *failed      = (unsigned)v[3];
    return NVML_SUCCESS;
}

/* What the inventory asks. */
nvmlReturn_t nvmlDeviceGetVbiosVersion(nvmlDevice_t d, char *out, unsigned int n) { return text("nvmlDeviceGetVbiosVersion", GPU(d), out, n); }
NUMBER(nvmlDeviceGetPowerManagementDefaultLimit, unsigned int)
NUMBER(nvmlDeviceGetMaxMigDeviceCount, unsigned int)
NUMBER(nvmlDeviceGetGpuInstanceId, unsigned int)
NUMBER(nvmlDeviceGetComputeInstanceId, unsigned int)

/* nvmlDeviceGetMaxClockInfo GPU GRAPHICS SM MEM VIDEO */
nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t d, nvmlClockType_t which, unsigned int *out)
{
    ANSWER("nvmlDeviceGetMaxClockInfo", d, 4)
    *out = (unsigned)v[which];
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetCudaComputeCapability(nvmlDevice_t d, int *major, int *minor)
{
    ANSWER("nvmlDeviceGetCudaComputeCapability", d, 2)
    *major = (int)v[0];
    *minor = (int)v[1];
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetMigMode(nvmlDevice_t d, unsigned int *current, unsigned int *pending)
{
    ANSWER("nvmlDeviceGetMigMode", d, 2)
    *current = (unsigned)v[0];
    *pending = (unsigned)v[1];
    return NVML_SUCCESS;
}

/* MIG device I of GPU G is device 1000 * (G + 1) + I of the script, if it has an instance. */
nvmlReturn_t nvmlDeviceGetMigDeviceHandleByIndex(nvmlDevice_t d, unsigned int i, nvmlDevice_t *out)
{
    unsigned long long v[4];
    int mig = 1000 * (GPU(d) + 1) + (int)i;
    if (find("nvmlDeviceGetGpuInstanceId", mig, v, NULL) < 1)
        return NVML_ERROR_NOT_FOUND;
    out->handle = (void *)(intptr_t)(mig + 1);
    return NVML_SUCCESS;
}

/* nvmlDeviceGetAttributes_v2 MIG GPU_SLICES COMPUTE_SLICES MIB */
nvmlReturn_t nvmlDeviceGetAttributes_v2(nvmlDevice_t d, nvmlDeviceAttributes_t *a)
{
    ANSWER("nvmlDeviceGetAttributes_v2", d, 3)
    memset(a, 0, sizeof *a);
    a->gpuInstanceSliceCount     = (unsigned)v[0];
    a->computeInstanceSliceCount = (unsigned)v[1];
    a->memorySizeMB              = v[2];
    return NVML_SUCCESS;
}

/* nvmlDeviceGetNvLinkRemotePciInfo_v2 GPU ADDRESS...: a link for each. */
static int peer(int gpu, unsigned int link, char *out, unsigned int n)
{
    char t[512], *word = NULL, *rest = t;
    if (find("nvmlDeviceGetNvLinkRemotePciInfo_v2", gpu, NULL, t) < 0)
        return 0;
    for (unsigned int i = 0; i <= link; i++)
        if (!(word = strtok_r(rest, " ", &rest)))
            return 0;
    snprintf(out, n, "%s", word);
    return 1;
}

nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t d, unsigned int link, nvmlEnableState_t *active)
{
    char t[64];
    *active = peer(GPU(d), link, t, sizeof t) ? NVML_FEATURE_ENABLED : NVML_FEATURE_DISABLED;
    return NVML_SUCCESS;
}

nvmlReturn_t nvmlDeviceGetNvLinkRemotePciInfo_v2(nvmlDevice_t d, unsigned int link, nvmlPciInfo_t *p)
{
    return peer(GPU(d), link, p->busId, sizeof p->busId) ? NVML_SUCCESS : NVML_ERROR_NOT_SUPPORTED;
}

nvmlReturn_t nvmlDeviceGetNvLinkVersion(nvmlDevice_t d, unsigned int link, unsigned int *out)
{
    (void)link;
    ANSWER("nvmlDeviceGetNvLinkVersion", d, 1)
    *out = (unsigned)v[0];
    return NVML_SUCCESS;
}
