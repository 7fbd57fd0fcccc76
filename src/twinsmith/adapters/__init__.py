"""The outside world behind the ports; each kind ships a fake that passes the same contract."""
