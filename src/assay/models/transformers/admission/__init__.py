"""What is found out about a model when it is first used, instead of assumed: admit.py asks, findings.py tells."""
