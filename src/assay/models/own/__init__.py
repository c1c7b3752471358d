"""Small models that Assay trains itself."""
