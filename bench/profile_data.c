#include "profile_data.h"

#include "base/attr.h"
#include "base/scan.h"

#include <stdio.h>

#define RATE_HZ        99
#define PERIOD_NS      (1000000000 / RATE_HZ)
#define PLACES         12 /* different addresses of a function that are seen */
#define TORCH          "libtorch_cpu.so"
#define PYTHON_START   "n:_start;n:__libc_start_main;n:main;n:Py_BytesMain;n:Py_RunMain;"
#define EVAL           "n:_PyEval_EvalFrameDefault;"
#define TRAIN          PYTHON_START EVAL "p:<module>;p:main;p:Trainer.fit;p:Trainer.training_step;"
#define FORWARD        TRAIN "p:GPT.forward;p:Block.forward;"
#define OPERATOR       EVAL "t:torch::autograd::THPVariable_method;t:at::_ops::op::call;"
#define WORKER         "n:clone3;n:start_thread;n:gomp_thread_start;"
#define BACKWARD_START "n:clone3;n:start_thread;t:torch::autograd::Engine::thread_main;"

/* Frames from the root; the letter says what kind: native, torch, python, kernel, jit, nameless. */
struct scene {
    const char *frames;
    int weight, other_weight; /* the second: in the other profile */
    int thread;
    enum pt_profile_state state;
};

static const struct scene scenes[] = {
    { FORWARD "p:Attention.forward;" OPERATOR "t:at::native::softmax_cpu_out;"
              "t:at::native::vec_host_softmax_lastdim<float>",
      60, 150, 0, PT_STATE_ON_CPU },
    { FORWARD "p:Attention.forward;" OPERATOR "t:at::native::baddbmm_out_cpu;t:cblas_sgemm_batch;"
              "x:libmkl_avx512.so",
      170, 300, 0, PT_STATE_ON_CPU },
    { FORWARD "p:Attention.forward;" OPERATOR "t:at::native::copy_kernel;"
              "n:__memcpy_avx512_unaligned_erms",
      48, 48, 0, PT_STATE_ON_CPU },
    { FORWARD "p:MLP.forward;p:Linear.forward;" OPERATOR
              "t:at::native::addmm_out_cpu;t:cblas_sgemm;"
              "x:libmkl_avx512.so;x:libmkl_avx512.so",
      240, 180, 0, PT_STATE_ON_CPU },
    { FORWARD "p:MLP.forward;p:gelu;" OPERATOR "t:at::native::GeluKernelImpl;"
              "t:at::native::VectorizedLoop2d<gelu, Vectorized<float>>",
      66, 20, 0, PT_STATE_ON_CPU },
    { FORWARD "p:LayerNorm.forward;" OPERATOR "t:at::native::LayerNormKernelImpl;"
              "t:at::native::RowwiseMoments<float>",
      34, 34, 0, PT_STATE_ON_CPU },
    { TRAIN "p:GPT.forward;p:Embedding.forward;" OPERATOR "t:at::native::embedding;"
            "k:asm_exc_page_fault;k:exc_page_fault;k:do_user_addr_fault;k:handle_mm_fault;"
            "k:clear_page_erms",
      22, 22, 0, PT_STATE_ON_CPU },
    { TRAIN "p:cross_entropy;" OPERATOR "t:at::native::log_softmax_lastdim_kernel", 25, 25, 0,
      PT_STATE_ON_CPU },
    { TRAIN "p:Tensor.backward;" OPERATOR "t:torch::autograd::Engine::execute;n:pthread_cond_wait;"
            "n:futex_wait;k:entry_SYSCALL_64;k:do_syscall_64;k:futex_wait_queue;k:schedule",
      150, 150, 0, PT_STATE_LOCK },
    { TRAIN "p:Tensor.item;" OPERATOR "t:at::cuda::stream_synchronize;n:cudaStreamSynchronize;"
            "x:libcuda.so.1;k:ioctl;k:nvidia_poll",
      80, 80, 0, PT_STATE_GPU },
    { TRAIN "p:AdamW.step;p:_multi_tensor_adamw;" OPERATOR "t:at::native::foreach_tensor_addcmul",
      74, 60, 0, PT_STATE_ON_CPU },
    { TRAIN "p:DataLoader.__next__;p:Queue.get;" EVAL
            "n:PyThread_acquire_lock_timed;n:sem_clockwait;"
            "k:entry_SYSCALL_64;k:do_syscall_64;k:futex_wait_queue",
      45, 45, 0, PT_STATE_IDLE },
    { TRAIN "p:compiled_step;j:triton_fused_gelu_0;j:triton_inner_loop", 30, 30, 0,
      PT_STATE_ON_CPU },
    { TRAIN "p:all_reduce;" OPERATOR "t:c10d::ProcessGroupNCCL::allreduce;n:ncclAllReduce;"
            "k:entry_SYSCALL_64;k:do_syscall_64;k:futex_wait_queue",
      40, 40, 0, PT_STATE_COLLECTIVE },
    { WORKER "t:at::internal::parallel_for;t:at::native::addmm_out_cpu;x:libmkl_avx512.so", 260,
      260, 1, PT_STATE_ON_CPU },
    { WORKER "n:gomp_team_barrier_wait;n:do_spin", 70, 70, 1, PT_STATE_ON_CPU },
    { WORKER "n:gomp_team_barrier_wait;n:futex_wait;k:futex_wait_queue;k:schedule", 90, 90, 1,
      PT_STATE_IDLE },
    { BACKWARD_START "t:torch::autograd::AddmmBackward0::apply;t:at::native::addmm_out_cpu;"
                     "t:cblas_sgemm;x:libmkl_avx512.so",
      250, 210, 2, PT_STATE_ON_CPU },
    { BACKWARD_START "t:torch::autograd::GeluBackward0::apply;t:at::native::GeluBackwardKernelImpl",
      64, 64, 2, PT_STATE_ON_CPU },
    { BACKWARD_START "t:torch::autograd::ReadyQueue::pop;n:pthread_cond_wait;k:futex_wait_queue",
      60, 60, 2, PT_STATE_IDLE },
    { PYTHON_START EVAL "p:_worker_loop;p:TextDataset.__getitem__;p:Tokenizer.encode;" EVAL
                        "n:re_search;n:sre_ucs1_match",
      96, 96, 3, PT_STATE_ON_CPU },
    { PYTHON_START EVAL "p:_worker_loop;p:TextDataset.__getitem__;p:open;n:read;k:entry_SYSCALL_64;"
                        "k:do_syscall_64;k:vfs_read;k:ext4_file_read_iter;k:io_schedule",
      52, 52, 3, PT_STATE_IO },
    { PYTHON_START EVAL "p:_worker_loop;p:collate;p:flatten;p:flatten;p:flatten", 40, 40, 3,
      PT_STATE_ON_CPU },
    { PYTHON_START EVAL "p:_worker_loop;p:fetch_shard;n:recv;k:tcp_recvmsg;k:wait_woken", 33, 33, 3,
      PT_STATE_NETWORK },
};

