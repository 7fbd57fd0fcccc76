"""Who people are: accounts, keys and sessions, and how a secret is compared with its hash."""
