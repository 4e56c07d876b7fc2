/* analyze/rules_gpu.c -- GPU limits: starved, compute, bandwidth, memory, throttled, PCIe. */
#include "analyze/leak.h"
#include "analyze/verdict.h"

#define S(name) PT_FIGURE_##name

const struct pt_rule pt_rules_gpu[] = {
    {
        .id = "gpu-starved",
        .title = "GPU starved: the GPU is idle because the host is too slow",
        .forms = { { { { S(GPU_UTIL), '<', 0.5, 0.2 },
                       { S(OWN_CPU), '>', 0.85, 1 },
                       { S(GPU_MEMORY_SHARE), '>', 0.02 } } },
                   { { { S(GPU_UTIL), '<', 0.5, 0.2 }, { S(ENGINE_RUNNING), '>', 1, 4 } } },
                   { { { S(GPU_UTIL), '<', 0.5, 0.2 },
                       { S(OWN_IO_PRESSURE), '>', 0.25, 0.6 },
                       { S(GPU_MEMORY_SHARE), '>', 0.02 } } } },
        .against = { { S(GPU_SM), '>', 0.7 },
                     { S(GPU_PCIE_SHARE), '>', 0.7 },
                     { S(GPU_THROTTLED), '>', 0.1 } },
        .advice =
            "Shorten the host's part: data-loader num_workers and pin_memory=True, copies with "
            "non_blocking=True, CUDA graphs or torch.compile against launch cost (no "
            "--enforce-eager), faster tokenisation, --async-scheduling in the engine. The gain is "
            "at most the GPU's idle time.",
        .explains = { "single-thread-bound", "cpu-bound" },
    },
    {
        .id = "gpu-compute-bound",
        .title = "GPU compute-bound: the GPU computes all the time",
        .forms = { { { { S(GPU_UTIL), '>', 0.85, 0.97 },
                       { S(GPU_TENSOR), '>', 0.4, 0.7 },
                       { S(GPU_DRAM), '<', 0.6 } } },
                   { { { S(GPU_UTIL), '>', 0.85, 0.97 },
                       { S(GPU_SM), '>', 0.75, 0.95 },
                       { S(GPU_POWER_SHARE), '>', 0.7, 0.9 },
                       { S(GPU_DRAM), '<', 0.6 } } },
                   /* without GPM metrics, power distinguishes work from waiting */
                   { { { S(GPU_UTIL), '>', 0.9, 0.99 },
                       { S(GPU_POWER_SHARE), '>', 0.75, 0.9 },
                       { S(GPU_MEM_UTIL), '<', 0.5, 0.3 } } } },
        .against = { { S(GPU_DRAM), '>', 0.6 }, { S(GPU_THROTTLED), '>', 0.1 } },
        .advice =
            "Do less arithmetic or use more GPUs: FP8 or INT8 (--quantization), a smaller or "
            "distilled model, speculative decoding, --tensor-parallel-size. Half the bits give at "
            "most twice the speed; larger batches only add latency now.",
    },
    {
        .id = "gpu-bandwidth-bound",
        .title = "GPU bandwidth-bound: the GPU waits for its own memory",
        .forms = { { { { S(GPU_DRAM), '>', 0.6, 0.8 },
                       { S(GPU_UTIL), '>', 0.7, 0.95 },
                       { S(GPU_TENSOR), '<', 0.5, 0.3 } } },
                   { { { S(GPU_MEM_UTIL), '>', 0.6, 0.85 }, { S(GPU_UTIL), '>', 0.7, 0.95 } } } },
        .against = { { S(GPU_TENSOR), '>', 0.6 }, { S(GPU_THROTTLED), '>', 0.1 } },
        .advice =
            "Move fewer bytes per token: larger batches (--max-num-seqs), quantised weights (AWQ, "
            "GPTQ, FP8) and KV cache, fused attention. At small batches, weights of half the size "
            "give nearly twice the tokens per second.",
    },
    {
        .id = "gpu-memory-full",
        .title = "GPU memory full: almost no GPU memory is free",
        .forms = { { { { S(GPU_MEMORY_SHARE), '>', 0.95, 0.99 },
                       { S(ENGINE_PREEMPTIONS), '>', 0, 0.5 } } },
                   { { { S(GPU_MEMORY_SHARE), '>', 0.95, 0.99 },
                       { S(ENGINE_KV), '>', 0.95, 0.99 } } },
                   { { { S(GPU_MEMORY_SHARE), '>', 0.97, 0.99 },
                       { S(GPU_PROCESS_SHARE), '>', 0.9, 0.97 } } } },
        /* engines reserve nearly all memory when they start, and fill it later */
        .against = { { S(ENGINE_KV), '<', 0.7 }, { S(ENGINE_WAITING), '<', 0.5 } },
        .advice =
            "Use smaller batches or contexts (--max-num-seqs, --max-model-len), quantised weights "
            "and KV cache (--kv-cache-dtype fp8), activation checkpointing when training, "
            "offloading, or a GPU with more memory. Free memory removes preemptions and allocator "
            "retries.",
        .explains = { "queue-bound" },
    },
    {
        .id = "gpu-throttled",
        .title = "GPU throttled: power or heat lowers its clocks",
        .forms = { { { { S(GPU_THROTTLED), '>', 0.1, 0.5 },
                       { S(GPU_CLOCK_SHARE), '<', 0.95, 0.8 } } },
                   { { { S(GPU_THROTTLED), '>', 0.1, 0.5 },
                       { S(GPU_POWER_SHARE), '>', 0.95, 1 } } },
                   { { { S(GPU_THROTTLED), '>', 0.1, 0.5 },
                       { S(GPU_TEMPERATURE), '>', 80, 88 } } } },
        .against = { { S(GPU_UTIL), '<', 0.3 } },
        .advice =
            "Improve cooling, raise the power limit (nvidia-smi -pl) where the power supply "
            "allows, or lock the clocks (nvidia-smi -lgc). The speed lost is about the reduction "
            "of the clock.",
    },
    {
        .id = "pcie-bound",
        .title = "PCIe-bound: the link between host and GPU is full",
        .forms = { { { { S(GPU_PCIE_SHARE), '>', 0.6, 0.85 }, { S(GPU_UTIL), '<', 0.8, 0.5 } } } },
        .against = { { S(GPU_DRAM), '>', 0.6 }, { S(OWN_IO_PRESSURE), '>', 0.3 } },
        .advice =
            "Copy less or earlier: keep weights and KV cache on the GPU (less --cpu-offload-gb), "
            "use pin_memory=True, overlap copies with work, use NVLink for tensor parallelism; "
            "check that the link has all its lanes (PCIe width and generation of the GPU). The "
            "gain "
            "is the time in which the GPU waits for copies; half the lanes double that time.",
        .explains = { "gpu-starved" },
    },
    {
        .id = "gpu-memory-leak",
        .title = "GPU memory leak suspected: GPU memory grows steadily",
        .evaluate = pt_find_gpu_leak,
        .looks_at = S(GPU_MEMORY),
        .forms = PT_LEAK_FORMS,
        .never = PT_LEAK_NEVER,
        .against = { { S(OWN_IO_PRESSURE), '>', 0.1 }, { S(ENGINE_WAITING), '>', 1 } },
        .advice =
            "Look for tensors that stay referenced (losses with their graph, caches without a "
            "limit, captured CUDA graphs); torch.cuda.memory_snapshot() shows who allocated them. "
            "Restart before memory is full. Without the leak, memory stays level.",
        .note = "The trend is that of gpu.memory, without the first quarter of the run. The second "
                "count is gpu.process_memory.",
    },
    { 0 },
};
