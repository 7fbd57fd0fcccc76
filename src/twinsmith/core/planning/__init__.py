"""Plans, made before anything is written: requirements, contract, pieces, dialogues."""
