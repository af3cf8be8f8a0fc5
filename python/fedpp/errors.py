"""The one exception of the module's own."""


class UserError(ValueError):
    """What was asked of a run cannot be had, or a file not be read or written; the text names the file, what is wrong and the remedy."""
