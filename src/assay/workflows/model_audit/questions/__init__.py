"""The questions of an audit, a file each: a function from the context to its part, or an error that says why not."""
