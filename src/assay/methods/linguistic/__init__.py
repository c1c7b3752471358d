"""What a model knows of language: by what it does, and by what its states hold."""
