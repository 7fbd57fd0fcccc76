"""What a task asks for, before anything is written: requirements, contract, pieces, dialogues."""
