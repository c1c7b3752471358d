"""The engine: runs thousands of conversations together and answers their questions in full batches."""
