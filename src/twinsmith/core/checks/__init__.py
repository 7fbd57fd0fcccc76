"""What a program is tried with: inputs, examples, checks, and the tests that are handed over."""
