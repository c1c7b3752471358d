"""What the checks come to: verdicts, the judge, the trust card, agreement between methods."""
