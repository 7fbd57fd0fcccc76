"""From a service that runs to one that is watched and healed."""
