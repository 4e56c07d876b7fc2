#include "analyze/health.h"

void pt_health_of_requests(pt_health *health, const struct pt_latency_counts *recent) {
    health->latency_p50 = pt_bucket_quantile(recent->buckets, pt_all_buckets, 0.5);
    health->latency_p95 = pt_bucket_quantile(recent->buckets, pt_all_buckets, 0.95);
    health->error_rate = recent->requests ? (double)recent->errors / (double)recent->requests : 0;
}

void pt_health_put(const pt_health *health, struct pt_json *j) {
    pt_json_text(j, "status", health->is_healthy ? "healthy" : "unhealthy");
    pt_json_f64(j, "latency_p50", health->latency_p50);
    pt_json_f64(j, "latency_p95", health->latency_p95);
    pt_json_f64(j, "memory_usage_mb", health->memory_usage_mb);
    pt_json_f64(j, "gpu_utilization", health->gpu_utilization);
    pt_json_f64(j, "error_rate", health->error_rate);
    if (!isnan(health->probe_seconds))
        pt_json_f64(j, "probe_seconds", health->probe_seconds);
}
