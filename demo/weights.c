#include "demo/weights.h"

#include "base/mem.h"
#include "base/out.h"
#include "demo/random.h"
#include "demo/tokenizer.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define HEADER_BYTES 4096
#define CHUNK        1024 /* floats made at a time */

const struct pt_model_config pt_model_config_default = {
    .layer_count = 8,
    .width = 256,
    .head_count = 8,
    .kv_head_count = 4,
    .hidden = 1024,
    .vocabulary = PT_TOKEN_COUNT,
    .context = 512,
    .seed = 1,
};

struct header {
    char magic[16];
    struct pt_model_config config;
};

enum extent { ONE, WIDTH, KV_WIDTH, HIDDEN, LOGITS };

/* A tensor of the file, and the pointer to it in a struct. ONE input is a norm. */
struct tensor {
    size_t member;
    enum extent inputs, outputs;
};

static const struct tensor layer_tensors[] = {
    { offsetof(struct pt_layer, attention_norm), ONE, WIDTH },
    { offsetof(struct pt_layer, query), WIDTH, WIDTH },
    { offsetof(struct pt_layer, key), WIDTH, KV_WIDTH },
    { offsetof(struct pt_layer, value), WIDTH, KV_WIDTH },
    { offsetof(struct pt_layer, output), WIDTH, WIDTH },
    { offsetof(struct pt_layer, mlp_norm), ONE, WIDTH },
    { offsetof(struct pt_layer, gate), WIDTH, HIDDEN },
    { offsetof(struct pt_layer, up), WIDTH, HIDDEN },
    { offsetof(struct pt_layer, down), HIDDEN, WIDTH },
};

static const struct tensor other_tensors[] = {
    { offsetof(struct pt_weights, embedding), WIDTH, LOGITS },
    { offsetof(struct pt_weights, final_norm), ONE, WIDTH },
};

bool pt_model_config_is_valid(const struct pt_model_config *c) {
    if (!c->layer_count || !c->width || !c->hidden || !c->vocabulary || !c->context)
        return false;
    if (!c->head_count || !c->kv_head_count || c->width % c->head_count ||
        c->head_count % c->kv_head_count)
        return false;
    return c->width % PT_PANEL == 0 && c->hidden % PT_PANEL == 0 &&
           pt_model_head_width(c) % PT_PANEL == 0;
}

static size_t extent_of(const struct pt_model_config *c, enum extent extent) {
    const size_t extents[] = {
        [ONE] = 1,
        [WIDTH] = c->width,
        [KV_WIDTH] = pt_model_kv_width(c),
        [HIDDEN] = c->hidden,
        [LOGITS] = pt_model_logit_count(c),
    };
    return extents[extent];
}

static size_t float_count(const struct pt_model_config *c, const struct tensor *tensors,
                          size_t count) {
    size_t floats = 0;
    for (size_t i = 0; i < count; i++)
        floats += extent_of(c, tensors[i].inputs) * extent_of(c, tensors[i].outputs);
    return floats;
}

size_t pt_weights_file_bytes(const struct pt_model_config *c) {
    size_t floats = c->layer_count * float_count(c, layer_tensors, PT_COUNT(layer_tensors)) +
                    float_count(c, other_tensors, PT_COUNT(other_tensors));
    return HEADER_BYTES + floats * sizeof(float);
}

static struct header header_for(const struct pt_model_config *c) {
    return (struct header){ "pitot demo 1", *c };
}

int pt_weights_temporary(const char *directory, struct pt_err *err) {
    char *path = pt_asprintf("%s/pitot-demo-XXXXXX", directory);
    int fd = mkostemp(path, O_CLOEXEC);
    int rc = fd;
    if (fd < 0)
        rc = pt_fail(err, -errno, "cannot create a file in %s: %s", directory, strerror(errno));
    else
        unlink(path);
    pt_free(path);
    return rc;
}

/* Norms are near 1. Matrices are uniform with a variance of 1 / inputs, so that
 * values keep their size from layer to layer. */
