#!/usr/bin/env python3
"""Trains a small network with torch and measures each step.

    examples/train_torch.py --monitor --steps 100     times, throughput and memory in the log
    examples/train_torch.py --monitor --profile       and a trace of every 50th step in traces/
    examples/train_torch.py --monitor --debug         and the GPU

Without --monitor nothing is measured. If measuring takes more than 5 % of the CPU time, its most
expensive parts are turned off, with a line in the log (auto_disable_on_slow)."""
import argparse
import logging
import time
from dataclasses import dataclass
from typing import Optional

import torch
from torch import nn

from pitot.metrics import GPUMonitor, MetricsCollector, MetricsConfig, ProfilerManager


@dataclass
class EnergyConfig:
    width: int = 64
    batch: int = 32
    debug_mode: bool = False
    enable_performance_monitoring: bool = False     # master switch
    metrics_config: Optional[MetricsConfig] = None  # or individual settings

    def __post_init__(self):
        if self.metrics_config is None:
            self.metrics_config = MetricsConfig()
            self.metrics_config.enable_metrics = self.enable_performance_monitoring
            if self.debug_mode:
                self.metrics_config.enable_gpu_monitoring = True
                self.metrics_config.collect_component_profiling = True


class EnergyTrainer:
    def __init__(self, config):
        self.config = config
        self.metrics_config = config.metrics_config
        self.metrics = MetricsCollector(self.metrics_config)
        self.profiler = ProfilerManager(self.metrics_config)
        self.gpu_monitor = GPUMonitor(self.metrics_config)
        self.global_step = 0
        self.flow_processor = nn.Sequential(nn.Linear(config.width, 4 * config.width), nn.ReLU(),
                                            nn.Linear(4 * config.width, config.width))
        self.optimizer = torch.optim.SGD(self.flow_processor.parameters(), lr=0.05)

    def train_step(self, teacher_input_embeddings, teacher_target_embeddings):
        start = time.perf_counter()
        with self.profiler.profile_step("train_step"):
            with self.metrics.time_component("total_step"):
                with self.metrics.time_component("flow_processor"):
                    cube_output_surface = self.flow_processor(teacher_input_embeddings)
                with self.metrics.time_component("loss_computation"):
                    loss = nn.functional.mse_loss(cube_output_surface, teacher_target_embeddings)
                    self.optimizer.zero_grad()
                    loss.backward()
                    self.optimizer.step()
        self.metrics.record_throughput(samples=len(teacher_input_embeddings),
                                       seconds=time.perf_counter() - start)
        self.metrics.record_memory()
        self.global_step += 1
        interval = self.metrics_config.metrics_log_interval
        if self.metrics.enabled and self.global_step % interval == 0:
            self._log_performance_metrics()
        return loss.item()

    def _log_performance_metrics(self):
        self.metrics.log_performance_metrics(self.global_step, self.gpu_monitor)


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument('--steps', type=int, default=100)
    parser.add_argument('--batch', type=int, default=32)
    parser.add_argument('--monitor', action='store_true')
    parser.add_argument('--profile', action='store_true')
    parser.add_argument('--debug', action='store_true')
    parser.add_argument('--trace-dir', default='traces')
    return parser.parse_args()


def config_of(arguments):
    config = EnergyConfig(batch=arguments.batch, debug_mode=arguments.debug,
                          enable_performance_monitoring=arguments.monitor)
    config.metrics_config.enable_profiler = arguments.profile
    config.metrics_config.profiler_export_interval = 50
    config.metrics_config.profiler_trace_dir = arguments.trace_dir
    return config


def main():
    arguments = parse()
    logging.basicConfig(level=1, format='%(levelname)s %(message)s')
    torch.manual_seed(1)
    config = config_of(arguments)
    trainer = EnergyTrainer(config)
    inputs = torch.randn(config.batch, config.width)
    targets = inputs.roll(1, dims=1)
    losses = [trainer.train_step(inputs, targets) for _ in range(arguments.steps)]
    print(f'loss {losses[0]:.4f} to {losses[-1]:.4f} in {arguments.steps} steps')


main()
