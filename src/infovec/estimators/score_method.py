"""One name, two meanings: ``score`` is a constructor parameter here and a method in scikit-learn."""

from collections.abc import Callable
from types import MethodType
from typing import Any

__all__ = ["MethodBesideParameter"]


class MethodBesideParameter:
    """A method whose name an estimator also uses for a parameter.

    Reading the attribute gives the method; assigning to it sets the parameter, which stays in the instance's
    dictionary, where ``get_params`` finds it.
    """

    def __init__(self, method: Callable[..., Any]) -> None:
        self.method = method
        self.__doc__ = method.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: object | None, owner: type) -> Callable[..., Any]:
        return self.method if instance is None else MethodType(self.method, instance)

    def __set__(self, instance: object, value: object) -> None:
        vars(instance)[self.name] = value
