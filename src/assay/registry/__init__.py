"""Cards of methods and checks, the survey's table, and parameters from strings."""
