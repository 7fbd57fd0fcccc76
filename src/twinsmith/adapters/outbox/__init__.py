"""Where finished programs are put, behind the `Outbox` port."""
