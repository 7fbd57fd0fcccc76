"""What takes the requests to all apps, behind the `Proxy` port."""
