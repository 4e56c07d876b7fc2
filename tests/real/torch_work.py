"""Trains a small network, or runs one, with torch:   torch_work.py train|infer STEPS"""
import sys

import torch
from torch import nn

what, steps = sys.argv[1], int(sys.argv[2])
torch.manual_seed(1)
torch.set_num_threads(1)
network = nn.Sequential(nn.Linear(256, 512), nn.ReLU(), nn.Linear(512, 8))
batch = torch.randn(64, 256)
if what == 'train':
    target = batch[:, :8] * 2
    optimizer = torch.optim.SGD(network.parameters(), lr=0.05)
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(network(batch), target)
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    print(f'loss {losses[0]:.4f} to {losses[-1]:.4f} in {steps} steps')
else:
    with torch.no_grad():
        total = sum(network(batch).sum().item() for _ in range(steps))
    print(f'sum {total:.6g} of {steps} batches')
