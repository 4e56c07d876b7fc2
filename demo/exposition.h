/* demo/exposition.h -- the engine's counters as Prometheus text, under vLLM's names.
 *
 *     # HELP vllm:num_requests_running Number of requests in model execution batches.
 *     # TYPE vllm:num_requests_running gauge
 *     vllm:num_requests_running{engine="0",model_name="pitot-demo"} 12 */
#ifndef PT_DEMO_EXPOSITION_H
#define PT_DEMO_EXPOSITION_H

#include "base/out.h"
#include "demo/engine.h"

#define PT_DEMO_MODEL_NAME "pitot-demo"

/* The name of OpenAI and vLLM: "stop", "length", "abort". */
const char *pt_finish_name(enum pt_finish finish);

void pt_exposition_write(struct pt_out *out, const struct pt_engine_stats *stats,
                         size_t block_count);

#endif