static const struct pt_profile_thread threads[] = {
    { 4242, 4242, 0, 0 },
    { 4242, 4250, 0, 0 },
    { 4242, 4261, 0, 0 },
    { 4300, 4300, 0, 0 },
};
static const char *const thread_names[] = { "python3", "omp-worker", "pt_autograd_0",
                                            "loader-worker" };

static uint64_t next_random(uint64_t *state) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static uint32_t module_of(struct pt_profile *p, struct pt_str path) {
    return pt_profile_module(
        p, (struct pt_profile_module){
               pt_profile_string(p, path),
               pt_profile_string(p, PT_STR("0123456789abcdef0123456789abcdef01234567")) });
}

static uint32_t function_of(struct pt_profile *p, struct pt_str name, uint32_t module,
                            enum pt_profile_kind kind) {
    uint32_t file = 0;
    if (kind == PT_KIND_PYTHON)
        file = pt_profile_string(p, PT_STR("/home/user/train/model.py"));
    return pt_profile_function(
        p, (struct pt_profile_function){
               pt_profile_string(p, name), module, file,
               kind == PT_KIND_PYTHON ? pt_intern_hash(name.at, name.len) % 400 + 1 : 0, kind });
}

/* One of some places in the function. */
static uint32_t frame_of(struct pt_profile *p, char letter, struct pt_str name, uint64_t place) {
    uint64_t address = pt_intern_hash(name.at, name.len) + place % PLACES * 16;
    switch (letter) {
    case 'p':
        return pt_profile_frame(
            p, (struct pt_profile_frame){
                   function_of(p, name, PT_PROFILE_NONE, PT_KIND_PYTHON), PT_PROFILE_NONE,
                   (uint32_t)(pt_intern_hash(name.at, name.len) % 400 + place % 4), 0, 0 });
    case 'x':
        return pt_profile_frame(
            p, (struct pt_profile_frame){ PT_PROFILE_NONE, module_of(p, name), 0, 0, address });
    case 'k': {
        uint32_t kernel = module_of(p, PT_STR("[kernel]"));
        return pt_profile_frame(
            p, (struct pt_profile_frame){ function_of(p, name, kernel, PT_KIND_KERNEL), kernel, 0,
                                          0, address });
    }
    case 'j':
        return pt_profile_frame(
            p, (struct pt_profile_frame){ function_of(p, name, PT_PROFILE_NONE, PT_KIND_JIT),
                                          PT_PROFILE_NONE, 0, 0, address });
    default: {
        uint32_t module =
            module_of(p, letter == 't' ? PT_STR("/usr/lib/" TORCH) : PT_STR("/usr/bin/python3.11"));
        return pt_profile_frame(
            p, (struct pt_profile_frame){ function_of(p, name, module, PT_KIND_NATIVE), module, 0,
                                          0, address });
    }
    }
}

