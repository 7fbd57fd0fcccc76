"""What describes a program to the tools of others."""
