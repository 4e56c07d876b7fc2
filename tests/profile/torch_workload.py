"""What torch does on a CPU: training, kernels that oneDNN makes at run time, code that realigns its
stack."""
import time

import torch

images = torch.randn(2, 16, 56, 56)
layers = torch.nn.Sequential(torch.nn.Conv2d(16, 32, 3, padding=1), torch.nn.ReLU(),
                             torch.nn.MaxPool2d(2))
model = torch.nn.Linear(256, 256)
rows = torch.randn(128, 256)


def infer():
    with torch.no_grad():
        layers(images)


def train():
    model.zero_grad()
    model(rows).sum().backward()


end = time.process_time() + 4
while time.process_time() < end:
    infer()
    train()
