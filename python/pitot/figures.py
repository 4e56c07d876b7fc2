"""Classes of named figures, which are dataclasses as soon as there is an object of one.

`dataclasses` takes longer to import than all of pitot, and most programs need no such class."""


class Figures:
    """Fields are the annotations of the class; what is not known is None."""

    def __new__(cls, *args, **values):
        if '__dataclass_fields__' not in cls.__dict__:
            from dataclasses import dataclass
            dataclass(cls)
        return super().__new__(cls)

    def to_dict(self) -> dict:
        """All fields by name, sections as dicts of their own: ready for json.dumps()."""
        return {name: value.to_dict() if isinstance(value, Figures) else value
                for name, value in vars(self).items()}