static uint32_t stack_of(struct pt_profile *p, const char *frames, uint64_t *random) {
    uint32_t stack = PT_PROFILE_NONE;
    while (*frames) {
        size_t len = strcspn(frames, ";");
        struct pt_str name = { frames + 2, len - 2 };
        stack = pt_profile_stack(p, stack, frame_of(p, frames[0], name, next_random(random) % 3));
        frames += len + (frames[len] == ';');
    }
    return stack;
}

static const struct scene *pick(uint64_t *random, bool is_other) {
    int all = 0;
    for (size_t i = 0; i < PT_COUNT(scenes); i++)
        all += is_other ? scenes[i].other_weight : scenes[i].weight;
    int left = (int)(next_random(random) % (uint64_t)all);
    size_t i = 0;
    while ((left -= is_other ? scenes[i].other_weight : scenes[i].weight) >= 0)
        i++;
    return &scenes[i];
}

static void make(struct pt_profile *p, size_t samples, bool is_other) {
    const struct pt_profile_value_type types[] = { { "cpu", PT_PROFILE_NANOSECONDS },
                                                   { "samples", PT_PROFILE_SAMPLES } };
    uint64_t random = UINT64_C(0x9e3779b97f4a7c15);
    uint32_t numbers[PT_COUNT(threads)];
    pt_profile_init(p, types, PT_COUNT(types));
    for (size_t i = 0; i < PT_COUNT(threads); i++) {
        struct pt_profile_thread t = threads[i];
        t.name = pt_profile_string(p, pt_str_from(thread_names[i]));
        t.process = pt_profile_string(p, PT_STR("python3"));
        numbers[i] = pt_profile_thread(p, t);
    }
    int64_t start_ns = INT64_C(5000000000000), step_ns = PERIOD_NS / 4;
    for (size_t i = 0; i < samples; i++) {
        const struct scene *s = pick(&random, is_other);
        struct pt_profile_sample sample = {
            .time_ns = start_ns + (int64_t)i * step_ns,
            .thread = numbers[s->thread],
            .stack = stack_of(p, s->frames, &random),
            .cpu = (uint16_t)(i % 8),
            .state = (uint16_t)s->state,
        };
        (void)pt_profile_sample(p, &sample, (int64_t[]){ PERIOD_NS, 1 });
    }
    struct pt_profile_meta *m = &p->meta;
    m->title = "cpu";
    snprintf(m->command, sizeof m->command, "python3 train.py --model %s --batch-size 32",
             is_other ? "gpt-long" : "gpt-small");
    snprintf(m->method, sizeof m->method, "perf: cpu-clock, user and kernel, 32 KiB stacks");
    m->start_ns = start_ns;
    m->end_ns = start_ns + (int64_t)samples * step_ns;
    m->start_wall_ns = INT64_C(1790000000000000000);
    m->rate_hz = RATE_HZ;
    m->period_ns = PERIOD_NS;
    m->lost = 12;
    m->unwound = (int64_t)samples;
    m->rooted = (int64_t)samples - (int64_t)samples / 80;
    m->truncated = (int64_t)samples / 250;
    m->python_wanted = (int64_t)samples * 2 / 3;
    m->python_matched = m->python_wanted - m->python_wanted / 40;
}

void profile_data_make(struct pt_profile *p, size_t samples) {
    make(p, samples, false);
}

void profile_data_make_other(struct pt_profile *p, size_t samples) {
    make(p, samples, true);
}
