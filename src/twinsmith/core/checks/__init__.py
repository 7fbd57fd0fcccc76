"""Inputs and checks that programs are tried with, and the tests that are handed over with them."""
