"""Engines that remember finished steps, behind the `Durable` port."""
