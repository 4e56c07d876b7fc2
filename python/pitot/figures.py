"""Classes of named figures, which become dataclasses when the first object is created.

`dataclasses` takes longer to import than all of pitot, and most programs do not need them."""


class Figures:
    """Fields are the annotations of the class; unknown values are None."""

    def __new__(cls, *args, **values):
        if '__dataclass_fields__' not in cls.__dict__:
            from dataclasses import dataclass
            dataclass(cls)
        return super().__new__(cls)

    def to_dict(self) -> dict:
        """All fields by name, sections as nested dicts: ready for json.dumps()."""
        return {name: value.to_dict() if isinstance(value, Figures) else value
                for name, value in vars(self).items()}
