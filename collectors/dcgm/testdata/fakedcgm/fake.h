/* A libdcgm.so.4 for tests. It has the ABI of DCGM 4 (it is built against the headers that
 * go-dcgm was built against) and no hardware: what it answers stands in a text file, which
 * is read again for every call, so that a test changes the engine by writing the file.
 *
 *   SEXTANT_FAKE_DCGM      the file
 *   SEXTANT_FAKE_DCGM_LOG  where calls with side effects are written, a line each
 */
#ifndef FAKE_H
#define FAKE_H

#include "dcgm_agent.h"
#include "dcgm_errors.h"
#include "dcgm_fields.h"
#include "dcgm_structs.h"

/* One line of the script, split at blanks. */
typedef struct {
    int n;
    char *w[64];
} line_t;

/* The script's lines that begin with a word, one after the other: for (line_t *l = 0; (l = next(l, "set"));) */
void script_load(void);
line_t *next(line_t *after, const char *word);
long long num(const line_t *l, int i);

/* The code that the script wants a function to fail with, or DCGM_ST_OK. */
dcgmReturn_t failing(const char *function);
void say(const char *format, ...);

/* What the engine keeps for the connection. */
typedef struct {
    dcgm_field_entity_group_t group;
    dcgm_field_eid_t id;
} entity_t;

int watched(entity_t e, unsigned short field);
int group_entities(dcgmGpuGrp_t group, const entity_t **out);
void forget_all(void);
void count_all(int *groups, int *fields, int *watches);

/* A call fails as the script says ("fail FUNCTION CODE"), when the engine is away ("gone"),
 * and through a connection from before it was restarted ("dead HANDLE"). */
#define CHECK_ENGINE(function)                              \
    do {                                                    \
        script_load();                                      \
        dcgmReturn_t r_ = failing(function);                \
        if (r_ != DCGM_ST_OK)                               \
            return r_;                                      \
        if (next(0, "gone"))                                \
            return DCGM_ST_CONNECTION_NOT_VALID;            \
    } while (0)

#define CHECK_UP(function)                                  \
    do {                                                    \
        CHECK_ENGINE(function);                             \
        if (next(0, "dead") && num(next(0, "dead"), 1) == (long long)h) \
            return DCGM_ST_CONNECTION_NOT_VALID;            \
    } while (0)

#endif
