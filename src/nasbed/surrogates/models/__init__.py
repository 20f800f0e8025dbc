"""The models that surrogates are made of, one a file."""
