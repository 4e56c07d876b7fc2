/* analyze/rules_gpu.c -- GPUs: idle, busy, full, slowed down, or fed too slowly. */
#include "analyze/leak.h"
#include "analyze/verdict.h"

#define S(name) PT_SIGNAL_##name

const struct pt_rule pt_rules_gpu[] = {
    {
        .id = "gpu-starved",
        .title = "The GPU is idle while the host works: the host is too slow for it",
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
            "Make the host's part shorter: data-loader num_workers and pin_memory=True, copies "
            "with non_blocking=True, CUDA graphs or torch.compile against launch cost (no "
            "--enforce-eager), faster tokenising, --async-scheduling in the engine. The idle "
            "part of the GPU is what can be gained.",
        .explains = { "single-thread-bound", "cpu-bound" },
    },
    {
        .id = "gpu-compute-bound",
        .title = "The GPU calculates all the time",
        .forms = { { { { S(GPU_UTIL), '>', 0.85, 0.97 },
                       { S(GPU_TENSOR), '>', 0.4, 0.7 },
                       { S(GPU_DRAM), '<', 0.6 } } },
                   { { { S(GPU_UTIL), '>', 0.85, 0.97 },
                       { S(GPU_SM), '>', 0.75, 0.95 },
                       { S(GPU_POWER_SHARE), '>', 0.7, 0.9 },
                       { S(GPU_DRAM), '<', 0.6 } } },
                   /* without GPM: power tells work from waiting */
                   { { { S(GPU_UTIL), '>', 0.9, 0.99 },
                       { S(GPU_POWER_SHARE), '>', 0.75, 0.9 },
                       { S(GPU_MEM_UTIL), '<', 0.5, 0.3 } } } },
        .against = { { S(GPU_DRAM), '>', 0.6 }, { S(GPU_THROTTLED), '>', 0.1 } },
        .advice =
            "Less arithmetic or more GPUs: FP8 or INT8 (--quantization), a smaller or distilled "
            "model, speculative decoding, --tensor-parallel-size. Half the bits are at most "
            "twice the speed; higher batches only add latency now.",
    },
    {
        .id = "gpu-bandwidth-bound",
        .title = "The GPU waits for its own memory",
        .forms = { { { { S(GPU_DRAM), '>', 0.6, 0.8 },
                       { S(GPU_UTIL), '>', 0.7, 0.95 },
                       { S(GPU_TENSOR), '<', 0.5, 0.3 } } },
                   { { { S(GPU_MEM_UTIL), '>', 0.6, 0.85 }, { S(GPU_UTIL), '>', 0.7, 0.95 } } } },
        .against = { { S(GPU_TENSOR), '>', 0.6 }, { S(GPU_THROTTLED), '>', 0.1 } },
        .advice =
            "Move fewer bytes for each token: larger batches (--max-num-seqs), quantised weights "
            "(AWQ, GPTQ, FP8) and KV cache, fused attention. Half the bytes of the weights are "
            "nearly twice the tokens at small batches.",
    },
    {
        .id = "gpu-memory-full",
        .title = "GPU memory is full",
        .forms = { { { { S(GPU_MEMORY_SHARE), '>', 0.95, 0.99 },
                       { S(ENGINE_PREEMPTIONS), '>', 0, 0.5 } } },
                   { { { S(GPU_MEMORY_SHARE), '>', 0.95, 0.99 },
                       { S(ENGINE_KV), '>', 0.95, 0.99 } } },
                   { { { S(GPU_MEMORY_SHARE), '>', 0.97, 0.99 },
                       { S(GPU_PROCESS_SHARE), '>', 0.9, 0.97 } } } },
        /* engines take nearly all memory when they start, and fill it later */
        .against = { { S(ENGINE_KV), '<', 0.7 }, { S(ENGINE_WAITING), '<', 0.5 } },
        .advice =
            "Smaller batches or context (--max-num-seqs, --max-model-len), quantised weights and "
            "KV cache (--kv-cache-dtype fp8), activation checkpointing when training, "
            "offloading, or a GPU with more memory. Room removes preemptions and allocator "
            "retries.",
        .explains = { "queue-bound" },
    },
    {
        .id = "gpu-throttled",
        .title = "Power or heat lowers the clocks of the GPU",
        .forms = { { { { S(GPU_THROTTLED), '>', 0.1, 0.5 },
                       { S(GPU_CLOCK_SHARE), '<', 0.95, 0.8 } } },
                   { { { S(GPU_THROTTLED), '>', 0.1, 0.5 },
                       { S(GPU_POWER_SHARE), '>', 0.95, 1 } } },
                   { { { S(GPU_THROTTLED), '>', 0.1, 0.5 },
                       { S(GPU_TEMPERATURE), '>', 80, 88 } } } },
        .against = { { S(GPU_UTIL), '<', 0.3 } },
        .advice =
            "Better cooling, a higher power limit (nvidia-smi -pl) where the supply allows, or "
            "steady clocks (nvidia-smi -lgc). The lowered clock is about the speed that is lost.",
    },
    {
        .id = "pcie-bound",
        .title = "The link between host and GPU is full",
        .forms = { { { { S(GPU_PCIE_SHARE), '>', 0.6, 0.85 }, { S(GPU_UTIL), '<', 0.8, 0.5 } } } },
        .against = { { S(GPU_DRAM), '>', 0.6 }, { S(OWN_IO_PRESSURE), '>', 0.3 } },
        .advice =
            "Copy less or earlier: keep weights and KV cache on the GPU (less of "
            "--cpu-offload-gb), pin_memory=True, overlap of copies with work, NVLink for tensor "
            "parallelism; check that the link has all its lanes (gPcieWidth, gPcieGeneration). "
            "The time in which the GPU waits for copies comes back; half the lanes are twice "
            "that time.",
        .explains = { "gpu-starved" },
    },
    {
        .id = "gpu-memory-leak",
        .title = "GPU memory grows steadily and does not come back",
        .evaluate = pt_find_gpu_leak,
        .looks_at = S(GPU_MEMORY),
        .forms = PT_LEAK_FORMS,
        .never = PT_LEAK_NEVER,
        .against = { { S(OWN_IO_PRESSURE), '>', 0.1 }, { S(ENGINE_WAITING), '>', 1 } },
        .advice =
            "Look for tensors that are kept (losses with their graph, caches without a limit, "
            "captured CUDA graphs); torch.cuda.memory_snapshot() shows who allocated them. "
            "Restart before it is full. With it gone, memory stays level.",
        .note = "The trend is that of gpu.memory, without the first quarter of the run. The count "
                "made elsewhere is gpu.process_memory.",
    },
    { 0 },
};
