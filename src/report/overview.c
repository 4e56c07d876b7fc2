#include "report/overview.h"

#include "base/attr.h"

#define RATE(metric) "rate(" metric "[1m])"

const struct pt_overview pt_overviews[] = {
    { "instance:pitot_engine_tokens:rate1m", "Tokens generated", "cps",
      RATE("pitot_engine_tokens_generation_total") },
    { "instance:pitot_engine_ttft:mean1m", "Time to first token, mean", "s",
      RATE("pitot_engine_latency_ttft_sum_seconds_total") " / " RATE(
          "pitot_engine_latency_ttft_count_total") },
    { "instance:pitot_engine_inter_token:mean1m", "Time between tokens, mean", "s",
      RATE("pitot_engine_latency_inter_token_sum_seconds_total") " / " RATE(
          "pitot_engine_latency_inter_token_count_total") },
    { "instance:pitot_engine_queue:requests", "Requests waiting", "short",
      "pitot_engine_system_requests_waiting" },
    { "instance:pitot_engine_kv_cache:ratio", "KV cache in use", "percentunit",
      "pitot_engine_cache_kv_usage_ratio" },
    { "instance:pitot_gpu_busy:ratio", "GPUs busy", "percentunit",
      "avg without (index) (pitot_gpu_utilization_ratio)" },
    { "instance:pitot_gpu_memory:ratio", "GPU memory in use", "percentunit",
      "sum without (index) (pitot_gpu_memory_used_bytes) / "
      "sum without (index) (pitot_gpu_memory_total_bytes)" },
    { "instance:pitot_gpu_power:watts", "GPU power", "watt",
      "sum without (index) (pitot_gpu_power_watts)" },
    { "instance:pitot_cpu_busy:ratio", "CPUs busy", "percentunit",
      "1 - " RATE("pitot_cpu_idle_seconds_total") " / count without (number) "
                                                  "(pitot_core_idle_seconds_total)" },
    { "instance:pitot_memory_used:ratio", "Memory in use", "percentunit",
      "pitot_mem_used_bytes / pitot_mem_total_bytes" },
    { "instance:pitot_pressure:ratio", "Pressure, worst resource", "percentunit",
      "max without (resource) (" RATE("pitot_pressure_some_seconds_total") ")" },
    { "instance:pitot_disk_bytes:rate1m", "Disks, read and written", "Bps",
      RATE("pitot_disk_read_bytes_total") " + " RATE("pitot_disk_write_bytes_total") },
    { "instance:pitot_net_bytes:rate1m", "Network, received and sent", "Bps",
      RATE("pitot_net_rx_bytes_total") " + " RATE("pitot_net_tx_bytes_total") },
};
const size_t pt_overview_count = PT_COUNT(pt_overviews);
