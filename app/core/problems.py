"""What is wrong in a configuration file, and where."""

from app.core.fact import Fact


class Problem(Fact):
    """One fault. `line` and `column` count from 1; `key` is the place, such as `rules.burst.prs`."""

    line: int
    column: int
    key: str
    message: str

    def __str__(self) -> str:
        """`line 3, column 5: rules.burst.prs: must be …`."""
        where = f"line {self.line}, column {self.column}: "
        return f"{where}{self.key}: {self.message}" if self.key else where + self.message
