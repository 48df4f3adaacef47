/*
 * A stand-in for libnvidia-ml.so.1 that answers from `scenario.txt` in its own folder.
 *
 * The scenario has one `KEY=VALUE` a line; lines that start with # are comments. A later line wins.
 *
 *     system.driver=570.133.20    what nvmlSystemGetDriverVersion answers
 *     system.count=8              how many GPUs there are
 *     system.init_error=9         nvmlInitWithFlags answers this code (9: driver not loaded, 18: version mismatch)
 *     system.count_error=999      nvmlDeviceGetCount answers this code
 *     system.driver_error=3       nvmlSystemGetDriverVersion answers this code (3: not supported)
 *     system.shutdown_error=999   nvmlShutdown answers this code
 *     system.hang=1               nvmlInitWithFlags never returns
 *     system.noise=TEXT           nvmlInitWithFlags prints TEXT to standard output
 *     system.abort=1              nvmlInitWithFlags ends the process
 *
 *     gpu*.name=NVIDIA H100       a reading of every GPU: uuid, name, memory (bytes)
 *     gpu3.name=NVIDIA A100       a reading of one GPU; a `uuid` of gpu* gets the index at its end
 *     gpu3.error=15               every call for this GPU answers this code (15: the GPU is lost)
 *     gpu3.memory_error=3         one call for this GPU answers this code
 *
 * A reading that no line gives is NOT_SUPPORTED, as on real boards.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum code {
    SUCCESS = 0,
    UNINITIALIZED = 1,
    INVALID_ARGUMENT = 2,
    NOT_SUPPORTED = 3,
    INSUFFICIENT_SIZE = 7,
    UNKNOWN = 999,
};

enum { MAX_LINES = 256, MAX_LINE = 256, MAX_GPUS = 64 };

struct memory {
    unsigned long long total;
    unsigned long long free;
    unsigned long long used;
};

struct device {
    unsigned index;
};

static char lines[MAX_LINES][MAX_LINE];
static int line_count;
static int ready;
static struct device devices[MAX_GPUS];

/* ---- the scenario ---- */

static int load(void)
{
    Dl_info ourselves;
    char path[PATH_MAX];
    char file[PATH_MAX + 16];

    if (!dladdr(&line_count, &ourselves))
        return UNKNOWN;
    snprintf(path, sizeof path, "%s", ourselves.dli_fname);
    snprintf(file, sizeof file, "%s/scenario.txt", dirname(path));
    FILE *stream = fopen(file, "r");
    if (!stream)
        return UNKNOWN;
    line_count = 0;
    while (line_count < MAX_LINES && fgets(lines[line_count], MAX_LINE, stream)) {
        char *line = lines[line_count];
        line[strcspn(line, "\n")] = '\0';
        if (line[0] != '#' && strchr(line, '='))
            line_count++;
    }
    fclose(stream);
    return SUCCESS;
}

static const char *value_of(const char *key)
{
    size_t length = strlen(key);

    for (int i = line_count - 1; i >= 0; i--)
        if (strncmp(lines[i], key, length) == 0 && lines[i][length] == '=')
            return lines[i] + length + 1;
    return NULL;
}

static int number_of(const char *key)
{
    const char *value = value_of(key);

    return value ? atoi(value) : 0;
}

/* ---- readings ---- */

static int error_of_gpu(unsigned index, const char *reading)
{
    char key[64];

    snprintf(key, sizeof key, "gpu%u.error", index);
    if (number_of(key))
        return number_of(key);
    snprintf(key, sizeof key, "gpu%u.%s_error", index, reading);
    return number_of(key);
}

static int read_gpu(const struct device *device, const char *reading, char *text, unsigned size)
{
    char key[64];
    int code = error_of_gpu(device->index, reading);

    if (!ready)
        return UNINITIALIZED;
    if (code)
        return code;
    snprintf(key, sizeof key, "gpu%u.%s", device->index, reading);
    const char *own = value_of(key);
    snprintf(key, sizeof key, "gpu*.%s", reading);
    const char *shared = value_of(key);
    if (!own && !shared)
        return NOT_SUPPORTED;
    int needed = !own && strcmp(reading, "uuid") == 0
        ? snprintf(text, size, "%s%u", shared, device->index)
        : snprintf(text, size, "%s", own ? own : shared);
    return needed < (int)size ? SUCCESS : INSUFFICIENT_SIZE;
}

/* ---- what nvidia-ml-py calls ---- */

int nvmlInitWithFlags(unsigned flags)
{
    (void)flags;
    int code = load();

    if (code)
        return code;
    if (value_of("system.noise")) {
        printf("%s\n", value_of("system.noise"));
        fflush(stdout);
    }
    if (number_of("system.abort"))
        abort();
    while (number_of("system.hang"))
        pause();
    if (number_of("system.init_error"))
        return number_of("system.init_error");
    ready = 1;
    return SUCCESS;
}

int nvmlShutdown(void)
{
    if (!ready)
        return UNINITIALIZED;
    ready = 0;
    return number_of("system.shutdown_error");
}

const char *nvmlErrorString(int code)
{
    static char text[64];

    snprintf(text, sizeof text, "the stand-in's error %d", code);
    return text;
}

int nvmlSystemGetDriverVersion(char *text, unsigned size)
{
    const char *driver = value_of("system.driver");

    if (!ready)
        return UNINITIALIZED;
    if (number_of("system.driver_error"))
        return number_of("system.driver_error");
    if (!driver)
        return NOT_SUPPORTED;
    return snprintf(text, size, "%s", driver) < (int)size ? SUCCESS : INSUFFICIENT_SIZE;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    if (!ready)
        return UNINITIALIZED;
    if (number_of("system.count_error"))
        return number_of("system.count_error");
    *count = (unsigned)number_of("system.count");
    return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, struct device **device)
{
    if (!ready)
        return UNINITIALIZED;
    if (index >= (unsigned)number_of("system.count") || index >= MAX_GPUS)
        return INVALID_ARGUMENT;
    int code = error_of_gpu(index, "handle");
    if (code)
        return code;
    devices[index].index = index;
    *device = &devices[index];
    return SUCCESS;
}

int nvmlDeviceGetUUID(const struct device *device, char *text, unsigned size)
{
    return read_gpu(device, "uuid", text, size);
}

int nvmlDeviceGetName(const struct device *device, char *text, unsigned size)
{
    return read_gpu(device, "name", text, size);
}

int nvmlDeviceGetMemoryInfo(const struct device *device, struct memory *memory)
{
    char text[32];
    int code = read_gpu(device, "memory", text, sizeof text);

    if (code)
        return code;
    memory->total = strtoull(text, NULL, 10);
    memory->used = 0;
    memory->free = memory->total;
    return SUCCESS;
}
