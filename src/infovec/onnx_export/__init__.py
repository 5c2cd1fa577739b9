"""Fitted models as ONNX graphs, for places without Python. Needs the extra ``onnx``."""

from .export import to_onnx

__all__ = ["to_onnx"]