static void write_tensor(struct pt_out *out, const struct pt_model_config *c,
                         const struct tensor *tensor, uint64_t *random) {
    size_t inputs = extent_of(c, tensor->inputs), outputs = extent_of(c, tensor->outputs);
    bool is_norm = tensor->inputs == ONE;
    float middle = is_norm ? 1 : 0, reach = is_norm ? 0.1f : sqrtf(3 / (float)inputs);
    float chunk[CHUNK];
    for (size_t left = inputs * outputs, n; left > 0; left -= n) {
        n = left < CHUNK ? left : CHUNK;
        for (size_t i = 0; i < n; i++)
            chunk[i] = middle + reach * (2 * pt_random_unit(random) - 1);
        pt_out_bytes(out, chunk, n * sizeof *chunk);
    }
}

static void write_tensors(struct pt_out *out, const struct pt_model_config *c) {
    uint64_t random = c->seed;
    for (size_t layer = 0; layer < c->layer_count; layer++)
        for (size_t i = 0; i < PT_COUNT(layer_tensors); i++)
            write_tensor(out, c, &layer_tensors[i], &random);
    for (size_t i = 0; i < PT_COUNT(other_tensors); i++)
        write_tensor(out, c, &other_tensors[i], &random);
}

int pt_weights_write(int fd, const struct pt_model_config *c, struct pt_err *err) {
    union {
        struct header header;
        char bytes[HEADER_BYTES];
    } page = { .bytes = { 0 } };
    page.header = header_for(c);
    struct pt_out out;
    pt_out_borrow(&out, fd);
    pt_out_bytes(&out, page.bytes, sizeof page.bytes);
    write_tensors(&out, c);
    int rc = pt_out_close(&out);
    if (!rc && fdatasync(fd))
        rc = -errno;
    if (rc)
        return pt_fail(err, rc, "cannot write the weights: %s", strerror(-rc));
    posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
    return 0;
}

/* Sets the pointers of one struct to consecutive tensors; returns what follows them. */
static const float *place(void *into, const float *at, const struct pt_model_config *c,
                          const struct tensor *tensors, size_t count) {
    for (size_t i = 0; i < count; i++) {
        memcpy((char *)into + tensors[i].member, &at, sizeof at);
        at += float_count(c, &tensors[i], 1);
    }
    return at;
}

static int map(struct pt_weights *w, int fd, const struct pt_model_config *c) {
    struct stat st;
    size_t bytes = pt_weights_file_bytes(c);
    if (fstat(fd, &st))
        return -errno;
    if (st.st_size < 0 || (size_t)st.st_size != bytes)
        return -EINVAL;
    void *mapping = mmap(NULL, bytes, PROT_READ, MAP_SHARED | MAP_POPULATE, fd, 0);
    if (mapping == MAP_FAILED)
        return -errno;
    w->mapping = mapping;
    w->mapping_bytes = bytes;
    struct header expected = header_for(c);
    return memcmp(mapping, &expected, sizeof expected) ? -EINVAL : 0;
}

int pt_weights_open(struct pt_weights *w, int fd, const struct pt_model_config *c,
                    struct pt_err *err) {
    *w = (struct pt_weights){ 0 };
    if (!pt_model_config_is_valid(c))
        return pt_fail(err, -EINVAL, "the sizes of the model are inconsistent");
    int rc = map(w, fd, c);
    if (rc) {
        pt_weights_close(w);
        return pt_fail(err, rc, "cannot map the weights: %s", strerror(-rc));
    }
    w->layers = pt_calloc(c->layer_count, sizeof *w->layers);
    const float *at = (const float *)w->mapping + HEADER_BYTES / sizeof(float);
    for (size_t layer = 0; layer < c->layer_count; layer++)
        at = place(&w->layers[layer], at, c, layer_tensors, PT_COUNT(layer_tensors));
    place(w, at, c, other_tensors, PT_COUNT(other_tensors));
    return 0;
}

void pt_weights_close(struct pt_weights *w) {
    if (w->mapping)
        munmap(w->mapping, w->mapping_bytes);
    pt_free(w->layers);
    *w = (struct pt_weights){ 0 };
}
