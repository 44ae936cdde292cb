/* The connection, and what the engine has. */
#include "fake.h"

#include <string.h>

static int initialised;
static dcgmHandle_t last = 6;

#define CHECK_VERSION(p, want)              \
    do {                                    \
        if ((p)->version != (want))         \
            return DCGM_ST_VER_MISMATCH;    \
    } while (0)

const char *errorString(dcgmReturn_t r)
{
    switch (r) {
        case DCGM_ST_OK: return "Success";
        case DCGM_ST_BADPARAM: return "Bad parameter passed to function";
        case DCGM_ST_NOT_SUPPORTED: return "Feature not supported";
        case DCGM_ST_VER_MISMATCH: return "API version mismatch";
        case DCGM_ST_CONNECTION_NOT_VALID: return "Host engine connection invalid/disconnected";
        case DCGM_ST_IN_USE: return "The requested operation could not be completed because the affected resource is in use";
        case DCGM_ST_MODULE_NOT_LOADED: return "This request is serviced by a module of DCGM that is not currently loaded";
        case DCGM_ST_FIELD_UNSUPPORTED_BY_API: return "The requested field is not supported by this API";
        default: return "Unknown error";
    }
}

dcgmReturn_t dcgmInit(void)
{
    initialised = 1;
    say("init");
    return DCGM_ST_OK;
}

dcgmReturn_t dcgmShutdown(void)
{
    say("shutdown");
    initialised = 0;
    return DCGM_ST_OK;
}

dcgmReturn_t dcgmConnect_v2(const char *address, dcgmConnectV2Params_t *p, dcgmHandle_t *h)
{
    CHECK_VERSION(p, dcgmConnectV2Params_version2);
    if (!initialised)
        return DCGM_ST_UNINITIALIZED;
    CHECK_ENGINE("dcgmConnect_v2");
    say("connect %s unix=%d handle=%d", address, p->addressIsUnixSocket, (int)++last);
    *h = last;
    return DCGM_ST_OK;
}

dcgmReturn_t dcgmDisconnect(dcgmHandle_t h)
{
    script_load();
    int g, f, w;
    count_all(&g, &f, &w);
    say("disconnect groups=%d fields=%d watches=%d", g, f, w);
    forget_all();
    return next(NULL, "gone") || (next(NULL, "dead") && num(next(NULL, "dead"), 1) == (long long)h) ? DCGM_ST_CONNECTION_NOT_VALID : DCGM_ST_OK;
}

dcgmReturn_t dcgmStartEmbedded(dcgmOperationMode_t mode, dcgmHandle_t *h)
{
    (void)mode;
    CHECK_ENGINE("dcgmStartEmbedded");
    say("embedded");
    *h = 8;
    return DCGM_ST_OK;
}

dcgmReturn_t dcgmStopEmbedded(dcgmHandle_t h)
{
    (void)h;
    say("embedded stops");
    forget_all();
    return DCGM_ST_OK;
}

dcgmReturn_t dcgmHostengineVersionInfo(dcgmHandle_t h, dcgmVersionInfo_t *v)
{
    CHECK_UP("dcgmHostengineVersionInfo");
    CHECK_VERSION(v, dcgmVersionInfo_version2);
    strcpy(v->rawBuildInfoString, "version:4.4.1;arch:x86_64;buildtype:Release");
    return DCGM_ST_OK;
}

dcgmReturn_t dcgmGetAllSupportedDevices(dcgmHandle_t h, unsigned int ids[DCGM_MAX_NUM_DEVICES], int *n)
{
    return dcgmGetEntityGroupEntities(h, DCGM_FE_GPU, ids, n, 0);
}

/* entity GROUP ID */
dcgmReturn_t dcgmGetEntityGroupEntities(dcgmHandle_t h, dcgm_field_entity_group_t group, dcgm_field_eid_t *ids, int *n, unsigned int flags)
{
    (void)flags;
    CHECK_UP("dcgmGetEntityGroupEntities");
    *n = 0;
    for (line_t *l = NULL; (l = next(l, "entity"));)
        if (num(l, 1) == group)
            ids[(*n)++] = (dcgm_field_eid_t)num(l, 2);
    return DCGM_ST_OK;
}

/* status GPU STATUS */
dcgmReturn_t dcgmGetGpuStatus(dcgmHandle_t h, unsigned int gpu, DcgmEntityStatus_t *out)
{
    CHECK_UP("dcgmGetGpuStatus");
    *out = DcgmEntityStatusOk;
    for (line_t *l = NULL; (l = next(l, "status"));)
        if (num(l, 1) == gpu)
            *out = (DcgmEntityStatus_t)num(l, 2);
    return DCGM_ST_OK;
}

/* mig GROUP ID PARENT_GROUP PARENT GPU GI CI SLICES */
dcgmReturn_t dcgmGetGpuInstanceHierarchy(dcgmHandle_t h, dcgmMigHierarchy_v2 *out)
{
    CHECK_UP("dcgmGetGpuInstanceHierarchy");
    CHECK_VERSION(out, dcgmMigHierarchy_version2);
    out->count = 0;
    for (line_t *l = NULL; (l = next(l, "mig"));) {
        dcgmMigHierarchyInfo_v2 *m    = &out->entityList[out->count++];
        m->entity.entityGroupId       = (dcgm_field_entity_group_t)num(l, 1);
        m->entity.entityId            = (dcgm_field_eid_t)num(l, 2);
        m->parent.entityGroupId       = (dcgm_field_entity_group_t)num(l, 3);
        m->parent.entityId            = (dcgm_field_eid_t)num(l, 4);
        m->info.nvmlGpuIndex          = (unsigned)num(l, 5);
        m->info.nvmlInstanceId        = (unsigned)num(l, 6);
        m->info.nvmlComputeInstanceId = (unsigned)num(l, 7);
        m->info.nvmlProfileSlices     = (unsigned)num(l, 8);
    }
    return DCGM_ST_OK;
}

