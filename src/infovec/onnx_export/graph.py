"""Writing down an ONNX graph, one operation after the other."""

from typing import Any

import numpy as np

from ..errors import ParameterError

__all__ = ["Graph"]

OPSET, IR_VERSION = 17, 8
LARGEST = 2**31 - 2**24  # bytes of constants that fit into one file


class Graph:
    """Operations and constants, in the order in which they are asked for.

    Values are names. Numbers are in double precision unless cast.
    """

    def __init__(self) -> None:
        from onnx import TensorProto, helper, numpy_helper

        self.helper, self.numpy_helper, self.types = helper, numpy_helper, TensorProto
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.size = 0

    def do(self, operation: str, *inputs: str, name: str | None = None, **attributes: Any) -> str:
        """Add an operation and return the name of its result."""
        result = name or f"{operation.lower()}_{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(operation, list(inputs), [result], **attributes))
        return result

    def constant(self, value: Any) -> str:
        """Add a constant; floats become doubles, other types stay."""
        array = np.asarray(value)
        array = array.astype(np.float64) if array.dtype.kind == "f" else array
        self.size += array.nbytes
        if self.size > LARGEST:
            raise ParameterError("the model cannot be exported to ONNX, whose files hold 2 GB at most; lower n_active")
        name = f"constant_{len(self.constants)}"
        if array.dtype.kind in "UO":
            text: Any = [str(v).encode() for v in array.ravel()]
            tensor = self.helper.make_tensor(name, self.types.STRING, array.shape, text)
        else:
            tensor = self.numpy_helper.from_array(np.ascontiguousarray(array), name)
        self.constants.append(tensor)
        return name

    def add(self, a: str, b: str) -> str:
        """Sum."""
        return self.do("Add", a, b)

    def times(self, a: str, factor: Any) -> str:
        """Product with a constant."""
        return self.do("Mul", a, self.constant(np.asarray(factor, dtype=np.float64)))

    def plus(self, a: str, summand: Any) -> str:
        """Sum with a constant."""
        return self.do("Add", a, self.constant(np.asarray(summand, dtype=np.float64)))

    def row_sums(self, a: str, keep: bool = False) -> str:
        """Sum over the last axis."""
        return self.do("ReduceSum", a, self.constant(np.array([-1])), keepdims=int(keep))

    def cast(self, a: str, kind: int) -> str:
        """Another type of number."""
        return self.do("Cast", a, to=kind)

    def model(self, input_type: int, n_features: int, outputs: dict[str, tuple[int, list[Any]]]) -> Any:
        """Return the model with one input X and named outputs of given type and shape."""
        value = self.helper.make_tensor_value_info
        graph = self.helper.make_graph(
            self.nodes, "infovec", [value("X", input_type, ["n", n_features])],
            [value(name, kind, shape) for name, (kind, shape) in outputs.items()], self.constants,
        )  # fmt: skip
        opset = self.helper.make_opsetid("", OPSET)
        return self.helper.make_model(graph, opset_imports=[opset], ir_version=IR_VERSION, producer_name="infovec")
