"""Support for torch: FLOPs of a block, time and memory of layers.

    with pitot.torch.watch(model) as layers:
        model(batch)
    print(layers)

torch itself is imported only when needed."""
from __future__ import annotations

import sys
import time

from pitot import _native


def cuda():
    """torch.cuda if the program has imported torch and there is a GPU; otherwise None."""
    torch = sys.modules.get('torch')
    return torch.cuda if torch is not None and torch.cuda.is_available() else None


class FlopCounter:
    """Floating-point operations of a block by torch's own counter; a multiply-add is 2.

    Matrix products and convolutions count; bias and activations do not. From torch 2.1 on by
    FlopCounterMode, before by its profiler, which is slower."""

    def start(self):
        try:
            from torch.utils.flop_counter import FlopCounterMode
            self._counter, self._total = FlopCounterMode(display=False), self._of_mode
        except ImportError:
            from torch.autograd.profiler import profile
            self._counter, self._total = profile(with_flops=True), self._of_profile
        self._counter.__enter__()
        return self

    def stop(self):
        self._counter.__exit__(None, None, None)
        return self._total()

    def _of_mode(self):
        return self._counter.get_total_flops()

    def _of_profile(self):
        return sum(event.flops or 0 for event in self._counter.function_events)


class Component:
    """A block of a collector that is also a block of torch's profiler."""

    def __init__(self, name, block):
        from torch.profiler import record_function
        self._blocks = (record_function(name), block)

    def __enter__(self):
        for block in self._blocks:
            block.__enter__()

    def __exit__(self, kind, error, trace):
        for block in reversed(self._blocks):
            block.__exit__(kind, error, trace)


class Layer:
    """Usage of one module, including all modules inside it."""

    def __init__(self, name, kind):
        self.name, self.kind = name, kind
        self.calls, self.seconds, self.self_seconds = 0, 0.0, 0.0
        self.memory_mb = None # largest growth on the GPU during a call; None without CUDA

    def to_dict(self):
        return dict(vars(self))


class Layers:
    """Hooks on all modules of a model, until close() or the end of a `with`.

    On a GPU each layer waits for its completion, so that times are attributed correctly: the model
    is slower."""

    def __init__(self, model):
        self._layers, self._open, self._hooks = {}, [], []
        for name, module in model.named_modules():
            layer = Layer(name or type(model).__name__, type(module).__name__)
            self._layers[module] = layer
            self._hooks += [module.register_forward_pre_hook(self._enter),
                            module.register_forward_hook(self._leave)]

    def _enter(self, module, inputs):
        layer = self._layers[module]
        span = _native.span(layer.name)
        span.__enter__()
        self._open.append([layer, span, _used(), time.perf_counter(), 0.0])

    def _leave(self, module, inputs, output):
        # A layer that raised has no end event: it ends with the enclosing layer.
        layer = self._layers[module]
        while self._open:
            opened, span, used, started, inside = self._open.pop()
            span.__exit__(None, None, None)
            if opened is layer:
                self._add(layer, used, started, inside)
                return

    def _add(self, layer, used, started, inside):
        now_used = _used()
        seconds = time.perf_counter() - started
        layer.calls += 1
        layer.seconds += seconds
        layer.self_seconds += max(seconds - inside, 0.0)
        if used is not None:
            layer.memory_mb = max((now_used - used) / 2**20, layer.memory_mb or 0.0)
        if self._open:
            self._open[-1][4] += seconds

    def close(self) -> None:
        for hook in self._hooks:
            hook.remove()
        self._hooks.clear()
        while self._open:
            self._open.pop()[1].__exit__(None, None, None)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        self.close()

    def rows(self) -> list[Layer]:
        """The layers in model order."""
        return list(self._layers.values())

    def __iter__(self):
        return iter(self.rows())

    def __str__(self):
        lines = [f'{"calls":>7} {"seconds":>11} {"self":>11} {"GPU MB":>8}  layer']
        for layer in self.rows():
            memory = '' if layer.memory_mb is None else f'{layer.memory_mb:.1f}'
            lines.append(f'{layer.calls:>7} {layer.seconds:>11.6f} {layer.self_seconds:>11.6f} '
                         f'{memory:>8}  {layer.name} ({layer.kind})')
        return '\n'.join(lines)


def _used():
    """Bytes allocated by torch on the GPU after all work is done; None without a GPU."""
    device = cuda()
    if not device:
        return None
    device.synchronize()
    return device.memory_allocated()


def watch(model) -> Layers:
    """Time, calls and GPU memory of each layer of a torch.nn.Module; layers are also spans."""
    return Layers(model)
