"""The stages that turn a task into a judged program, and the searches that call them.

Where the nodes of the architecture's drawing live: the slow thinker in `plan` and `clarify`, the
coder in `generate`, `pieces` and `refine`, the critic in `critics`, `examine` and `dialogues`, the
execution environment behind `execute`, insights between ensembles in `exchange` and between runs
in `share`. `twins` searches with both ensembles for one program, `service` for one service.
"""
