/* Values of fields, and the history of XIDs. */
#include "fake.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

static long long now_us(void)
{
    line_t *l = next(NULL, "now");
    if (l)
        return num(l, 1);
    struct timeval t;
    gettimeofday(&t, NULL);
    return t.tv_sec * 1000000LL + t.tv_usec;
}

static line_t *about(const char *word, entity_t e, unsigned short field)
{
    line_t *found = NULL;
    for (line_t *l = NULL; (l = next(l, word));)
        if (num(l, 1) == e.group && num(l, 2) == e.id && num(l, 3) == field)
            found = l;
    return found;
}

/* set GROUP ID FIELD i|d|s VALUE, bad GROUP ID FIELD STATUS, old GROUP ID FIELD AT. A field
 * without a line is blank. */
static void value(entity_t e, unsigned short field, int live, int *status, unsigned short *type, int64_t *ts, void *out)
{
    long long blank = DCGM_INT64_NOT_SUPPORTED;
    line_t *set = about("set", e, field), *bad = about("bad", e, field), *old = about("old", e, field);
    *status = bad ? (int)num(bad, 4) : DCGM_ST_OK;
    *type   = set ? (unsigned short)set->w[4][0] : DCGM_FT_INT64;
    *ts     = old ? num(old, 4) : now_us();
    memcpy(out, &blank, sizeof blank);
    if (!live && !watched(e, field)) {
        *status = DCGM_ST_NOT_WATCHED;
        *ts     = 0;
        return;
    }
    if (!set || bad)
        return;
    if (*type == DCGM_FT_DOUBLE) {
        double d = strtod(set->w[5], NULL);
        memcpy(out, &d, sizeof d);
    } else if (*type == DCGM_FT_INT64) {
        int64_t i = num(set, 5);
        memcpy(out, &i, sizeof i);
    } else {
        char *at = out;
        for (int i = 5; i < set->n; i++)
            at += sprintf(at, i > 5 ? " %s" : "%s", set->w[i]);
    }
}

static int exists(entity_t e)
{
    for (line_t *l = NULL; (l = next(l, "entity"));)
        if (num(l, 1) == e.group && num(l, 2) == e.id)
            return 1;
    return 0;
}

dcgmReturn_t dcgmEntityGetLatestValues(dcgmHandle_t h, dcgm_field_entity_group_t group, int id, unsigned short ids[], unsigned int n, dcgmFieldValue_v1 values[])
{
    CHECK_UP("dcgmEntityGetLatestValues");
    entity_t e = { group, (dcgm_field_eid_t)id };
    for (line_t *l = NULL; (l = next(l, "mute"));)
        if (num(l, 1) == e.group && num(l, 2) == e.id)
            return (dcgmReturn_t)num(l, 3);
    for (unsigned i = 0; i < n; i++) {
        values[i].version = dcgmFieldValue_version1;
        values[i].fieldId = ids[i];
        value(e, ids[i], 0, &values[i].status, &values[i].fieldType, &values[i].ts, &values[i].value);
    }
    return DCGM_ST_OK;
}

dcgmReturn_t dcgmEntitiesGetLatestValues(dcgmHandle_t h, dcgmGroupEntityPair_t es[], unsigned int nes, unsigned short ids[], unsigned int n, unsigned int flags, dcgmFieldValue_v2 values[])
{
    CHECK_UP("dcgmEntitiesGetLatestValues");
    for (line_t *l = NULL; (l = next(l, "nolive"));)
        for (unsigned i = 0; i < n; i++)
            if (ids[i] == num(l, 1))
                return DCGM_ST_FIELD_UNSUPPORTED_BY_API;
    for (unsigned j = 0; j < nes; j++) {
        entity_t e = { es[j].entityGroupId, es[j].entityId };
        if (!exists(e))
            return DCGM_ST_BADPARAM;
        for (unsigned i = 0; i < n; i++) {
            dcgmFieldValue_v2 *v = &values[j * n + i];
            v->version           = dcgmFieldValue_version2;
            v->entityGroupId     = e.group;
            v->entityId          = e.id;
            v->fieldId           = ids[i];
            value(e, ids[i], (flags & DCGM_FV_FLAG_LIVE_DATA) != 0, &v->status, &v->fieldType, &v->ts, &v->value);
        }
    }
    return DCGM_ST_OK;
}

/* xid GPU AT CODE */
dcgmReturn_t dcgmGetValuesSince_v2(dcgmHandle_t h, dcgmGpuGrp_t g, dcgmFieldGrp_t f, long long since, long long *nextSince, dcgmFieldValueEntityEnumeration_f enumerate, void *user)
{
    (void)f;
    CHECK_UP("dcgmGetValuesSince_v2");
    const entity_t *es;
    int n      = group_entities(g, &es);
    *nextSince = since;
    for (line_t *l = NULL; (l = next(l, "xid"));)
        for (int i = 0; i < n; i++) {
            if (es[i].group != DCGM_FE_GPU || es[i].id != num(l, 1) || num(l, 2) < since || !watched(es[i], DCGM_FI_DEV_XID_ERROR))
                continue;
            dcgmFieldValue_v1 v;
            memset(&v, 0, sizeof v);
            v.version   = dcgmFieldValue_version1;
            v.fieldId   = DCGM_FI_DEV_XID_ERROR;
            v.fieldType = DCGM_FT_INT64;
            v.ts        = num(l, 2);
            v.value.i64 = num(l, 3);
            enumerate(DCGM_FE_GPU, es[i].id, &v, 1, user);
            if (v.ts >= *nextSince)
                *nextSince = v.ts + 1;
        }
    return DCGM_ST_OK;
}

/* unknown FIELD */
static dcgm_field_meta_t metas[DCGM_FI_MAX_FIELDS];

dcgm_field_meta_p DcgmFieldGetById(unsigned short id)
{
    script_load();
    if (id >= DCGM_FI_MAX_FIELDS)
        return NULL;
    for (line_t *l = NULL; (l = next(l, "unknown"));)
        if (num(l, 1) == id)
            return NULL;
    metas[id].fieldId     = id;
    metas[id].fieldType   = DCGM_FT_INT64;
    metas[id].size        = 8;
    metas[id].scope       = DCGM_FS_ENTITY;
    metas[id].entityLevel = id >= 700 && id < 900 ? DCGM_FE_SWITCH : DCGM_FE_GPU;
    return &metas[id];
}