/* cpu ID MASK */
dcgmReturn_t dcgmGetCpuHierarchy(dcgmHandle_t h, dcgmCpuHierarchy_v1 *out)
{
    CHECK_UP("dcgmGetCpuHierarchy");
    CHECK_VERSION(out, dcgmCpuHierarchy_version1);
    out->numCpus = 0;
    for (line_t *l = NULL; (l = next(l, "cpu"));) {
        out->cpus[out->numCpus].cpuId                   = (unsigned)num(l, 1);
        out->cpus[out->numCpus++].ownedCores.bitmask[0] = (uint64_t)num(l, 2);
    }
    return out->numCpus ? DCGM_ST_OK : DCGM_ST_MODULE_NOT_LOADED;
}

/* link gpu|switch PARENT INDEX STATE */
dcgmReturn_t dcgmGetNvLinkLinkStatus(dcgmHandle_t h, dcgmNvLinkStatus_v5 *out)
{
    CHECK_UP("dcgmGetNvLinkLinkStatus");
    CHECK_VERSION(out, dcgmNvLinkStatus_version5);
    for (line_t *l = NULL; (l = next(l, "entity"));) {
        if (num(l, 1) == DCGM_FE_GPU)
            out->gpus[out->numGpus++].entityId = (unsigned)num(l, 2);
        if (num(l, 1) == DCGM_FE_SWITCH)
            out->nvSwitches[out->numNvSwitches++].entityId = (unsigned)num(l, 2);
    }
    for (line_t *l = NULL; (l = next(l, "link"));) {
        for (unsigned i = 0; i < out->numGpus && strcmp(l->w[1], "gpu") == 0; i++)
            if (out->gpus[i].entityId == num(l, 2))
                out->gpus[i].linkState[num(l, 3)] = (dcgmNvLinkLinkState_t)num(l, 4);
        for (unsigned i = 0; i < out->numNvSwitches && strcmp(l->w[1], "switch") == 0; i++)
            if (out->nvSwitches[i].entityId == num(l, 2))
                out->nvSwitches[i].linkState[num(l, 3)] = (dcgmNvLinkLinkState_t)num(l, 4);
    }
    return DCGM_ST_OK;
}

/* peer GPU PEER PATH */
dcgmReturn_t dcgmGetDeviceTopology(dcgmHandle_t h, unsigned int gpu, dcgmDeviceTopology_v2 *out)
{
    CHECK_UP("dcgmGetDeviceTopology");
    CHECK_VERSION(out, dcgmDeviceTopology_version2);
    out->numGpus = 0;
    for (line_t *l = NULL; (l = next(l, "peer"));)
        if (num(l, 1) == gpu) {
            out->gpuPaths[out->numGpus].gpuId  = (unsigned)num(l, 2);
            out->gpuPaths[out->numGpus++].path = (dcgmGpuTopologyLevel_t)num(l, 3);
        }
    return DCGM_ST_OK;
}

/* prof GPU FIELD... */
dcgmReturn_t dcgmProfGetSupportedMetricGroups(dcgmHandle_t h, dcgmProfGetMetricGroups_t *out)
{
    CHECK_UP("dcgmProfGetSupportedMetricGroups");
    CHECK_VERSION(out, dcgmProfGetMetricGroups_version3);
    for (line_t *l = NULL; (l = next(l, "prof"));) {
        if (num(l, 1) != out->gpuId)
            continue;
        dcgmProfMetricGroupInfo_v2 *m = &out->metricGroups[out->numMetricGroups++];
        for (int i = 2; i < l->n; i++)
            m->fieldIds[m->numFieldIds++] = (unsigned short)num(l, i);
    }
    return out->numMetricGroups ? DCGM_ST_OK : DCGM_ST_MODULE_NOT_LOADED;
}

dcgmReturn_t dcgmHealthSet(dcgmHandle_t h, dcgmGpuGrp_t g, dcgmHealthSystems_t systems)
{
    CHECK_UP("dcgmHealthSet");
    const entity_t *es;
    say("health systems=%x", systems);
    return group_entities(g, &es) < 0 ? DCGM_ST_BADPARAM : DCGM_ST_OK;
}

/* health GROUP ID SYSTEM RESULT CODE */
dcgmReturn_t dcgmHealthCheck(dcgmHandle_t h, dcgmGpuGrp_t g, dcgmHealthResponse_t *out)
{
    (void)g;
    CHECK_UP("dcgmHealthCheck");
    CHECK_VERSION(out, dcgmHealthResponse_version5);
    for (line_t *l = NULL; (l = next(l, "health"));) {
        dcgmIncidentInfo_t *i       = &out->incidents[out->incidentCount++];
        i->entityInfo.entityGroupId = (dcgm_field_entity_group_t)num(l, 1);
        i->entityInfo.entityId      = (dcgm_field_eid_t)num(l, 2);
        i->system                   = (dcgmHealthSystems_t)num(l, 3);
        i->health                   = (dcgmHealthWatchResults_t)num(l, 4);
        i->error.code               = (dcgmError_t)num(l, 5);
        if (i->health > out->overallHealth)
            out->overallHealth = i->health;
    }
    return DCGM_ST_OK;
}
