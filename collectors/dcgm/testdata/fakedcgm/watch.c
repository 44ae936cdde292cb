/* Groups, field groups and watches of the one connection. */
#include "fake.h"

#include <string.h>

#define MAX_GROUPS  256
#define MAX_WATCHES 1024

static struct {
    int used, n;
    entity_t e[1024];
} groups[MAX_GROUPS];
static struct {
    int used, n;
    unsigned short id[256];
    char name[64];
} fields[MAX_GROUPS];
static struct {
    int used;
    dcgmGpuGrp_t group;
    dcgmFieldGrp_t fields;
} watches[MAX_WATCHES];

void forget_all(void)
{
    memset(groups, 0, sizeof groups);
    memset(fields, 0, sizeof fields);
    memset(watches, 0, sizeof watches);
}

void count_all(int *g, int *f, int *w)
{
    *g = *f = *w = 0;
    for (int i = 0; i < MAX_GROUPS; i++)
        *g += groups[i].used, *f += fields[i].used;
    for (int i = 0; i < MAX_WATCHES; i++)
        *w += watches[i].used;
}

int group_entities(dcgmGpuGrp_t group, const entity_t **out)
{
    if (group < 1 || group > MAX_GROUPS || !groups[group - 1].used)
        return -1;
    *out = groups[group - 1].e;
    return groups[group - 1].n;
}

int watched(entity_t e, unsigned short field)
{
    for (int i = 0; i < MAX_WATCHES; i++) {
        if (!watches[i].used)
            continue;
        const entity_t *es;
        int n = group_entities(watches[i].group, &es), has = 0, f = (int)watches[i].fields - 1;
        for (int j = 0; j < n; j++)
            has |= es[j].group == e.group && es[j].id == e.id;
        for (int j = 0; has && fields[f].used && j < fields[f].n; j++)
            if (fields[f].id[j] == field)
                return 1;
    }
    return 0;
}

dcgmReturn_t dcgmGroupCreate(dcgmHandle_t h, dcgmGroupType_t type, const char *name, dcgmGpuGrp_t *out)
{
    (void)name;
    CHECK_UP("dcgmGroupCreate");
    if (type != DCGM_GROUP_EMPTY)
        return DCGM_ST_BADPARAM;
    for (int i = 0; i < MAX_GROUPS; i++)
        if (!groups[i].used) {
            memset(&groups[i], 0, sizeof groups[i]);
            groups[i].used = 1;
            *out           = (dcgmGpuGrp_t)(i + 1);
            return DCGM_ST_OK;
        }
    return DCGM_ST_MAX_LIMIT;
}

dcgmReturn_t dcgmGroupDestroy(dcgmHandle_t h, dcgmGpuGrp_t g)
{
    CHECK_UP("dcgmGroupDestroy");
    const entity_t *es;
    if (group_entities(g, &es) < 0)
        return DCGM_ST_NOT_CONFIGURED;
    groups[g - 1].used = 0;
    return DCGM_ST_OK;
}

dcgmReturn_t dcgmGroupAddEntity(dcgmHandle_t h, dcgmGpuGrp_t g, dcgm_field_entity_group_t group, dcgm_field_eid_t id)
{
    CHECK_UP("dcgmGroupAddEntity");
    const entity_t *es;
    if (group_entities(g, &es) < 0)
        return DCGM_ST_NOT_CONFIGURED;
    for (line_t *l = NULL; (l = next(l, "refuse"));)
        if (num(l, 1) == group && num(l, 2) == id)
            return DCGM_ST_BADPARAM;
    groups[g - 1].e[groups[g - 1].n++] = (entity_t) { group, id };
    return DCGM_ST_OK;
}

dcgmReturn_t dcgmFieldGroupCreate(dcgmHandle_t h, int n, const unsigned short *ids, const char *name, dcgmFieldGrp_t *out)
{
    CHECK_UP("dcgmFieldGroupCreate");
    if (n < 1 || n > DCGM_MAX_FIELD_IDS_PER_FIELD_GROUP)
        return DCGM_ST_BADPARAM;
    for (int i = 0; i < MAX_GROUPS; i++)
        if (fields[i].used && strcmp(fields[i].name, name) == 0)
            return DCGM_ST_DUPLICATE_KEY;
    for (int i = 0; i < MAX_GROUPS; i++)
        if (!fields[i].used) {
            memset(&fields[i], 0, sizeof fields[i]);
            fields[i].used = 1;
            fields[i].n    = n;
            memcpy(fields[i].id, ids, sizeof *ids * (size_t)n);
            strncpy(fields[i].name, name, sizeof fields[i].name - 1);
            *out = (dcgmFieldGrp_t)(i + 1);
            return DCGM_ST_OK;
        }
    return DCGM_ST_MAX_LIMIT;
}

dcgmReturn_t dcgmFieldGroupDestroy(dcgmHandle_t h, dcgmFieldGrp_t f)
{
    CHECK_UP("dcgmFieldGroupDestroy");
    if (f < 1 || f > MAX_GROUPS || !fields[f - 1].used)
        return DCGM_ST_NOT_CONFIGURED;
    fields[f - 1].used = 0;
    return DCGM_ST_OK;
}

/* A field of the profiling module, whose hardware the script may have given to another
 * program: profbusy GPU. */
static int busy(int g, int f)
{
    for (line_t *l = NULL; (l = next(l, "profbusy"));)
        for (int i = 0; i < groups[g].n; i++)
            for (int j = 0; j < fields[f].n; j++)
                if (groups[g].e[i].group == DCGM_FE_GPU && groups[g].e[i].id == num(l, 1) && fields[f].id[j] >= 1001 && fields[f].id[j] < 1100)
                    return 1;
    return 0;
}

dcgmReturn_t dcgmWatchFields(dcgmHandle_t h, dcgmGpuGrp_t g, dcgmFieldGrp_t f, long long every, double keepAge, int keepSamples)
{
    CHECK_UP("dcgmWatchFields");
    const entity_t *es;
    if (group_entities(g, &es) < 1 || f < 1 || f > MAX_GROUPS || !fields[f - 1].used)
        return DCGM_ST_BADPARAM;
    for (line_t *l = NULL; (l = next(l, "nowatch"));)
        for (int j = 0; j < fields[f - 1].n; j++)
            if (fields[f - 1].id[j] == num(l, 1))
                return (dcgmReturn_t)num(l, 2);
    if (busy((int)g - 1, (int)f - 1))
        return DCGM_ST_IN_USE;
    say("watch entities=%d,%d,%d fields=%d every=%lld keep=%g samples=%d", groups[g - 1].n, es[0].group, es[0].id,
        fields[f - 1].n, every, keepAge, keepSamples);
    for (int i = 0; i < MAX_WATCHES; i++)
        if (!watches[i].used) {
            watches[i].used   = 1;
            watches[i].group  = g;
            watches[i].fields = f;
            return DCGM_ST_OK;
        }
    return DCGM_ST_MAX_LIMIT;
}

dcgmReturn_t dcgmUnwatchFields(dcgmHandle_t h, dcgmGpuGrp_t g, dcgmFieldGrp_t f)
{
    CHECK_UP("dcgmUnwatchFields");
    for (int i = 0; i < MAX_WATCHES; i++)
        if (watches[i].used && watches[i].group == g && watches[i].fields == f)
            watches[i].used = 0;
    return DCGM_ST_OK;
}

dcgmReturn_t dcgmUpdateAllFields(dcgmHandle_t h, int wait)
{
    (void)wait;
    CHECK_UP("dcgmUpdateAllFields");
    return DCGM_ST_OK;
}
